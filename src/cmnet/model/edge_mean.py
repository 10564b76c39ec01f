"""The heart of an EdgeConv of vectors: bend every edge along its direction, take the mean over a point's neighbours.

There are k edges a point, so this is where a network's time goes. Written out with its gradient it works on blocks of
edges that stay in the processor's cache, forwards and backwards, and keeps nothing of them in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

BLOCK = 1 << 17  # numbers of one plane of edges worked on at once
TINY = 1e-6  # added to squared lengths that are divided by


def bent_mean(centre: Tensor, neighbour: Tensor, index: Tensor, sign: Tensor, slope: float) -> tuple[Tensor, Tensor]:
    """Mean over the neighbours of a vector leaky ReLU, and the sum of squared lengths before it.

    With (p, d) = centre_i + neighbour_j at the edge from i to j = index[i, ·], for every channel:
    y_i = mean_j [ p − (1 − slope) · s min(s ⟨p, d⟩, 0) / ‖d‖² · d ],   squares = Σ_ij ‖p‖²

    centre, neighbour : (n, 3, 2c) float, first all p, then all d; index : (n, k) int; sign : (c,) float s = ±1
    → y (n, 3, c), squares (c,)
    """
    mean, squares = _BentMean.apply(centre, neighbour, index, sign, slope)
    return mean, squares


class _BentMean(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, centre: Tensor, neighbour: Tensor, index: Tensor, sign: Tensor, slope: float
    ) -> tuple[Tensor, Tensor]:
        planes = _planes(centre), _planes(neighbour)
        mean, squares = centre.new_empty(len(index), 3, len(sign)), torch.zeros_like(sign)
        for rows, p, d in _blocks(*planes, index):
            bend, _, _ = _bend(p, d, sign, slope)
            for s in range(3):
                mean[rows, s] = torch.addcmul(p[s], bend, d[s]).mean(1)
            squares += _dot(p, p).sum((0, 1))
        ctx.save_for_backward(*planes, index, sign)
        ctx.slope = slope
        return mean, squares

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        centre, neighbour, index, sign = ctx.saved_tensors
        (n, k), c = index.shape, len(sign)
        g_mean, g_squares = grads[0] / k, 2 * grads[1]
        g_centre, g_edge = sign.new_empty(n, 6, c), sign.new_empty(n, k, 6, c)
        for rows, p, d in _blocks(centre, neighbour, index):
            bend, ratio, inverse = _bend(p, d, sign, ctx.slope)
            g = [g_mean[rows, s].unsqueeze(1) for s in range(3)]
            g_bend = _dot(g, d)
            along = g_bend * ratio  # through ⟨p, d⟩
            across = g_bend.mul_(bend).mul_(inverse).mul_(-2)  # through ‖d‖²
            edge = g_edge[rows]
            for s in range(3):
                edge[:, :, 2 * s] = torch.addcmul(g[s], p[s], g_squares).addcmul_(along, d[s])
                edge[:, :, 2 * s + 1] = (bend * g[s]).addcmul_(along, p[s]).addcmul_(across, d[s])
            g_centre[rows] = edge.sum(1)
        to = index.view(-1, 1).expand(-1, 6 * c)
        g_neighbour = sign.new_zeros(n, 6 * c).scatter_add_(0, to, g_edge.view(n * k, 6 * c))
        return g_centre.view(n, 3, 2 * c), g_neighbour.view(n, 3, 2 * c), None, None, None


def _planes(x: Tensor) -> Tensor:
    """(n, 3, 2c) → (6, n, c): p and d of each axis of space in turn, each in one piece."""
    return x.reshape(len(x), 6, -1).transpose(0, 1).contiguous()


def _blocks(centre: Tensor, neighbour: Tensor, index: Tensor) -> Iterator[tuple[slice, list[Tensor], list[Tensor]]]:
    """Rows of points, and the three planes (rows, k, c) of p and of d at their edges."""
    n, k = index.shape
    size = max(1, BLOCK // (k * centre.shape[2]))
    for start in range(0, n, size):
        rows = slice(start, min(n, start + size))
        to, shape = index[rows].flatten(), (rows.stop - start, k, centre.shape[2])
        edge = [a.index_select(0, to).view(shape).add_(b[rows].unsqueeze(1)) for a, b in zip(neighbour, centre)]
        yield rows, edge[0::2], edge[1::2]


def _bend(p: list[Tensor], d: list[Tensor], sign: Tensor, slope: float) -> tuple[Tensor, Tensor, Tensor]:
    """Of every edge: how much of d is added to p, its derivative by ⟨p, d⟩, and 1 / ‖d‖². Each (rows, k, c)"""
    inverse = _dot(d, d).add_(TINY).reciprocal_()
    dot = _dot(p, d)
    ratio = (dot * sign < 0).to(dot).mul_(slope - 1).mul_(inverse)
    return dot.mul_(ratio), ratio, inverse


def _dot(a: list[Tensor], b: list[Tensor]) -> Tensor:
    return (a[0] * b[0]).addcmul_(a[1], b[1]).addcmul_(a[2], b[2])
