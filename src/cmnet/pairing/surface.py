"""What the pair stage keeps of a part: computed once per part, used in all its pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from cmnet.geometry.volume import Box, Floats32, Ints32, nearest_in_box, winding_in_box
from cmnet.geometry.neighbors import farthest_points
from cmnet.pairing.creases import Creases, neighbourhoods, spread
from cmnet.pairing.rims import find_rims
from cmnet.parts.part import Part
from cmnet.parts.points import Points

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

VOXELS = 150_000
FINEST = 0.004  # smallest voxel, in units
REACH = 0.05  # how far from the surface distances are known, in units
CREASE_REACH = 0.04  # the same for creases
CREASES = 1500  # kept per part
PER_LEVEL = 1000  # of one scale, at most
SEEDS = 250  # creases of a part that suggest poses
LOCAL = 14  # creases near a seed that judge its poses first,
AROUND = 0.15  # within this distance, in units
PROBES = 400  # samples that look for overlap


@dataclass(frozen=True, eq=False)
class Surface:
    """One part, in its own coordinates divided by the unit and centred.

    points, normals : (n, 3) float, even samples
    centre, unit    : x_part = centre + unit · x_surface
    nearest         : (v,) int32, of every voxel the nearest sample (n: none within REACH)
    creases              : in farthest-point order, so that the first ones are spread over the whole part
    around               : (≤ SEEDS, LOCAL) int, of the first creases, some of those around each
    probes               : (≤ PROBES, 3) float, few samples spread over the whole part
    dense, dense_normals : (d, 3) float, the same samples and many more near thin edges; `tree` is over them
    wall            : thickness of the thinnest walls, in units
    signed          : (v,) float32, distance to it, negative inside
    crease_of       : (v,) int32, of every voxel the nearest crease
    """

    part: Part
    points: Array
    normals: Array
    area: float
    centre: Array
    unit: float
    creases: Creases
    dense: Array
    dense_normals: Array
    tree: cKDTree
    wall: float
    crease_tree: cKDTree
    around: Ints
    probes: Array
    spacing: float
    box: Box
    nearest: Ints32
    signed: Floats32
    crease_of: Ints32


def prepare(part: Part, samples: Points, unit: float) -> Surface:
    """The surface of a part from even samples of it; `unit` is the length all parts are measured in."""
    centre = samples.xyz.mean(axis=0)
    points = (samples.xyz - centre) / unit
    rims = find_rims(part, points, samples.normals, centre, unit, np.random.default_rng(0), PER_LEVEL)
    creases = spread(rims.creases, CREASES)
    box = Box.around(points, REACH, VOXELS, FINEST)
    nearest, distance = nearest_in_box(box, points, REACH)
    if part.faces is not None:
        inside = winding_in_box(box, (part.vertices - centre) / unit, part.faces) > 0.5
    else:
        inside = _behind(box, points, samples.normals, nearest)
    signed = np.where(inside, -np.minimum(distance, REACH), np.minimum(distance, REACH)).astype(np.float32)
    crease_of, _ = nearest_in_box(box, creases.points, CREASE_REACH)
    return Surface(
        part,
        points,
        samples.normals,
        samples.area / unit**2,
        centre,
        unit,
        creases,
        rims.points,
        rims.normals,
        cKDTree(rims.points),
        rims.wall,
        cKDTree(creases.points),
        neighbourhoods(creases.points, SEEDS, LOCAL, AROUND),
        points[farthest_points(points, min(PROBES, len(points)))],
        float(np.sqrt(samples.area / len(points)) / unit),
        box,
        nearest,
        signed,
        crease_of,
    )


def _behind(box: Box, points: Array, normals: Array, nearest: Ints32) -> NDArray[np.bool_]:
    """Which voxels lie behind their nearest sample."""
    known = np.flatnonzero(nearest < len(points))
    offset = box.centres()[known] - points[nearest[known]]
    inside = np.zeros(len(nearest), dtype=bool)
    inside[known] = np.einsum("kc,kc->k", offset, normals[nearest[known]]) < 0
    return inside
