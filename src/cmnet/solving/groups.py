"""Growing groups of parts: the merge that most joins agree on comes first, and nothing may run into anything else.

Joins of different pairs are independent witnesses. Two wrong ones rarely agree on a pose, so for a merge of groups A
and B the evidence multiplies: the odds of every join that agrees with it, times 1 / CHANCE for each after the first,
times the probability that a pair whose joins all disagree has been misjudged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from cmnet.geometry.pose import Pose
from cmnet.pairing.joins import Join

CHANCE = 0.02  # that two wrong joins imply the same pose
TURN = 5.0  # degrees that agreeing joins may differ by
SURE = 0.98  # no single join counts for more

Fits = Callable[[int, int, Pose], bool]  # (i, j, T_i_j): whether parts i and j may lie like that


@dataclass(frozen=True, eq=False)
class Group:
    """Parts that hold together; T[i] maps part i's coordinates to the group's."""

    T: dict[int, Pose]
    joins: tuple[Join, ...] = ()


@dataclass(frozen=True, eq=False)
class _Merge:
    """One way to bring groups a and b together, and what speaks for it."""

    a: int
    b: int
    T_a_b: Pose
    joins: tuple[Join, ...]
    log_odds: float


@dataclass
class Grower:
    """Merges groups until no merge is likely enough. Parts are points here: centres and a common tolerance.

    centres : (n, 3) float, of every part in its own coordinates
    shift   : how far apart agreeing joins may put a part's centre
    fits    : whether two parts may lie in a given pose
    accept  : least probability of a merge
    """

    joins: Sequence[Join]
    centres: np.ndarray
    shift: float
    fits: Fits
    accept: float = 0.5
    groups: dict[int, Group] = field(init=False)
    home: dict[int, int] = field(init=False)  # part → key of its group

    def __post_init__(self) -> None:
        count = len(self.centres)
        self.groups = {i: Group({i: Pose.identity()}) for i in range(count)}
        self.home = {i: i for i in range(count)}

    def grow(self) -> list[Group]:
        """All groups in the end, single parts included, in the order of their first part."""
        refused: set[int] = set()  # joins whose merge would make parts run into each other
        while (merge := self._best(refused)) is not None:
            if self._clear(merge):
                self._apply(merge)
            else:
                refused.update(id(join) for join in merge.joins)
        return sorted(self.groups.values(), key=lambda group: min(group.T))

    def _best(self, refused: set[int]) -> _Merge | None:
        open_joins: dict[tuple[int, int], list[Join]] = {}
        for join in self.joins:
            a, b = sorted((self.home[join.parts[0]], self.home[join.parts[1]]))
            if a != b and id(join) not in refused:
                open_joins.setdefault((a, b), []).append(join)
        merges = [self._merge(a, b, lead, joins) for (a, b), joins in open_joins.items() for lead in joins]
        least = np.log(self.accept / (1 - self.accept))
        likely = [merge for merge in merges if merge.log_odds >= least]
        return max(likely, key=lambda merge: (merge.log_odds, merge.joins[0].contact_area), default=None)

    def _merge(self, a: int, b: int, lead: Join, joins: list[Join]) -> _Merge:
        """The merge that `lead` implies, with every other join of the two groups for or against it."""
        T_a_b = self._implied(a, lead)
        by_pair: dict[tuple[int, int], list[Join]] = {}
        for join in joins:
            by_pair.setdefault(join.parts, []).append(join)
        chosen: list[Join] = []
        log_odds = 0.0
        for pair in by_pair.values():
            agreeing = [join for join in pair if self._agree(a, b, T_a_b, join)]
            if agreeing:
                best = max(agreeing, key=lambda join: join.confidence)
                p = min(sum(join.confidence for join in agreeing), SURE)
                log_odds += np.log(p / (1 - p)) + (np.log(1 / CHANCE) if chosen else 0.0)
                chosen.append(best)
            else:
                log_odds += np.log(1 - min(sum(join.confidence for join in pair), SURE))
        chosen.sort(key=lambda join: -join.confidence)
        return _Merge(a, b, T_a_b, tuple(chosen), float(log_odds))

    def _implied(self, a: int, join: Join) -> Pose:
        """The pose of the other group in group a that a join between them implies."""
        i, j = join.parts
        T_a_b = self._group_of(i).T[i] @ join.T_i_j @ self._group_of(j).T[j].inverse()
        return T_a_b if self.home[i] == a else T_a_b.inverse()

    def _agree(self, a: int, b: int, T_a_b: Pose, join: Join) -> bool:
        other = self._implied(a, join)
        if T_a_b.angle_to(other) > TURN:
            return False
        members = self.groups[b].T
        centres = np.array([T.apply(self.centres[k]) for k, T in members.items()])
        return bool(np.linalg.norm(T_a_b.apply(centres) - other.apply(centres), axis=1).max() <= self.shift)

    def _clear(self, merge: _Merge) -> bool:
        """Whether no part of one group runs into any part of the other."""
        return all(
            self.fits(i, j, T_i.inverse() @ merge.T_a_b @ T_j)
            for i, T_i in self.groups[merge.a].T.items()
            for j, T_j in self.groups[merge.b].T.items()
        )

    def _apply(self, merge: _Merge) -> None:
        first, second = self.groups[merge.a], self.groups.pop(merge.b)
        moved = {j: merge.T_a_b @ T for j, T in second.T.items()}
        self.groups[merge.a] = Group({**first.T, **moved}, (*first.joins, *second.joins, *merge.joins))
        for j in moved:
            self.home[j] = merge.a

    def _group_of(self, part: int) -> Group:
        return self.groups[self.home[part]]
