"""Nearest neighbours, farthest-point sampling and interpolation.

What depends on coordinates alone is found on the CPU with exact trees, whatever the device of the network; what
depends on features is found where the features are.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy.spatial import cKDTree
from torch import Tensor

from cmnet.geometry.types import Array, Floats, Ints


def nearest(query: Floats, points: Floats, k: int) -> tuple[Array, Ints]:
    """The k nearest points of each query, nearest first; fewer where there are fewer points.

    query : (n, d), points : (m, d) → distances (n, min(k, m)) float64, indices (n, min(k, m)) int64
    """
    ranks = np.arange(1, min(k, len(points)) + 1)  # a list, so that the answer keeps its second axis for k = 1
    distances, indices = cKDTree(points, balanced_tree=False).query(query, ranks, workers=-1)
    return np.asarray(distances), np.asarray(indices, dtype=np.int64)


def nearest_features(features: Tensor, k: int) -> Tensor:
    """The k nearest rows of each row, itself included. features : (n, f) float → (n, min(k, n)) int64, any order"""
    with torch.no_grad():
        # −‖a − b‖² / 2 without its row constant, which does not change the order, as one matrix product.
        halves = (features * features).sum(1, keepdim=True) / -2
        scores = torch.cat([features, torch.ones_like(halves)], 1) @ torch.cat([features, halves], 1).T
        return scores.topk(min(k, len(features)), dim=1, sorted=False).indices


def farthest_points(points: Floats, count: int) -> Ints:
    """Farthest-point order: each next point is the one farthest from all before it. points : (n, 3) → (count,) int64

    Starts at the point farthest from the mean, so neither the order of the points nor their pose matters. A prefix of
    the answer is the answer for a smaller count.
    """
    columns = np.ascontiguousarray(points.T)
    x, y, z = columns
    order = np.empty(count, dtype=np.int64)
    centre = columns.mean(axis=1)
    distance = np.full(len(points), np.inf, dtype=columns.dtype)
    current = int(((columns - centre[:, None]) ** 2).sum(axis=0).argmax())
    for i in range(count):
        order[i] = current
        dx, dy, dz = x - x[current], y - y[current], z - z[current]
        dx *= dx
        dy *= dy
        dz *= dz
        dx += dy
        dx += dz
        np.minimum(distance, dx, out=distance)
        current = int(distance.argmax())
    return order


def interpolation(query: Floats, points: Floats, k: int = 3) -> tuple[Ints, Array]:
    """Inverse-distance weights of the k nearest points of each query.

    query : (n, 3), points : (m, 3) → indices (n, min(k, m)) int64, weights (n, min(k, m)) float64, rows sum to 1
    """
    distances, indices = nearest(query, points, k)
    weights = 1 / (distances + 1e-8)
    return indices, weights / weights.sum(axis=1, keepdims=True)
