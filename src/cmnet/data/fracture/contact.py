"""Exact contact areas: two pieces touch where they keep opposite sides of the same triangles of a cutter."""

from __future__ import annotations

import numpy as np

from cmnet.data.fracture.solid import Mesh
from cmnet.geometry.triangles import cross_products
from cmnet.geometry.types import Array, Bools, Ints


def contact_areas(meshes: list[Mesh], skin: Ints) -> tuple[Array, list[Bools]]:
    """Contact areas of all pairs of pieces, and which faces of each piece are broken surface.

    skin : (k,) int, the sources whose faces are the object's own surface
    → (p, p) float symmetric, and p arrays (m_i,) bool
    """
    broken = [~np.isin(mesh.source, skin) for mesh in meshes]
    corners = np.concatenate([m.vertices[m.faces[b]] for m, b in zip(meshes, broken, strict=True)])
    source = np.concatenate([m.source[b] for m, b in zip(meshes, broken, strict=True)])
    triangle = np.concatenate([m.triangle[b] for m, b in zip(meshes, broken, strict=True)])
    piece = np.repeat(np.arange(len(meshes)), [int(b.sum()) for b in broken])
    areas = np.zeros((len(meshes), len(meshes)))
    a, b = _candidates(source, triangle, piece)
    if len(a):
        normal = cross_products(corners)
        opposed = np.einsum("nd,nd->n", normal[a], normal[b]) < 0
        a, b = a[opposed], b[opposed]
        shared = overlap_area(corners[a], corners[b])
        np.add.at(areas, (piece[a], piece[b]), shared)
    return areas + areas.T, broken


def _candidates(source: Ints, triangle: Ints, piece: Ints) -> tuple[Ints, Ints]:
    """All pairs of faces, of different pieces, that were cut out of the same triangle."""
    order = np.lexsort((piece, triangle, source))
    key = np.stack([source[order], triangle[order]], axis=1)
    first = np.concatenate([[True], (np.diff(key, axis=0) != 0).any(axis=1)]) if len(key) else np.zeros(0, bool)
    start = first.nonzero()[0]
    group = np.cumsum(first) - 1
    size = np.diff(np.append(start, len(order)))
    # Every face with each later face of its group.
    later = (start[group] + size[group] - 1 - np.arange(len(order))).astype(np.int64) if len(key) else np.zeros(0, int)
    a = np.repeat(np.arange(len(order)), later)
    b = a + 1 + np.arange(len(a)) - np.repeat(np.cumsum(later) - later, later)
    a, b = order[a], order[b]
    apart = piece[a] != piece[b]
    return a[apart], b[apart]


def overlap_area(a: Array, b: Array) -> Array:
    """Area common to pairs of coplanar triangles. a, b : (n, 3, 3) float → (n,) float"""
    normal = cross_products(a)
    length = np.linalg.norm(normal, axis=1)
    # Projected along the largest component of the normal, areas shrink by that component.
    axis = np.abs(normal).argmax(axis=1)
    keep = np.array([[1, 2], [2, 0], [0, 1]])[axis]
    rows = np.arange(len(a))[:, None]
    p, q = (np.stack([t[rows, k, keep] for k in range(3)], axis=1) for t in (a, b))
    q = np.where((_signed_area(q) < 0)[:, None, None], q[:, ::-1], q)
    polygon = p
    for k in range(3):
        polygon = _clip(polygon, q[:, k], q[:, (k + 1) % 3])
    scale = length / np.maximum(np.abs(normal[np.arange(len(a)), axis]), 1e-300)
    return np.asarray(np.abs(_signed_area(polygon)) * scale)


def _signed_area(polygon: Array) -> Array:
    x, y = (polygon - polygon[:, :1])[..., 0], (polygon - polygon[:, :1])[..., 1]
    return np.asarray((x * np.roll(y, -1, axis=1) - np.roll(x, -1, axis=1) * y).sum(axis=1) / 2)


def _clip(polygon: Array, start: Array, end: Array) -> Array:
    """Keep what lies left of a line (Sutherland–Hodgman), unused corners repeat the first. (n, k, 2) → (n, k + 1, 2)"""
    n, k, _ = polygon.shape
    edge = (end - start)[:, None]
    offset = polygon - start[:, None]
    height = edge[..., 0] * offset[..., 1] - edge[..., 1] * offset[..., 0]
    follow, next_height = np.roll(polygon, -1, axis=1), np.roll(height, -1, axis=1)
    crosses = (height >= 0) != (next_height >= 0)
    share = np.where(crosses, height / np.where(crosses, height - next_height, 1.0), 0.0)
    points = np.stack([polygon, polygon + share[..., None] * (follow - polygon)], axis=2).reshape(n, 2 * k, 2)
    valid = np.stack([height >= 0, crosses], axis=2).reshape(n, 2 * k)
    order = np.argsort(~valid, axis=1, kind="stable")[:, : k + 1]
    points = np.take_along_axis(points, order[..., None], axis=1)
    valid = np.take_along_axis(valid, order, axis=1)
    first = np.where(valid[:, :1], points[:, 0], 0.0)
    return np.where(valid[..., None], points, first[:, None])
