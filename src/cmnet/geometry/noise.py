"""Noise of a cloud across the surface that it samples: how much there is, and most of it averaged away."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from cmnet.geometry.trees import nearest_few
from cmnet.geometry.types import Array, Ints

BESIDE = 5  # neighbours that noise is measured against: more would see the surface bend
ALIKE = 0.8  # neighbours whose normals have at least this cosine lie on the same face,
OFF = 4.0  # weighed by how far they lie off its plane, in times the noise
MOST = 60  # neighbours that are averaged, at most
ROUNDS = 2  # of averaging
ROWS = 50_000  # points that are averaged at once
NORMAL = 1.4826  # standard deviation over median deviation of normal errors


def noise_of(points: Array, normals: Array) -> float:
    """Standard deviation of points (n, 3) across their surface, by what their heights over neighbours do not share.

    Bends and slopes are common to neighbours and do not count; nor does what less than half of the points have, a rough
    break for example.
    """
    if len(points) <= BESIDE:
        return 0.0
    index = nearest_few(cKDTree(points), points, BESIDE + 1)[1]
    alike = (np.einsum("nkc,nc->nk", normals[index], normals) > ALIKE).astype(np.float64)
    height = np.einsum("nc,nc->n", _mean(alike, points[index]) - points, normals)
    return NORMAL * float(np.median(np.abs(height - height[index].mean(axis=1))))


def averaged(points: Array, normals: Array, noise: float, allowed: float) -> tuple[Array, Array]:
    """Points and normals (n, 3), each moved to the mean of its neighbours on the same face, as many as that takes.

    noise : what `noise_of` says; allowed : what may stay of it
    """
    count = int(np.clip((noise / allowed) ** 2, BESIDE, MOST))
    for _ in range(ROUNDS):
        tree, blocks = cKDTree(points), [slice(k, k + ROWS) for k in range(0, len(points), ROWS)]
        around = [(block, nearest_few(tree, points[block], count + 1)[1]) for block in blocks]
        mean = [_mean(_weights(points, normals, *rows, noise), normals[rows[1]]) for rows in around]
        normals = _unit(np.concatenate(mean))
        mean = [_mean(_weights(points, normals, *rows, noise), points[rows[1]]) for rows in around]
        points = points + np.einsum("nc,nc->n", np.concatenate(mean) - points, normals)[:, None] * normals
    return points, normals


def _weights(points: Array, normals: Array, block: slice, index: Ints, noise: float) -> Array:
    """(b, k) float: what each neighbour says about the face of a point; the first of them is the point itself."""
    cosine = np.einsum("nkc,nc->nk", normals[index], normals[block])
    off = np.einsum("nkc,nc->nk", points[index] - points[block, None], normals[block]) / (OFF * noise)
    return np.where(cosine > ALIKE, np.exp(-off * off), 0.0)


def _mean(weights: Array, vectors: Array) -> Array:
    """(b, 3) float: weighted means. weights : (b, k), vectors : (b, k, 3)"""
    return np.asarray(np.einsum("nk,nkc->nc", weights, vectors) / weights.sum(axis=1, keepdims=True))


def _unit(v: Array) -> Array:
    return v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-12)
