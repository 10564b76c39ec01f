"""Planes through the neighbours of every point of a cloud: as many as its noise asks for, and none across an edge."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from cmnet.geometry.types import Array, Ints

REACH = (1, 2, 4, 8, 16)  # rounds in which neighbours tell each other what they know, until planes are
SURE = 0.05  # radians from their true direction, about, at half of the points
CHOICES = 2  # times that a point may take a neighbour's plane for its own,
BETTER = 8.0  # if that goes through the points around with so many times less variance


def axes_of_planes(points: Array, neighbors: Ints) -> Array:
    """Unit normals of the planes, to one side or the other. points : (n, 3), neighbors : (n, k) → (n, 3) float"""
    points = points - points.mean(axis=0)
    axes, means, variance = _fitted(points, neighbors)
    others = np.where(neighbors == np.arange(len(points))[:, None], 1.0, BETTER)
    for _ in range(CHOICES):
        off = np.einsum("nkc,nkc->nk", axes[neighbors], points[:, None] - means[neighbors])
        best = (others * (variance[neighbors] + off * off)).argmin(axis=1)[:, None]
        chosen = np.take_along_axis(neighbors, best, axis=1)[:, 0]
        axes, means, variance = axes[chosen], means[chosen], variance[chosen]
    return axes


def _fitted(points: Array, neighbors: Ints) -> tuple[Array, Array, Array]:
    """Planes by least squares: axes (n, 3), points on them (n, 3), and the variance (n,) of what they go through.

    Every round replaces mean and covariance by those of all neighbours together, so that after r rounds a plane goes
    through about r · k points, the nearest of them with most weight. Noise of variance v₀ turns a plane through as many
    by about √(v₀ / v₁ r k), with v₁ the lesser of the two variances along it.
    """
    n, k = neighbors.shape
    share = csr_array((np.full(n * k, 1 / k), neighbors.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    moments = np.concatenate([points, np.einsum("ni,nj->nij", points, points).reshape(n, 9)], axis=1)
    for rounds in range(1, REACH[-1] + 1):
        moments = share @ moments
        if rounds not in REACH:
            continue
        means, products = moments[:, :3], moments[:, 3:].reshape(n, 3, 3)
        values, axes = np.linalg.eigh(products - np.einsum("ni,nj->nij", means, means))
        if np.median(values[:, 0] - SURE**2 * rounds * k * values[:, 1]) <= 0:
            break
    return axes[:, :, 0], means, np.maximum(values[:, 0], 0)
