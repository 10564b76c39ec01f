"""Nearest points from a tree that is used many times."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

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
