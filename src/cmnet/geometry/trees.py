"""Nearest points from a tree that is used many times, and of so few that a tree takes longer to build."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from cmnet.geometry.compiled import compiled
from cmnet.geometry.types import Array, Ints


def even_tree(points: Array) -> cKDTree:
    """A kd-tree of samples that lie evenly on a surface: splits in the middle are faster than at the median."""
    return cKDTree(points, leafsize=16, balanced_tree=False)


def nearest_one(tree: cKDTree, points: Array, within: float = np.inf) -> tuple[Array, Ints]:
    """Distance (n,) and index (n,) of the nearest; infinity and the size of the tree where none lies within."""
    distance, index = tree.query(points, distance_upper_bound=within)
    return np.asarray(distance, dtype=np.float64), np.asarray(index, dtype=np.int64)


def nearest_few(tree: cKDTree, points: Array, k: int, within: float = np.inf) -> tuple[Array, Ints]:
    """The same for the k nearest, fewer where the tree has fewer: (n, k) and (n, k), nearest first."""
    ranks = np.arange(1, min(k, tree.n) + 1)
    if not len(ranks):
        return np.empty((len(points), 0)), np.empty((len(points), 0), dtype=np.int64)
    distance, index = tree.query(points, ranks, distance_upper_bound=within)
    return np.asarray(distance, dtype=np.float64), np.asarray(index, dtype=np.int64)


def distance_to_few(few: Array, points: Array) -> Array:
    """(n,) float: how far each of points (n, 3) lies from the nearest of a few (m, 3), infinite without any."""
    distance = np.full(len(points), np.inf)
    _try_all(few, points, distance)
    return np.sqrt(distance)


@compiled
def _try_all(few: Array, points: Array, square: Array) -> None:
    """Lowers square (n,) to the squared distances."""
    for i in range(len(points)):
        x, y, z = points[i]
        for j in range(len(few)):
            u, v, w = x - few[j, 0], y - few[j, 1], z - few[j, 2]
            square[i] = min(square[i], u * u + v * v + w * w)
