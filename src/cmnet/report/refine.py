"""Refining a display mesh where parts meet: colours at its vertices then show gaps and not the shape of its faces."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cmnet.geometry.types import Array, Bools, Ints

ROUNDS = 7  # each halves edges


def refine(
    vertices: Array, faces: Ints, distance: Callable[[Array], Array], reach: float, finest: float, most: int
) -> tuple[Array, Ints]:
    """Split edges that come within `reach` of something until they are shorter than `finest`, up to `most` faces.

    vertices : (v, 3) float, faces : (f, 3) int; distance : (n, 3) float → (n,) float, to that something
    → (n, 3) float, (m, 3) int, without gaps between split and unsplit faces
    """
    far = distance(vertices)
    for _ in range(ROUNDS):
        edges, of_face = _edges(faces)
        length = np.linalg.norm(vertices[edges[:, 0]] - vertices[edges[:, 1]], axis=1)
        wanted = (length > finest) & (far[edges].min(axis=1) < reach + length / 2)
        split = _with_longest(wanted, of_face, length)
        if not split.any() or len(faces) + split[of_face].sum() > most:
            break
        middles = vertices[edges[split]].mean(axis=1)
        number = np.full(len(edges), -1)
        number[split] = len(vertices) + np.arange(len(middles))
        faces = _split_faces(faces, number[of_face])
        vertices, far = np.concatenate([vertices, middles]), np.concatenate([far, distance(middles)])
    return vertices, faces


def _edges(faces: Ints) -> tuple[Ints, Ints]:
    """Every edge once (e, 2), and the edges (f, 3) of each face: from its first to its second corner and so on."""
    ends = np.sort(np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    count = int(faces.max(initial=0)) + 1
    key, inverse = np.unique(ends[:, 0] * count + ends[:, 1], return_inverse=True)
    return np.stack([key // count, key % count], axis=1), inverse.reshape(-1, 3)


def _with_longest(split: Bools, of_face: Ints, length: Array) -> Bools:
    """A face that is split is split at its longest edge too: no slivers."""
    split = split.copy()
    longest = np.take_along_axis(of_face, length[of_face].argmax(axis=1)[:, None], axis=1)[:, 0]
    while True:
        missing = split[of_face].any(axis=1) & ~split[longest]
        if not missing.any():
            return split
        split[longest[missing]] = True


def _split_faces(faces: Ints, middle: Ints) -> Ints:
    """Faces (m, 3) after their edges got middles (f, 3); −1 where an edge stays whole."""
    count = (middle >= 0).sum(axis=1)
    # Turned so that a single split edge, or the first of two in a row, comes first.
    alone, pair = (middle >= 0).argmax(axis=1), ((middle < 0).argmax(axis=1) + 1) % 3
    first = np.where(count == 1, alone, np.where(count == 2, pair, 0))
    order = (first[:, None] + np.arange(3)) % 3
    a, b, c = np.take_along_axis(faces, order, axis=1).T
    ab, bc, ca = np.take_along_axis(middle, order, axis=1).T
    patterns = {
        0: [(a, b, c)],
        1: [(a, ab, c), (ab, b, c)],
        2: [(ab, b, bc), (a, ab, bc), (a, bc, c)],
        3: [(ab, b, bc), (bc, c, ca), (ca, a, ab), (ab, bc, ca)],
    }
    made = [np.stack(t, axis=1)[count == n] for n, triangles in patterns.items() for t in triangles]
    return np.concatenate(made).astype(np.int64)
