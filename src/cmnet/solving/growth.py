"""One growth of groups: the merge that most joins agree on comes first, and nothing may run into anything else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from cmnet.geometry.pose import Pose, turned
from cmnet.geometry.types import Array, Bools, Ints
from cmnet.pairing.join import Join
from cmnet.solving.groups import Against, Group, Pair, Rules, odds_of
from cmnet.solving.witnesses import CHANCE, SURE, Table, Ways, agreeing, log_odds, log_weights, same_place, witnesses

PLACE = 3.0  # shifts within which a part lies in one place, however it is turned


@dataclass(frozen=True, eq=False)
class Problem:
    """What a growth starts from. Parts are points here: centres and a common tolerance.

    joins   : those that groups may rest on
    centres : (n, 3) float, of every part in its own coordinates
    shift   : how far apart agreeing joins may put a part's centre
    against : what the volumes of two parts say against a pose
    accept  : least probability of a merge
    relaxed : the same of parts that are known to belong together, if that is less
    start   : groups that hold together already; all other parts begin alone
    places  : whether it is enough that the place of a single part is probable, however it is turned there
    """

    joins: Sequence[Join]
    centres: Array
    shift: float
    against: Against = lambda i, j, T_i_j: 0.0
    accept: float = 0.5
    relaxed: float = 1.0
    start: Sequence[Group] = ()
    rules: Rules = field(default_factory=Rules)
    places: bool = False

    @cached_property
    def table(self) -> Table:
        return Table.of(self.joins, self.rules.touching)

    @property
    def worth(self) -> float:
        """The least confidence of a join that can ever help a merge, by leading it or by agreeing with it."""
        return min(CHANCE / (1 + CHANCE), self.accept)


@dataclass(frozen=True, eq=False)
class Merge:
    """One way to bring groups a and b together, and what speaks for it.

    joins    : places in the table, the one that gives the pose first
    log_odds : against all that it excludes; weight : logarithm of its weight, against no merge alone
    """

    a: int
    b: int
    T_a_b: Pose
    joins: tuple[int, ...]
    log_odds: float
    weight: float

    @property
    def rank(self) -> tuple[float, int]:
        """Rounded, since the order of a sum must not decide; equal ones by the table's order."""
        return round(self.log_odds, 9), -self.joins[0]


@dataclass(eq=False)
class Growth:
    """Merges groups until no merge is likely enough.

    banned : places of joins that no merge may rest on; they still speak against others
    total  : how much more speaks for all the merges than was needed
    R, t   : (n, 3, 3), (n, 3) float, every part in the frame of its group
    """

    problem: Problem
    banned: frozenset[int] = frozenset()
    total: float = 0.0
    merges: list[Merge] = field(default_factory=list)
    members: dict[int, list[int]] = field(default_factory=dict)
    R: Array = field(init=False)
    t: Array = field(init=False)

    def __post_init__(self) -> None:
        count = len(self.problem.centres)
        self.R, self.t = np.tile(np.eye(3), (count, 1, 1)), np.zeros((count, 3))
        self._home = np.arange(count)  # part → key of its group
        self._held: dict[int, tuple[Join, ...]] = {}  # key → joins that the group started with
        for group in self.problem.start:
            key = min(group.T)
            self._held[key] = group.joins
            for k, T in group.T.items():
                self.R[k], self.t[k], self._home[k] = T.R, T.t, key
        for k in range(count):
            self.members.setdefault(int(self._home[k]), []).append(k)
        self._open: dict[Pair, Ints] = {}  # joins between two groups that a merge may rest on
        self._best: dict[Pair, Merge] = {}
        self._sort_joins()
        for pair in self._open:
            self._judge(pair)

    def run(self) -> Growth:
        """Merge while there is a likely merge; the merges of untouched groups are not judged again."""
        while self._best:
            merge = max(self._best.values(), key=lambda merge: merge.rank)
            if self._clear(merge):
                self._apply(merge)
            else:
                self._refuse(merge)
        return self

    def groups(self) -> list[Group]:
        """All groups, single parts included, in the order of their first part."""
        joins = {key: list(self._held.get(key, ())) for key in self.members}
        for merge in self.merges:
            joins[int(self._home[merge.a])] += [self.problem.table.joins[k] for k in merge.joins]
        for key, held in self._held.items():
            if key not in self.members:
                joins[int(self._home[key])] += held
        return [
            Group({k: Pose(self.R[k], self.t[k]) for k in sorted(members)}, tuple(joins[key]))
            for key, members in sorted(self.members.items(), key=lambda item: min(item[1]))
        ]

    def _sort_joins(self) -> None:
        """Joins between groups, apart by whether a merge may rest on them; the others' confidence is summed up."""
        table, rules, count = self.problem.table, self.problem.rules, len(self.problem.centres)
        self._silent = np.zeros((count, count))  # confidence of the joins of two parts that no merge may rest on
        sorted_joins: dict[Pair, list[int]] = {}
        for k, (i, j) in enumerate(table.parts.tolist()):
            a, b = int(self._home[i]), int(self._home[j])
            wanted = table.confidence[k] >= self.problem.worth or _pair(i, j) in rules.touching
            if a != b and wanted and k not in self.banned:
                sorted_joins.setdefault(_pair(a, b), []).append(k)
            else:
                self._silent[[i, j], [j, i]] += table.confidence[k]
        self._open = {key: np.array(joins) for key, joins in sorted_joins.items()}
        silent = np.minimum(self._silent, SURE)
        self._unheard = silent / (1 - silent)  # their weight in a merge of two groups
        for key, members in self.members.items():
            self._unheard[key] = self._unheard[members].sum(axis=0)
        for key, members in self.members.items():
            self._unheard[:, key] = self._unheard[:, members].sum(axis=1)

    def _judge(self, key: Pair) -> None:
        """Find the best merge of two groups, if one is likely enough."""
        self._best.pop(key, None)
        table, rules, least, joins = self.problem.table, self.problem.rules, self._least(key), self._open[key]
        if not len(joins) or self._between(key, rules.apart):
            return
        alone = len(self.members[key[0]]) == len(self.members[key[1]]) == 1
        if alone and table.confidence[joins].sum() < least:  # spares most pairs
            return
        merge = self._merge(key)
        touch = any(_pair(*table.parts[k].tolist()) in rules.touching for k in merge.joins)
        if touch or merge.log_odds >= odds_of(least):
            self._best[key] = merge

    def _merge(self, key: Pair) -> Merge:
        a, b = key
        joins = self._open[key]
        ways = self._ways(key, joins)
        same = agreeing(ways, self.problem.shift)
        weights, speaks = log_weights(ways, same)
        in_all, scores = self._judged(key, ways, weights, same)
        scores = np.where(self._keeps_touching(key, joins, ways, same), np.round(scores, 9), -np.inf)
        lead = int(np.lexsort((-np.round(weights, 9), -scores))[0])  # in one place, the likeliest pose
        chosen = witnesses(ways, same, speaks, lead)
        T_a_b = Pose(ways.R[lead], ways.t[lead])
        return Merge(a, b, T_a_b, tuple(int(joins[k]) for k in chosen), float(scores[lead]), float(in_all[lead]))

    def _judged(self, key: Pair, ways: Ways, weights: Array, same: Bools) -> tuple[Array, Array]:
        """(leads,) float twice: weight and log odds of each merge, or of a single part's place, if that is enough."""
        alone = [name for name, group in zip("ab", key) if len(self.members[group]) == 1]
        places = alone and self.problem.places
        near = same_place(ways, PLACE * self.problem.shift, alone[-1]) if places else None
        return log_odds(weights, same, self._unheard[key], near)

    def _keeps_touching(self, key: Pair, joins: Ints, ways: Ways, same: Bools) -> Bools:
        """(leads,) bool: which merges rest on as many pairs that are known to touch as any does."""
        must = self._between(key, self.problem.rules.touching)
        if not must:
            return np.ones(len(same), dtype=bool)
        of_must = np.array([_pair(*pair) in must for pair in self.problem.table.parts[joins].tolist()])
        met = (ways.by_pair((same & of_must).astype(np.float64)) > 0).sum(axis=1)
        return np.asarray(met == met.max())

    def _ways(self, key: Pair, joins: Ints) -> Ways:
        """The pose of group b in group a that each of the joins implies."""
        table = self.problem.table
        i, j = table.parts[joins].T
        R = self.R[i] @ table.R[joins] @ self.R[j].swapaxes(1, 2)
        t = turned(self.R[i], table.t[joins]) + self.t[i] - turned(R, self.t[j])
        flip = self._home[i] != key[0]
        R[flip] = R[flip].swapaxes(1, 2)
        t[flip] = -turned(R[flip], t[flip])
        i, j = np.where(flip, j, i), np.where(flip, i, j)  # now i in a, j in b
        low, high = np.minimum(i, j), np.maximum(i, j)
        pairs, pair = np.unique(low * len(self.R) + high, return_inverse=True)
        silent = self._silent[pairs // len(self.R), pairs % len(self.R)]
        place_a, place_b = (turned(self.R[k], self.problem.centres[k]) + self.t[k] for k in (i, j))
        return Ways(R, t, table.confidence[joins], pair, place_a, place_b, silent)

    def _least(self, key: Pair) -> float:
        """The probability that a merge of two groups needs."""
        together = any({*key} <= {int(self._home[k]) for k in parts} for parts in self.problem.rules.together)
        return min(self.problem.accept, self.problem.relaxed) if together else self.problem.accept

    def _between(self, key: Pair, pairs: Iterable[Pair]) -> set[Pair]:
        """Those pairs of parts that have one part in either group."""
        return {pair for pair in pairs if _pair(int(self._home[pair[0]]), int(self._home[pair[1]])) == key}

    def _clear(self, merge: Merge) -> bool:
        """Whether more speaks for a merge than parts that run into each other speak against it."""
        first = {i: Pose(self.R[i], self.t[i]).inverse() for i in self.members[merge.a]}
        second = {j: merge.T_a_b @ Pose(self.R[j], self.t[j]) for j in self.members[merge.b]}
        trusted = self.problem.rules.trusted
        against = sum(
            self.problem.against(i, j, T_i_a @ T_a_j)
            for i, T_i_a in first.items()
            for j, T_a_j in second.items()
            if _pair(i, j) not in trusted
        )
        alone = odds_of(self.problem.table.joins[merge.joins[0]].sure)
        return against == 0 or against < max(merge.log_odds, alone)

    def _refuse(self, merge: Merge) -> None:
        """A join that puts one part into another is impossible: it speaks for nothing and against nothing."""
        key = (merge.a, merge.b)
        self._open[key] = self._open[key][self._open[key] != merge.joins[0]]
        self._judge(key)

    def _apply(self, merge: Merge) -> None:
        a, b = merge.a, merge.b
        self.total += merge.weight - odds_of(self._least((a, b)))
        moved = self.members.pop(b)
        self.R[moved], self.t[moved] = merge.T_a_b.R @ self.R[moved], merge.T_a_b.apply(self.t[moved])
        self.members[a] += moved
        self._home[moved] = a
        self._unheard[a] += self._unheard[b]
        self._unheard[:, a] = self._unheard[a]
        self.merges.append(merge)
        self._join_up(a, b)

    def _join_up(self, a: int, b: int) -> None:
        """Hand group b's open joins over to a, and judge all merges with a anew."""
        touched = set()
        for key in [key for key in self._open if a in key or b in key]:
            joins = self._open.pop(key)
            self._best.pop(key, None)
            (other,) = {*key} - {a, b} or {a}
            if other != a:
                touched.add(_pair(a, other))
                self._open.setdefault(_pair(a, other), np.zeros(0, dtype=np.int64))
                self._open[_pair(a, other)] = np.union1d(self._open[_pair(a, other)], joins)
        for key in touched:
            self._judge(key)


def _pair(i: int, j: int) -> Pair:
    return (i, j) if i < j else (j, i)
