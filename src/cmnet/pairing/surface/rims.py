"""All creases of a part, each found at the scale that the wall allows.

The break of a wall must hold a few samples of every neighbourhood that a crease is fitted to. Where walls are thinner
than the samples are apart, the surface is sampled again, denser and only near its edges.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from cmnet.geometry.sampling import sample_near
from cmnet.geometry.trees import nearest_few, nearest_one
from cmnet.geometry.types import Array, Ints
from cmnet.geometry.walls import wall_thickness
from cmnet.pairing.surface.creases import NEIGHBORS, Creases, find_creases, join_creases, spread
from cmnet.settings import Scale

AROUND = 12  # samples next to a sample
LEVELS = 3  # the reach is halved from one level to the next


@dataclass(frozen=True, eq=False)
class Rims:
    """The creases of a part, and its surface sampled densely near them.

    points, normals : (d, 3) float, the even samples first, then those of the finer levels
    around          : (n, AROUND) int, of every even sample the samples next to it, itself first
    wall            : thickness of the thinnest walls met, infinite where there is none
    """

    creases: Creases
    points: Array
    normals: Array
    around: Ints
    wall: float


def find_rims(corners: Array | None, points: Array, normals: Array, rng: np.random.Generator, scale: Scale) -> Rims:
    """At most `scale.level` creases of each level.

    corners : (m, 3, 3) float triangles, None for a cloud; points, normals : (n, 3) float, even samples of them
    """
    limits, budget = scale.tolerances, scale.budget
    seeds, tree = np.arange(len(points)), cKDTree(points)
    distance, index = nearest_few(tree, points, NEIGHBORS)
    walls, next_to = wall_thickness(points, normals, index), index[:, :AROUND]
    samples, found = [(points, normals)], []
    dense, dense_normals, wall = points, normals, walls
    for level in range(1, LEVELS + 1):
        reach = float(np.median(distance[:, -1]))
        cosine = np.einsum("nkc,nc->nk", dense_normals[index], dense_normals[seeds])
        edge = (np.abs(cosine) < limits.sideways).any(axis=1)  # a face that is neither its own nor the far side begins
        thin = wall <= limits.thin_wall * reach
        creases = find_creases(dense, dense_normals, seeds[edge], distance[edge], index[edge], limits)
        found.append(spread(creases, scale.level))
        if corners is None or level == LEVELS or not (edge & thin).any():
            break
        density, edges = 4**level * len(points), dense[seeds[edge & thin]]
        dense, dense_normals = sample_near(corners, edges, reach, density, budget.drawn, rng)
        if len(dense) < NEIGHBORS:
            break
        samples.append((dense[: budget.added], dense_normals[: budget.added]))
        seeds = np.arange(min(budget.fitted, len(dense)))
        distance, index = nearest_few(cKDTree(dense), dense[seeds], NEIGHBORS)
        wall = walls[nearest_one(tree, dense[seeds])[1]]
    everything = [np.concatenate(arrays) for arrays in zip(*samples)]
    return Rims(join_creases(found), everything[0], everything[1], next_to, float(np.sort(walls)[len(walls) // 10]))
