"""Where things lie that do not belong together: the groups in a row, loose parts behind them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cmnet.geometry.pose import Pose
from cmnet.geometry.types import Array
from cmnet.parts.part import Part
from cmnet.solving.assembly import Assembly

GAP = 0.15  # between neighbours, as a share of the largest group


def offsets(assembly: Assembly, parts: Sequence[Part]) -> Array:
    """(n, 3) float: how far each part is moved aside. The first group stays where it is."""
    shifts = np.zeros((len(parts), 3))
    rows = [*assembly.groups, *([i] for i in assembly.unplaced)]
    boxes = [_box(assembly, parts, members) for members in rows]
    if len(rows) < 2:
        return shifts
    gap = GAP * max(float((high - low).max()) for low, high in boxes)
    edge = boxes[0][1][0] + gap
    for members, (low, high) in zip(rows[1:], boxes[1:]):
        middle = (boxes[0][0] + boxes[0][1] - low - high) / 2
        shifts[members] = [edge - low[0], middle[1], middle[2]]
        edge += high[0] - low[0] + gap
    return shifts


def _box(assembly: Assembly, parts: Sequence[Part], members: Sequence[int]) -> tuple[Array, Array]:
    """The lowest and highest corner of the placed members."""
    placed = [Pose.from_matrix(assembly.poses[i]).apply(parts[i].vertices) for i in members]
    return np.min([p.min(axis=0) for p in placed], axis=0), np.max([p.max(axis=0) for p in placed], axis=0)
