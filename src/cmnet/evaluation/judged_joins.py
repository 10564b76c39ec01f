"""Which joins are right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cmnet.evaluation.cases import Case
from cmnet.geometry.pose import Pose
from cmnet.pairing.join import Join

TURN = 5.0  # degrees by which a right join, or a part in its place, may be off, ...
SHIFT = 0.02  # ... and how far, at the centre of the smaller part, as a share of the object's largest side


@dataclass(frozen=True)
class JudgedJoin:
    """A join and the truth about it."""

    parts: tuple[int, int]  # of the fracture
    confidence: float | None
    used: bool
    turn: float  # degrees off; infinite where a part is foreign
    shift: float  # of the smaller part's centre, as a share of the object's largest side

    @property
    def right(self) -> bool:
        return self.turn < TURN and self.shift < SHIFT


def judge_joins(case: Case, joins: Sequence[Join]) -> list[JudgedJoin]:
    """Compare joins between parts of a puzzle with its solution."""
    return [_judge(case, join) for join in joins]


def _judge(case: Case, join: Join) -> JudgedJoin:
    i, j = join.parts
    if not case.own[[i, j]].all():
        return JudgedJoin((case.parts[i], case.parts[j]), join.confidence, join.used, np.inf, np.inf)
    T, true = join.T_i_j, Pose.from_matrix(case.truth[i]).inverse() @ Pose.from_matrix(case.truth[j])
    if case.puzzle.points[i].area < case.puzzle.points[j].area:
        T, true = T.inverse(), true.inverse()
    # Parts enter centred, so the moved part's centre goes to the translation itself.
    shift = float(np.linalg.norm(T.t - true.t)) / case.size
    return JudgedJoin((case.parts[i], case.parts[j]), join.confidence, join.used, T.angle_to(true), shift)
