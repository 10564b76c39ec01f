"""Everything about a part's points that depends on coordinates alone: levels, neighbours, interpolation."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from numpy.typing import NDArray
from torch import Tensor

from cmnet.errors import InputError
from cmnet.geometry.neighbors import farthest_points, interpolation, nearest
from cmnet.geometry.types import Floats

LEVELS = 4
FEWEST_POINTS = 2**LEVELS


@dataclass(frozen=True)
class Pyramid:
    """Indices that take features between a part's points (level 0) and three times halved subsets of them.

    graph  : per level, (n_l, k) neighbours within the level (level 0 only, if the later graphs are in features)
    down   : per step, (n_{l+1}, k) neighbours of the coarse points among the fine ones
    up     : per step, (n_l, 3) neighbours of the fine points among the coarse ones
    weight : per step, (n_l, 3) their interpolation weights
    """

    graph: tuple[Tensor, ...]
    down: tuple[Tensor, ...]
    up: tuple[Tensor, ...]
    weight: tuple[Tensor, ...]


def build_pyramid(points: Tensor, neighbors: int, down_neighbors: int, all_graphs: bool) -> Pyramid:
    """points : (n, 3) float, at least 16 of them"""
    if len(points) < FEWEST_POINTS:
        raise InputError(f"a part needs at least {FEWEST_POINTS} points, got {len(points)}; sample it more densely")
    xyz: Floats = points.detach().cpu().numpy()
    order = farthest_points(xyz, len(xyz) // 2)
    # A prefix of a farthest-point order is one itself, so one order serves all levels.
    levels = [xyz, *(xyz[order[: len(xyz) >> level]] for level in range(1, LEVELS))]
    steps = list(pairwise(levels))
    blends = [interpolation(fine, coarse) for fine, coarse in steps]

    def tensor(array: NDArray) -> Tensor:
        return torch.from_numpy(array).to(points.device)

    return Pyramid(
        graph=tuple(tensor(nearest(p, p, neighbors)[1]) for p in (levels if all_graphs else levels[:1])),
        down=tuple(tensor(nearest(coarse, fine, down_neighbors)[1]) for fine, coarse in steps),
        up=tuple(tensor(index) for index, _ in blends),
        weight=tuple(tensor(weight).to(points.dtype) for _, weight in blends),
    )
