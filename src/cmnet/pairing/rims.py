"""All creases of a part, each found at the scale that the wall allows.

A crease is fitted to a neighbourhood that must not reach through the wall to the other side. Where walls are thin, the
surface is sampled again, denser and only near its edges, until the neighbourhood is small enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from cmnet.geometry.sampling import sample_faces
from cmnet.geometry.trees import nearest_few, nearest_one
from cmnet.pairing.creases import NEIGHBORS, Creases, find_creases, join_creases, spread

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

LEVELS = 4  # the reach is halved from one level to the next
FITTED = 2500  # neighbourhoods looked at per level
LARGEST = 60_000  # samples drawn for a level, at most
ADDED = 12_000  # of them kept for refining poses, per level
SIDEWAYS = 0.8  # normals with a smaller |cosine| to a sample's own belong to a third face: an edge is near
FACING = -0.5  # normals with a smaller cosine belong to the other side of the wall


@dataclass(frozen=True, eq=False)
class Rims:
    """The creases of a part, and its surface sampled densely near them.

    points, normals : (d, 3) float, the even samples first, then those of the finer levels
    wall            : thickness of the thinnest walls met, infinite where there is none
    """

    creases: Creases
    points: Array
    normals: Array
    wall: float


def find_rims(corners: Array | None, points: Array, normals: Array, rng: np.random.Generator, kept: int) -> Rims:
    """At most `kept` creases of each level.

    corners : (m, 3, 3) float triangles, None for a cloud; points, normals : (n, 3) float, even samples of them
    """
    distance, index = nearest_few(cKDTree(points), points, NEIGHBORS)
    reach = float(np.median(distance[:, -1]))
    wall, edge = wall_thickness(points, normals, index), near_edge(normals, index)
    found = [spread(find_creases(points, normals, np.flatnonzero(edge & (wall > 0.8 * reach))), kept)]
    samples = [(points, normals)]
    for level in range(1, LEVELS):
        thin = edge & (wall <= 0.8 * reach)
        if corners is None or not thin.any():
            break
        dense, dense_normals = _zone(corners, points[thin], reach, 4**level * len(points), rng)
        reach /= 2
        if len(dense) < NEIGHBORS:
            break
        samples.append((dense[:ADDED], dense_normals[:ADDED]))
        seeds = rng.permutation(len(dense))[:FITTED]
        enough = wall[thin] > (0.8 * reach if level + 1 < LEVELS else 0.0)
        at = nearest_one(cKDTree(points[thin]), dense[seeds])[1]
        found.append(spread(find_creases(dense, dense_normals, seeds[enough[at]]), kept))
    everything = [np.concatenate(arrays) for arrays in zip(*samples)]
    return Rims(join_creases(found), everything[0], everything[1], float(np.sort(wall)[len(wall) // 10]))


def wall_thickness(points: Array, normals: Array, neighbors: Ints) -> Array:
    """(n,) float: thickness of the wall near each sample, infinite where its neighbourhood sees one side only."""
    offset = points[neighbors] - points[:, None]
    depth = -np.einsum("nkc,nc->nk", offset, normals)
    facing = np.einsum("nkc,nc->nk", normals[neighbors], normals) < FACING
    through = facing & (depth > 0.3 * np.linalg.norm(offset, axis=2))
    own = np.where(through, depth, np.inf).min(axis=1)
    return np.asarray(own[neighbors].min(axis=1))


def near_edge(normals: Array, neighbors: Ints) -> Bools:
    """(n,) bool: whether a face that is neither the sample's own nor the far side of its wall begins nearby."""
    cosine = np.einsum("nkc,nc->nk", normals[neighbors], normals)
    return np.asarray((np.abs(cosine) < SIDEWAYS).sum(axis=1) >= 1)


def _zone(corners: Array, edges: Array, reach: float, density: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Random samples near the edges (e, 3), as dense as `density` of them over the whole surface."""
    doubled = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    tree = cKDTree(edges)
    middle = corners.mean(axis=1)
    size = np.linalg.norm(corners - middle[:, None], axis=2).max(axis=1)
    near = nearest_one(tree, middle)[0] < reach + size
    count = int(density * doubled[near].sum() / doubled.sum())
    points, normals = sample_faces(corners[near], min(count, LARGEST), rng)
    kept = np.isfinite(nearest_one(tree, points, reach)[0])
    return points[kept], normals[kept]
