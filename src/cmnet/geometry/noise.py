"""Noise of a cloud across the surface that it samples: how much there is, and most of it averaged away."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from cmnet.geometry.trees import nearest_few
from cmnet.geometry.types import Array, Ints

BESIDE = 5  # neighbours that noise is measured against: more would see the surface bend
CLOSE = 0.15  # of their distance: with more noise the nearest are those at one height, and a quarter of all is asked
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
    distance, index = nearest_few(cKDTree(points), points, BESIDE + 1)
    alike = (np.einsum("nkc,nc->nk", normals[index], normals) > ALIKE).astype(np.float64)
    height = np.einsum("nc,nc->n", _mean(alike, points[index]) - points, normals)
    noise = NORMAL * float(np.median(np.abs(height - height[index].mean(axis=1))))
    if noise <= CLOSE * float(np.median(distance[:, -1])):
        return noise
    some = np.random.default_rng(len(points)).permutation(len(points))[: len(points) // 4]
    return max(noise, noise_of(points[some], normals[some]))


def averaged(points: Array, normals: Array, noise: float, allowed: float) -> tuple[Array, Array]:
    """Points and normals (n, 3), each moved to the mean of its neighbours on the same face, as many as that takes.

    noise : what `noise_of` says; allowed : what may stay of it
    """
    count = int(np.clip((noise / allowed) ** 2, BESIDE, MOST))
    for _ in range(ROUNDS):
        tree, blocks = cKDTree(points), [slice(k, k + ROWS) for k in range(0, len(points), ROWS)]
        around = [(block, nearest_few(tree, points[block], count + 1)[1]) for block in blocks]
        mean = [_mean(_weights(points, normals, *rows, noise)[0], normals[rows[1]]) for rows in around]
        normals = _unit(np.concatenate(mean))
        height = [_mean(*_weights(points, normals, *rows, noise)) for rows in around]
        points = points + np.concatenate(height)[:, None] * normals
    return points, normals


def _weights(points: Array, normals: Array, block: slice, index: Ints, noise: float) -> tuple[Array, Array]:
    """(b, k) and (b, k) float: what each neighbour says about the face of a point, and how high it lies over it.

    Heights go along the mean of the two normals: on a sphere all are zero, however far apart. The first neighbour of a
    point is the point itself.
    """
    both = normals[index] + normals[block, None]
    height = np.einsum("nkc,nkc->nk", points[index] - points[block, None], both) / 2
    cosine = np.einsum("nkc,nc->nk", normals[index], normals[block])
    return np.where(cosine > ALIKE, np.exp(-((height / (OFF * noise)) ** 2)), 0.0), height


def _mean(weights: Array, values: Array) -> Array:
    """(b, ...) float: weighted means. weights : (b, k), values : (b, k, ...)"""
    return np.asarray((np.einsum("nk,nk...->...n", weights, values) / weights.sum(axis=1)).T)


def _unit(v: Array) -> Array:
    return v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-12)
