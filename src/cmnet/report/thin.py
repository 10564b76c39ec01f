"""Thinning a mesh for display: fast over millions of faces, close to the surface where it counts."""

from __future__ import annotations

import numpy as np

from cmnet.geometry.triangles import areas
from cmnet.geometry.types import Array, Ints

COARSE = 12  # times the wanted faces: what is left of a huge mesh before edges are collapsed one by one
AGGRESSION = 7  # of the edge collapse, 0 (slow) to 10


def thin(vertices: Array, faces: Ints, most: int) -> tuple[Array, Ints]:
    """About `most` faces at the most. vertices : (v, 3) float, faces : (f, 3) int → (n, 3) float, (m, 3) int

    Edges are collapsed where that moves the surface least (quadric error); sharp edges stay.
    """
    import fast_simplification

    if len(faces) <= most:
        return vertices, faces
    middle = vertices.mean(axis=0)
    vertices = vertices - middle  # the edge collapse loses digits far from the origin
    if len(faces) > COARSE * most:
        vertices, faces = cluster(vertices, faces, COARSE * most)
    if len(faces) > most:
        vertices, faces = fast_simplification.simplify(
            np.ascontiguousarray(vertices), np.ascontiguousarray(faces), target_count=most, agg=AGGRESSION
        )
    return np.asarray(vertices, dtype=np.float64) + middle, np.asarray(faces, dtype=np.int64)


def cluster(vertices: Array, faces: Ints, most: int) -> tuple[Array, Ints]:
    """Merge the vertices of every cell of a grid into their mean: crude, but in one pass. Roughly `most` faces stay."""
    size = np.sqrt(2 * areas(vertices[faces]).sum() / most)  # two faces to a cell that the surface passes through
    index = np.floor((vertices - vertices.min(axis=0)) / max(size, 1e-300)).astype(np.int64)
    nx, ny, _ = index.max(axis=0) + 1
    cell = np.unique((index[:, 2] * ny + index[:, 1]) * nx + index[:, 0], return_inverse=True)[1]
    count = np.bincount(cell)
    means = np.stack([np.bincount(cell, x) for x in vertices.T], axis=1) / count[:, None]
    moved = cell[faces]
    alive = (moved[:, 0] != moved[:, 1]) & (moved[:, 1] != moved[:, 2]) & (moved[:, 2] != moved[:, 0])
    return means, moved[alive].astype(np.int64)
