"""Vector-neuron layers (Deng et al., 2021) and their plain counterparts.

A vector feature is (n, 3, c): point, space, channel. A layer is  x ↦ act(norm(W x), D x):  W and D mix channels
only, so turning the input turns the output. Channel-last keeps every linear map one contiguous matrix product.

Three forms of the same layer:
  layer(x)                 every point
  layer.gather(x, index)   every neighbour, mean over a point's neighbours (transition down)
  layer.edges(x, index)    every edge [x_j − x_i, x_i], mean over a point's neighbours (EdgeConv)
The last two never build what they stand for: a linear map on edges is two maps on points, gathered afterwards.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from cmnet.model.edge_mean import TINY, bent_mean

SLOPE = 0.2  # of every leaky ReLU in the network
CHUNK = 1 << 19  # numbers at edges worked on at once when no gradient is needed


class VectorNorm(nn.Module):
    """Factors that normalise vectors by their lengths, over all vectors of one part.

    rms:       factor = gain / sqrt(mean ‖v‖²)
    instance:  factor = (gain · (‖v‖ − mean ‖v‖) / std ‖v‖ + bias) / ‖v‖

    The latter, as published, turns vectors of average length into tiny ones and divides by them in the next layer:
    rounding in float32 grows to about one percent of the output, and gradients a hundredfold.

    Shapes: squared lengths (..., c) → factors (c,) or (..., c)
    """

    def __init__(self, channels: int, kind: str) -> None:
        super().__init__()
        self.kind = kind
        self.gain = nn.Parameter(torch.ones(channels))
        if kind == "instance":
            self.bias = nn.Parameter(torch.zeros(channels))

    def forward(self, squares: Tensor, weights: Tensor | None = None) -> Tensor:
        """weights : (n,) how often each row of squares (n, c) counts, summing to 1; None: all alike"""
        if self.kind == "rms":
            return self.gain * (_mean(squares, weights) + 1e-12).rsqrt()
        lengths = (squares + 1e-24).sqrt()
        mean = _mean(lengths, weights)
        centred = lengths - mean
        slope = self.gain * (_mean(centred * centred, weights) + 1e-5).rsqrt()
        return torch.addcmul(slope, self.bias - slope * mean, lengths.reciprocal())


class VectorLayer(nn.Module):
    """Vector linear → norm → vector leaky ReLU along learned directions.

    q = norm(W x),  d = D x,  y = q − (1 − slope) · min(⟨q, d⟩, 0) / ‖d‖² · d

    Shapes: (n, 3, in) → (n, 3, out); `edges` takes (n, 3, c) with c ≤ in ≤ 2c.
    """

    def __init__(self, inputs: int, outputs: int, norm: str, shared_direction: bool = False) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, outputs, bias=False)
        self.direction = nn.Linear(inputs, 1 if shared_direction else outputs, bias=False)
        self.norm = VectorNorm(outputs, norm)

    def forward(self, x: Tensor, weights: Tensor | None = None) -> Tensor:
        p, d = self.linear(x), self.direction(x)
        factor = self.norm(_dot(p, p), weights)
        q = p * factor.unsqueeze(-2)
        return q + self._bend(_dot(q, d), d).unsqueeze(-2) * d

    def gather(self, x: Tensor, index: Tensor) -> Tensor:
        """(n, 3, in), index (m, k) → (m, 3, out): the layer on gathered rows equals the gathered layer, if the
        statistics count each row as often as it is gathered."""
        counts = torch.bincount(index.flatten(), minlength=len(x)).to(x.dtype)
        return take(self(x, counts / index.numel()), index).mean(1)

    def edges(self, x: Tensor, index: Tensor) -> Tensor:
        """(n, 3, c), index (n, k) → (n, 3, out)"""
        centre, neighbour = split_edge_map(torch.cat([self.linear.weight, self.direction.weight]), x.shape[-1])
        at_centre, at_neighbour = x @ centre, x @ neighbour
        if self.norm.kind == "instance":
            return self._instance_edges(at_centre, at_neighbour, index)
        # An rms factor f is one number a channel, so all but its sign s can wait until the lengths of all edges are
        # known: min(f ⟨p, d⟩, 0) = f · s min(s ⟨p, d⟩, 0).
        mean, squares = bent_mean(at_centre, at_neighbour, index, self.norm.gain.detach().sign(), SLOPE)
        return mean * self.norm(squares.unsqueeze(0) / index.numel())

    def _instance_edges(self, at_centre: Tensor, at_neighbour: Tensor, index: Tensor) -> Tensor:
        outputs = len(self.norm.gain)
        factor, bent = self._instance_factors(at_centre, at_neighbour, index), []
        for rows in _chunks(index, at_centre):
            edge = take(at_neighbour, index[rows]).add_(at_centre[rows].unsqueeze(1))  # (rows, k, 3, 2 out)
            p, d = edge.split([outputs, edge.shape[-1] - outputs], dim=-1)
            q = p * factor[rows].unsqueeze(-2)
            bent.append(torch.addcmul(q, self._bend(_dot(q, d), d).unsqueeze(-2), d).mean(1))
        return torch.cat(bent)

    def _instance_factors(self, at_centre: Tensor, at_neighbour: Tensor, index: Tensor) -> Tensor:
        """(n, k, out): the factors of all edges, which need the mean and the variance of all their lengths first."""
        outputs = len(self.norm.gain)
        at_centre, at_neighbour = at_centre[..., :outputs], at_neighbour[..., :outputs].contiguous()
        squares = []
        for rows in _chunks(index, at_centre):
            p = take(at_neighbour, index[rows]) + at_centre[rows].unsqueeze(1)
            squares.append(_dot(p, p))
        return self.norm(torch.cat(squares))

    @staticmethod
    def _bend(dot: Tensor, d: Tensor) -> Tensor:
        return dot.clamp(max=0) * (SLOPE - 1) / (_dot(d, d) + TINY)


class PlainLayer(nn.Module):
    """The same layer on plain features (n, 1, c), for the ablation: linear → instance norm → leaky ReLU, maximum."""

    def __init__(self, inputs: int, outputs: int, norm: str, shared_direction: bool = False) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, outputs, bias=False)
        self.gain = nn.Parameter(torch.ones(outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x: Tensor, weights: Tensor | None = None) -> Tensor:
        return self._activate(self.linear(x), weights)

    def gather(self, x: Tensor, index: Tensor) -> Tensor:
        counts = torch.bincount(index.flatten(), minlength=len(x)).to(x.dtype)
        return take(self(x, counts / index.numel()), index).amax(1)

    def edges(self, x: Tensor, index: Tensor) -> Tensor:
        centre, neighbour = split_edge_map(self.linear.weight, x.shape[-1])
        return self._activate(take(x @ neighbour, index) + (x @ centre).unsqueeze(1)).amax(1)

    def _activate(self, p: Tensor, weights: Tensor | None = None) -> Tensor:
        squeezed = p.squeeze(-2)
        mean = _mean(squeezed, weights)
        variance = _mean((squeezed - mean) ** 2, weights)
        return nn.functional.leaky_relu((p - mean) * (variance + 1e-5).rsqrt() * self.gain + self.bias, SLOPE)


def split_edge_map(weight: Tensor, channels: int) -> tuple[Tensor, Tensor]:
    """W [x_j − x_i, x_i] = (W₂ − W₁) x_i + W₁ x_j. weight : (out, ≤ 2c) → centre (c, out), neighbour (c, out)

    A map with fewer than 2c columns does not see the first channels of x_i, only how they differ from x_j's.
    """
    first, second = weight.split([channels, weight.shape[1] - channels], dim=1)
    seen = nn.functional.pad(second, (channels - second.shape[1], 0))
    return (seen - first).T, first.T


def take(x: Tensor, index: Tensor) -> Tensor:
    """Rows of x. (n, s, c), index (m, k) → (m, k, s, c)"""
    rows = x.flatten(1).index_select(0, index.flatten())
    return rows.view(*index.shape, *x.shape[1:])


class _Dot(torch.autograd.Function):
    """Inner product over space, written out: a reduction over a middle axis of 3 is slow, and so are its slices'."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor) -> Tensor:
        ctx.save_for_backward(a, b)
        x = a[..., 0, :] * b[..., 0, :]
        x.addcmul_(a[..., 1, :], b[..., 1, :])
        return x.addcmul_(a[..., 2, :], b[..., 2, :])

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor]:
        a, b = ctx.saved_tensors
        grad = grads[0].unsqueeze(-2)
        return grad * b, grad * a


def _dot(a: Tensor, b: Tensor) -> Tensor:
    """(..., 3, c), (..., 3, c or 1) → (..., c)"""
    return _Dot.apply(a, b.expand_as(a))


def _chunks(index: Tensor, x: Tensor) -> list[slice]:
    """Rows to work on at once, so that their edges stay in the cache. With gradients all: they are kept anyway."""
    rows = len(index)
    if not torch.is_grad_enabled():
        rows = max(1, CHUNK // (index.shape[1] * x[0].numel()))
    return [slice(i, i + rows) for i in range(0, len(index), rows)]


def _mean(x: Tensor, weights: Tensor | None) -> Tensor:
    """Mean over all but the channels. (..., c) → (c,)"""
    return x.flatten(0, -2).mean(0) if weights is None else weights @ x
