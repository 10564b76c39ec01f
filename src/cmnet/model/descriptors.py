"""From the backbone's features to what two parts are compared by (supplement B.2–B.4)."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import batch_norm, leaky_relu, normalize

from cmnet.model.vector_neurons import SLOPE


@dataclass(frozen=True)
class Descriptors:
    """What the network knows of one part. Computed once, whatever number of parts it is compared with.

    points    : (n, 3) float, coordinates of the part as given
    normals   : (n, 3) float
    frames    : (n, 3, 3) float, rows are the axes: F x are x's local coordinates
    shape     : (n, d) float, alike on mating surfaces
    occupancy : (n, d) float, opposite on mating surfaces
    mean, maximum : (3D,) float, pooled invariant features for the attention of a pair
    unit      : length of one network unit in the given coordinates
    breaking  : (n,) float in [0, 1], the probability that a point lies on a break; None without a break head
    """

    points: Tensor
    normals: Tensor
    frames: Tensor
    shape: Tensor
    occupancy: Tensor
    mean: Tensor
    maximum: Tensor
    unit: float = 1.0
    breaking: Tensor | None = None

    def to(self, device: torch.device | str) -> Descriptors:
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        moved: dict[str, Any] = {name: x.to(device) for name, x in values.items() if isinstance(x, Tensor)}
        return replace(self, **moved)


def gram_schmidt(vectors: Tensor) -> Tensor:
    """Two vectors → a right-handed frame whose rows are its axes. (n, 2, 3) float → (n, 3, 3) float in SO(3)

    Parallel or vanishing vectors get a frame too (an arbitrary one), never a NaN.
    """
    x = normalize(vectors[:, 0], dim=1, eps=1e-12)
    x = torch.where((x * x).sum(1, keepdim=True) > 0.5, x, _axis(x, 0))
    y = vectors[:, 1] - (vectors[:, 1] * x).sum(1, keepdim=True) * x
    size = (vectors[:, 1] ** 2).sum(1, keepdim=True)
    open_choice = (y * y).sum(1, keepdim=True) <= 1e-10 * size + 1e-30
    smallest = nn.functional.one_hot(x.detach().abs().argmin(1), 3).to(x)
    other = smallest - (smallest * x).sum(1, keepdim=True) * x
    y = normalize(torch.where(open_choice, other, y), dim=1, eps=1e-20)
    return torch.stack([x, y, torch.cross(x, y, dim=1)], dim=1)


def _axis(like: Tensor, i: int) -> Tensor:
    axis = torch.zeros_like(like)
    axis[:, i] = 1
    return axis


class Head(nn.Module):
    """Three linear maps, each with instance norm over the part's points and an activation. (n, f) → (n, d)"""

    def __init__(self, inputs: int, outputs: int, last: str) -> None:
        super().__init__()
        self.last = last
        sizes = (inputs, outputs, outputs)
        self.layers = nn.ModuleList([nn.Linear(size, outputs, bias=False) for size in sizes])

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers[:-1]:
            x = leaky_relu(_instance_norm(layer(x)), SLOPE)
        x = _instance_norm(self.layers[-1](x))
        return torch.tanh(x) if self.last == "tanh" else leaky_relu(x, SLOPE)


class BreakHead(nn.Module):
    """Whether a point lies on a break, from its invariant features alone. (n, f) → (n,) in [0, 1]"""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(inputs, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, 1)])

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers[:-1]:
            x = leaky_relu(layer(x), SLOPE)
        return torch.sigmoid(self.layers[-1](x)).squeeze(1)


def _instance_norm(x: Tensor) -> Tensor:
    """Over the points, without learnable scale. (n, d) → (n, d)"""
    return batch_norm(x, None, None, training=True)  # the points of one part are the batch


class ChannelAttention(nn.Module):
    """Soft weights of the descriptors' channels for one pair, from pooled statistics of both parts.

    Shapes: two Descriptors → shape weights (d,), occupancy weights (d,)
    """

    def __init__(self, inputs: int, hidden: int, outputs: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(inputs, hidden, bias=False)
        self.out = nn.Linear(hidden, 2 * outputs, bias=False)

    def forward(self, p: Descriptors, q: Descriptors) -> tuple[Tensor, Tensor]:
        n, m = len(p.points), len(q.points)
        pooled = torch.stack([(n * p.mean + m * q.mean) / (n + m), torch.maximum(p.maximum, q.maximum)])
        logits = self.out(leaky_relu(self.hidden(pooled), SLOPE)).sum(0)
        shape, occupancy = torch.sigmoid(normalize(logits, dim=0)).chunk(2)
        return shape, occupancy
