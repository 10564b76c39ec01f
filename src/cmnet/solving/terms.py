"""From constraints to the rules that groups grow by, and what of them could not be kept in the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from cmnet.geometry.pose import Pose
from cmnet.geometry.types import Array
from cmnet.pairing.join import Join
from cmnet.solving.constraints import Constraints
from cmnet.solving.contradictions import without_contradictions
from cmnet.solving.groups import Group, Pair, Rules
from cmnet.solving.witnesses import TURN


@dataclass(frozen=True, eq=False)
class Terms:
    """Constraints as the solver obeys them.

    given       : joins whose pose is stated
    barred      : pairs that are not joined directly, unless by a given join
    start       : the fixed parts, which hold together already
    fixed       : T_assembled_part
    constraints : what is left of them, settled among themselves; notes : what was not
    """

    given: tuple[Join, ...] = ()
    barred: frozenset[Pair] = frozenset()
    rules: Rules = field(default_factory=Rules)
    start: tuple[Group, ...] = ()
    fixed: dict[int, Pose] = field(default_factory=dict)
    constraints: Constraints = field(default_factory=Constraints)
    notes: tuple[str, ...] = ()

    def listed(self, joins: Sequence[Join]) -> list[Join]:
        """The joins, and those given ones that are not among them."""
        numbers = {join.number for join in joins}
        return [*joins, *(join for join in self.given if join.number not in numbers)]

    def believed(self, joins: Sequence[Join], centres: Array, shift: float) -> list[Join]:
        """Those that groups may rest on. shift : by which poses of a part that are one may put its centre apart"""
        wrong = [(touch.parts, touch.T_i_j) for touch in self.constraints.wrong if touch.T_i_j is not None]

        def refuted(join: Join) -> bool:
            T = join.T_i_j if join.parts == join.pair else join.T_i_j.inverse()
            return any(p == join.pair and T.is_near(T_p, TURN, shift, centres[p[1]]) for p, T_p in wrong)

        others = (join for join in joins if join.pair not in self.barred and not refuted(join))
        return [*self.given, *others]


def terms(constraints: Constraints | None, centres: Array, shift: float) -> Terms:
    """Settle the constraints among themselves and lay them out for the solver.

    centres : (n, 3) float, of every part in its own coordinates; shift : by which poses that agree may put them apart
    """
    if constraints is None:
        return Terms()
    settled, notes = without_contradictions(constraints, centres, shift)
    # Numbers below zero: all that is found is counted from zero on.
    given = tuple(
        Join(touch.parts, touch.T_i_j, 1.0, None, None, None, number=-2 - n)
        for n, touch in enumerate(settled.join)
        if touch.T_i_j is not None
    )
    known = frozenset(join.parts for join in given)
    rules = Rules(
        apart=frozenset(settled.different),
        together=tuple(frozenset(parts) for parts in settled.same),
        touching=frozenset(touch.parts for touch in settled.join),
        trusted=known,
    )
    fixed = dict(settled.fix)
    start = tuple(_fixed_groups(fixed, rules.apart))
    return Terms(given, known | frozenset(settled.forbid), rules, start, fixed, settled, tuple(notes))


def _fixed_groups(fixed: dict[int, Pose], apart: frozenset[Pair]) -> list[Group]:
    """One group of all fixed parts, unless some of them belong to different objects."""
    groups: list[dict[int, Pose]] = []
    for part, T in sorted(fixed.items()):
        home = next((g for g in groups if not apart & {tuple(sorted((part, k))) for k in g}), None)
        if home is None:
            groups.append(home := {})
        home[part] = T
    return [Group(T) for T in groups]


def unmet(terms: Terms, groups: Sequence[Group], believed: Sequence[Join]) -> list[str]:
    """A sentence for every constraint that the groups, single parts included, do not keep."""
    names, home = terms.constraints.names, {k: n for n, group in enumerate(groups) for k in group.T}
    used = {join.pair for group in groups for join in group.joins}
    found = {join.pair for join in believed}
    notes = []
    for i, j in dict.fromkeys(touch.parts for touch in terms.constraints.join):
        if (i, j) not in used and not {i, j} <= terms.fixed.keys():
            why = "every way found runs into a part or contradicts surer joins" if (i, j) in found else "no way found"
            notes.append(f"join {names[i]} and {names[j]} could not be obeyed: {why}.")
    for parts in terms.constraints.same:
        if len({home[k] for k in parts}) > 1:
            some = f"same {', '.join(names[k] for k in parts)} could not be obeyed"
            what = "all parts could not be made one object" if len(parts) == len(names) else some
            notes.append(f"{what}: {_split(parts, home, names)}.")
    return notes


def _split(parts: Iterable[int], home: dict[int, int], names: Sequence[str]) -> str:
    """Which of the parts came together."""
    sets: dict[int, list[str]] = {}
    for k in parts:
        sets.setdefault(home[k], []).append(names[k])
    return "no joins connect " + " with ".join(", ".join(some) for some in sets.values())
