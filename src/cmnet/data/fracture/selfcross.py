"""Does a triangle mesh cross itself? Every pair of faces that are close and share no vertex is tested."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from cmnet.geometry.triangles import normals_and_areas
from cmnet.geometry.types import Array, Bools, Ints

CHUNK = 400_000  # pairs of faces tested at once
SHALLOW = 1e-9  # crossings less deep than this share of the mesh's size are rounding


def crossing_faces(vertices: Array, faces: Ints) -> Ints:
    """Pairs of faces that cross. vertices : (n, 3) float, faces : (m, 3) int → (k, 2) int"""
    corners = vertices[faces]
    size = float(np.ptp(vertices, axis=0).max())
    found = [np.zeros((0, 2), dtype=np.int64)]
    pairs = _close_pairs(corners)
    apart = (faces[pairs[:, 0]][:, :, None] != faces[pairs[:, 1]][:, None, :]).all(axis=(1, 2))
    pairs = pairs[apart]
    for start in range(0, len(pairs), CHUNK):
        part = pairs[start : start + CHUNK]
        a, b = corners[part[:, 0]], corners[part[:, 1]]
        found.append(part[_pierces(a, b, SHALLOW * size) | _pierces(b, a, SHALLOW * size)])
    return np.concatenate(found)


def _close_pairs(corners: Array) -> Ints:
    """Pairs of faces whose boxes overlap; faces are looked for among those of at least their own size."""
    centre = corners.mean(axis=1)
    radius = np.linalg.norm(corners - centre[:, None], axis=2).max(axis=1)
    level = np.floor(np.log2(np.maximum(radius, 1e-30) / radius.max())).astype(np.int64)
    low, high = corners.min(axis=1), corners.max(axis=1)
    found = [np.zeros((0, 2), dtype=np.int64)]
    for k in np.unique(level):
        large = (level == k).nonzero()[0]
        small = (level <= k).nonzero()[0]
        reach = radius[large].max()
        # Within one level radii differ by at most a factor of two, so one search radius serves all.
        lists = cKDTree(centre[large]).query_ball_point(centre[small], radius[small] + reach)
        count = np.array([len(x) for x in lists])
        if count.sum() == 0:
            continue
        a = np.repeat(small, count)
        b = large[np.concatenate([np.asarray(x, dtype=np.int64) for x in lists if x])]
        keep = (level[a] < level[b]) | (a < b)
        a, b = a[keep], b[keep]
        overlap = ((low[a] <= high[b]) & (low[b] <= high[a])).all(axis=1)
        found.append(np.stack([a[overlap], b[overlap]], axis=1))
    return np.concatenate(found)


def _pierces(a: Array, b: Array, depth: float) -> Bools:
    """Does an edge of triangle a pass through the inside of triangle b? a, b : (n, 3, 3) float → (n,) bool"""
    normal = normals_and_areas(b)[0]
    height = np.einsum("nkd,nd->nk", a - b[:, :1], normal)
    result = np.zeros(len(a), dtype=bool)
    for k in range(3):
        h, g = height[:, k], height[:, (k + 1) % 3]
        crosses = ((h > depth) & (g < -depth)) | ((h < -depth) & (g > depth))
        t = np.where(crosses, h / np.where(crosses, h - g, 1.0), 0.0)[:, None]
        point = a[:, k] + t * (a[:, (k + 1) % 3] - a[:, k])
        result |= crosses & _inside(point, b, normal, depth)
    return result


def _inside(point: Array, triangle: Array, normal: Array, depth: float) -> Bools:
    inside = np.ones(len(point), dtype=bool)
    for k in range(3):
        edge = triangle[:, (k + 1) % 3] - triangle[:, k]
        length = np.maximum(np.linalg.norm(edge, axis=1), 1e-300)
        side = np.einsum("nd,nd->n", np.cross(edge, point - triangle[:, k]), normal) / length
        inside &= side > depth
    return inside
