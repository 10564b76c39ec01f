"""How the faces of a mesh hang together along their edges."""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from cmnet.geometry.types import Bools, Ints


def face_links(faces: Ints) -> tuple[Ints, Ints, Bools]:
    """Pairs of faces that share an edge of exactly two faces.

    faces : (m, 3) int → first (k,) int, second (k,) int, whether the two agree on which side is outside (k,) bool
    """
    keys, forward, face = _sorted_edges(faces)
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    pairs = starts[np.diff(starts, append=len(keys)) == 2]
    return face[pairs], face[pairs + 1], forward[pairs] != forward[pairs + 1]


def boundary_edges(faces: Ints) -> Ints:
    """(k, 2) int: the edges that bound one face only. faces : (m, 3) int"""
    keys, _, _ = _sorted_edges(faces)
    edges, counts = np.unique(keys, return_counts=True)
    n = int(faces.max()) + 1
    return np.stack(np.divmod(edges[counts == 1], n), axis=1)


def count_holes(faces: Ints) -> int:
    """The number of separate rims of a mesh; 0 for a closed one. faces : (m, 3) int"""
    rim = boundary_edges(faces)
    if not len(rim):
        return 0
    _, ends = np.unique(rim, return_inverse=True)
    a, b = ends.reshape(-1, 2).T
    return int(linked_groups(a, b, int(ends.max()) + 1).max()) + 1


def face_bodies(faces: Ints) -> Ints:
    """(m,) int: the connected body that each face belongs to, numbered in order of first occurrence.

    Faces hang together that share a vertex.
    """
    n = int(faces.max()) + 1
    rows, columns = np.concatenate([faces[:, :2], faces[:, 1:]]).T
    labels = linked_groups(rows, columns, n)[faces[:, 0]]
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].astype(np.int64)


def _sorted_edges(faces: Ints) -> tuple[Ints, Bools, Ints]:
    """One key per undirected edge of every face, sorted; whether the edge runs from low to high; its face."""
    n = int(faces.max()) + 1
    a, b = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    keys = np.minimum(a, b) * n + np.maximum(a, b)
    order = np.argsort(keys, kind="stable")
    return keys[order], (a < b)[order], order // 3


def linked_groups(a: Ints, b: Ints, count: int) -> Ints:
    """(count,) int: things that links connect get the same number. a, b : (k,) int, the ends of the links"""
    graph = coo_array((np.ones(len(a), dtype=np.int8), (a, b)), shape=(count, count))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)
