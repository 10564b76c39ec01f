"""What the pair stage keeps of a part: computed once per part, used in all its pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
from scipy.spatial import cKDTree

from cmnet.geometry.cells import Cells
from cmnet.geometry.cloud import areas_of_points
from cmnet.geometry.neighbors import farthest_points
from cmnet.geometry.pose import Pose, principal_frame
from cmnet.geometry.types import Array, Floats32, Ints, Ints32
from cmnet.geometry.volume import Box, nearest_in_box, winding_in_box, winding_of_cloud
from cmnet.judgement import GEOMETRY, Judgement
from cmnet.pairing.surface.breaks import Breaks
from cmnet.pairing.surface.creases import Creases, neighbourhoods, spread
from cmnet.pairing.surface.rims import Rims, find_rims
from cmnet.parts.part import Part
from cmnet.parts.points import sample_parts
from cmnet.settings import FIRST, Scale

SQUARES = 10.0  # surface of all parts together, in square units: what is to be seen of a break is this large


@dataclass(frozen=True, eq=False)
class Sampled:
    """One part in a frame of its own, principal axes about the centre, lengths in units: its even samples.

    scale           : how closely it was looked at
    T_part_surface  : the frame; x_part = T_part_surface.apply(unit · x_surface)
    points, normals : (n, 3) float, even samples, `spacing` apart
    broken          : (n,) float, the probability that each sample lies on a break; None: nobody says
    judgement       : the tables by which poses of it are judged; geometry's where nobody says what is broken
    area            : of the surface
    """

    scale: Scale
    T_part_surface: Pose
    unit: float
    points: Array
    normals: Array
    broken: Array | None
    judgement: Judgement
    area: float

    @cached_property
    def spacing(self) -> float:
        return float(np.sqrt(self.area / max(len(self.points), 1)))


@dataclass(frozen=True, eq=False)
class Surface(Sampled):
    """The same with what follows from it.

    next_to              : (n, k) int32, of every sample those nearer than `beside` spacings, itself for the rest
    wall                 : thickness of its thinner walls (infinite: thick everywhere)
    dense, dense_normals : (d, 3) float, the same samples and many more near thin edges, in `dense_cells` as well
    creases              : those likely to be of a break first, else in farthest-point order: spread over the part
    around               : (≤ seeds, ≤ local creases) int, for each of the first creases some of those around it
    probes               : (m, 3) float, a few samples spread over the whole part
    inner                : (m, 3) float, points inside it, evenly spread over its volume
    signed               : (v,) float32, of every voxel of the box the distance to the surface, negative inside
    sample_of            : (v,) int32, of every voxel a nearest of the dense samples (len(dense): none near)
    crease_of            : (v,) int32, of every voxel the nearest crease (len(creases): none near)
    """

    next_to: Ints32
    wall: float
    dense: Array
    dense_normals: Array
    dense_cells: Cells
    creases: Creases
    crease_cells: Cells
    around: Ints
    probes: Array
    inner: Array
    box: Box
    signed: Floats32
    sample_of: Ints32
    crease_of: Ints32

    @cached_property
    def reach(self) -> float:
        """How far the part reaches from its centre, in its own unit."""
        return self.unit * float(np.linalg.norm(self.points, axis=1).max(initial=0.0))


def unit_of(parts: Sequence[Part]) -> float:
    """The length that all parts are measured in at the first scale, from their areas alone."""
    return length_of_area(sum(part.area for part in parts))


def length_of_area(area: float) -> float:
    """The same, from the area of all parts together."""
    return float(np.sqrt(area / SQUARES))


def prepare(
    part: Part,
    length: float,
    scale: Scale = FIRST,
    seed: int = 0,
    breaks: Breaks | None = None,
    judgement: Judgement = GEOMETRY,
) -> Surface:
    """Sample a part and find its creases and its volume. `length` is the unit of the first scale, of all parts.

    breaks, judgement : what a network says, and the tables that were fitted with it
    """
    unit, budget = scale.unit * length, scale.budget
    area = part.area / unit**2
    count = int(np.clip(budget.density * area, budget.fewest, scale.samples))
    samples = sample_parts([part], count, seed, minimum=1)[0]
    frame = principal_frame(samples.xyz)
    local = samples.moved(frame.inverse())
    order = cKDTree(local.xyz).indices  # neighbours beside each other: what is near is then near in memory too
    points, normals = local.xyz[order] / unit, local.normals[order]
    corners = None if part.faces is None else frame.inverse().apply(part.triangles) / unit
    rims = find_rims(corners, points, normals, np.random.default_rng(seed), scale)
    if breaks is not None:
        likely = breaks.near(frame.apply(unit * rims.creases.points), scale.tolerances.broken_edge)
        rims = replace(rims, creases=replace(rims.creases, likely=likely))
    broken = None if breaks is None else breaks.at(frame.apply(unit * points), frame.rotate(normals))
    judged = GEOMETRY if breaks is None else judgement
    sampled = Sampled(scale, frame, unit, points, normals, broken, judged, area)

    def sign(box: Box, nearest: Ints32, distance: Floats32) -> Floats32:
        if corners is not None:
            return np.where(winding_in_box(box, corners) > 0.5, -distance, distance)
        w = winding_of_cloud(box, points, normals, areas_of_points(points, normals))
        return np.where(w > 0.5, -np.minimum(distance, _behind(box, rims, nearest)), distance)

    return surface_of(sampled, rims, sign)


# Of a box, the nearest dense sample and the distance to it of every voxel: the same distances, negative inside
Sign = Callable[[Box, Ints32, Floats32], Floats32]


def surface_of(sampled: Sampled, rims: Rims, sign: Sign) -> Surface:
    """Put a surface together from its samples, its creases and what is inside, all in its frame."""
    scale, points = sampled.scale, sampled.points
    limits, budget = scale.tolerances, scale.budget
    creases = spread(rims.creases, scale.creases)
    box = Box.around(points, limits.known, scale.voxels, limits.finest)
    sample_of, distance = nearest_in_box(box, rims.points, farthest(box, scale))
    signed = sign(box, sample_of, np.minimum(distance, np.float32(farthest(box, scale))))
    return Surface(
        **{field.name: getattr(sampled, field.name) for field in fields(sampled)},
        next_to=_beside(points, rims.around, limits.beside * sampled.spacing),
        wall=rims.wall,
        dense=rims.points,
        dense_normals=rims.normals,
        dense_cells=Cells.of(rims.points, 2 * sampled.spacing),
        creases=creases,
        crease_cells=Cells.of(creases.points, 2 * sampled.spacing),
        around=neighbourhoods(creases.points, scale.seeds, max(budget.local_creases), limits.local),
        probes=points[farthest_points(points, min(budget.probes, len(points)))],
        inner=_inner(box, signed, budget.inner),
        box=box,
        signed=signed,
        sample_of=sample_of,
        crease_of=nearest_in_box(box, creases.points, limits.crease_known)[0],
    )


def farthest(box: Box, scale: Scale) -> float:
    """The longest distance that the voxels know: what lies within reach of the surface is told from what does not."""
    return scale.tolerances.known + box.size


def _beside(points: Array, neighbors: Ints, reach: float) -> Ints32:
    """The neighbours (n, k) with those beyond the reach replaced by the sample itself."""
    far = ((points[neighbors] - points[:, None]) ** 2).sum(axis=2) > reach**2
    return np.where(far, np.arange(len(points))[:, None], neighbors).astype(np.int32)


def _inner(box: Box, signed: Floats32, most: int) -> Array:
    """The centres of every so many of the voxels inside."""
    inside = np.flatnonzero(signed < 0)
    chosen = inside[:: max(1, -(-len(inside) // most))]
    return box.origin + box.size * np.stack(np.unravel_index(chosen, box.shape), axis=1)


def _behind(box: Box, rims: Rims, nearest: Ints32) -> Floats32:
    """How far every voxel lies behind the plane of its nearest sample; infinite without one, 0 before it."""
    depth = np.full(len(nearest), np.inf, dtype=np.float32)
    known = np.flatnonzero(nearest < len(rims.points))
    offset = box.centres()[known] - rims.points[nearest[known]]
    depth[known] = np.maximum(-np.einsum("kc,kc->k", offset, rims.normals[nearest[known]]), 0)
    return depth
