"""What was computed once and holds as long as the parts are the same: what groups have in common, how they settle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from cmnet.geometry.pose import Pose
from cmnet.geometry.types import Array
from cmnet.pairing.join import Join
from cmnet.solving.groups import Group

STILL_TURN, STILL_SHIFT = 0.5, 0.003  # degrees and units by which parts of one group may lie otherwise

Key = frozenset[int]  # the parts of a group
Two = tuple[Group, Group]
Question = tuple[str, frozenset[Key]]  # how two groups were compared, and which


@dataclass(frozen=True, eq=False)
class Answer:
    """The joins of two groups, whose parts lay so. T : of every part, in its group"""

    T: dict[int, Pose]
    joins: tuple[Join, ...]


@dataclass(eq=False)
class Memo:
    """Results by what was asked. Joins are numbered as they are found."""

    answers: dict[Question, Answer] = field(default_factory=dict)
    settled: dict[bytes, dict[int, Pose]] = field(default_factory=dict)
    volumes: dict[tuple[str, ...], dict[tuple[int, int, bytes], float]] = field(default_factory=dict)
    count: int = 0

    def keep(self, kind: str, pair: Two, joins: Sequence[Join]) -> Sequence[Join]:
        """The joins that were found, with their numbers."""
        found = tuple(replace(join, number=self.count + n) for n, join in enumerate(joins))
        self.count += len(found)
        self.answers[question(kind, pair)] = Answer({**pair[0].T, **pair[1].T}, found)
        return found

    def find(self, kind: str, pair: Two, centres: Array, unit: float) -> Sequence[Join] | None:
        """The joins that were found before; None: it was not asked, or the groups have changed since."""
        known = self.answers.get(question(kind, pair))
        if known is None or not all(_stands(known.T, group.T, centres, STILL_SHIFT * unit) for group in pair):
            return None
        return known.joins

    def renamed(self, names: dict[int, int]) -> Memo:
        """With other indices of parts, and without all that is of parts that have none."""
        answers = {}
        for (kind, groups), answer in self.answers.items():
            if answer.T.keys() <= names.keys():
                parts = frozenset(frozenset(names[k] for k in group) for group in groups)
                T = {names[k]: pose for k, pose in answer.T.items()}
                joins = tuple(replace(j, parts=(names[j.parts[0]], names[j.parts[1]])) for j in answer.joins)
                answers[kind, parts] = Answer(T, joins)
        return Memo(answers, count=self.count)


def question(kind: str, pair: Two) -> Question:
    return kind, frozenset(frozenset(group.T) for group in pair)


def _stands(known: dict[int, Pose], T: dict[int, Pose], centres: Array, shift: float) -> bool:
    """Whether the parts of a group lie as they did, seen from the first of them."""
    first = min(T)
    was, now = known[first].inverse(), T[first].inverse()
    return all((now @ T[k]).is_near(was @ known[k], STILL_TURN, shift, centres[k]) for k in T if k != first)
