"""From constraints to the rules that groups grow by, and what of them could not be kept in the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from cmnet.geometry.pose import Pose
from cmnet.geometry.types import Array
from cmnet.pairing.joins import Join
from cmnet.solving.constraints import Constraints, Touch
from cmnet.solving.contradictions import settle
from cmnet.solving.groups import FREE, Group, Pair, Rules


@dataclass(frozen=True, eq=False)
class Plan:
    """What the solver starts from.

    joins    : all of them, with those that are given
    believed : those that groups may rest on
    start    : the fixed parts, which hold together already
    fixed    : T_assembled_part
    """

    joins: list[Join]
    believed: list[Join]
    rules: Rules = FREE
    start: list[Group] = field(default_factory=list)
    fixed: dict[int, Pose] = field(default_factory=dict)
    constraints: Constraints | None = None
    notes: list[str] = field(default_factory=list)


def plan(constraints: Constraints | None, joins: Sequence[Join], centres: Array, shift: float) -> Plan:
    """Settle the constraints among themselves and lay them out for the solver.

    centres : (n, 3) float, of every part in its own coordinates; shift : by which poses that agree may put them apart
    """
    if constraints is None:
        return Plan(list(joins), list(joins))
    settled, notes = settle(constraints, centres, shift)
    given = [_given(touch, joins) for touch in settled.join if touch.T_i_j is not None]
    known = {join.parts for join in given}
    listed = [*joins, *(join for join in given if join not in joins)]
    out = known | set(settled.forbid)
    believed = [*given, *(join for join in joins if _pair(join) not in out)]
    rules = Rules(
        apart=frozenset(settled.different),
        together=tuple(frozenset(parts) for parts in settled.same),
        touching=frozenset(touch.parts for touch in settled.join),
        trusted=frozenset(known),
    )
    fixed = dict(settled.fix)
    return Plan(listed, believed, rules, _fixed_groups(fixed, rules.apart), fixed, settled, notes)


def _given(touch: Touch, joins: Sequence[Join]) -> Join:
    """The join that a constraint states; the same object where it stands among the joins already."""
    assert touch.T_i_j is not None
    for join in joins:
        same = join.parts == touch.parts and np.allclose(join.T_i_j.matrix(), touch.T_i_j.matrix())
        if same and join.confidence == 1.0:
            return join
    return Join(touch.parts, touch.T_i_j, 1.0, contact_area=None, gap_rms=None, penetration=None)


def _fixed_groups(fixed: dict[int, Pose], apart: frozenset[Pair]) -> list[Group]:
    """One group of all fixed parts, unless some of them belong to different objects."""
    groups: list[dict[int, Pose]] = []
    for part, T in sorted(fixed.items()):
        home = next((g for g in groups if not apart & {tuple(sorted((part, k))) for k in g}), None)
        if home is None:
            groups.append(home := {})
        home[part] = T
    return [Group(T) for T in groups]


def unmet(plan: Plan, groups: Sequence[Group]) -> list[str]:
    """A sentence for every constraint that the groups do not keep."""
    if plan.constraints is None:
        return []
    names, home = plan.constraints.names, {k: n for n, group in enumerate(groups) for k in group.T}
    used = {_pair(join) for group in groups for join in group.joins}
    found = {_pair(join) for join in plan.believed}
    notes = []
    for i, j in dict.fromkeys(touch.parts for touch in plan.constraints.join):
        if (i, j) not in used and not {i, j} <= plan.fixed.keys():
            why = "every way found runs into a part or contradicts surer joins" if (i, j) in found else "no way found"
            notes.append(f"join {names[i]} and {names[j]} could not be obeyed: {why}.")
    for parts in plan.constraints.same:
        if len({home[k] for k in parts}) > 1:
            some = f"same {_listed(names[k] for k in parts)} could not be obeyed"
            what = "all parts could not be made one object" if len(parts) == len(names) else some
            notes.append(f"{what}: {_split(parts, home, names)}.")
    return notes


def _split(parts: Iterable[int], home: dict[int, int], names: Sequence[str]) -> str:
    """Which of the parts came together."""
    sets: dict[int, list[str]] = {}
    for k in parts:
        sets.setdefault(home[k], []).append(names[k])
    return "no joins connect " + " with ".join(_listed(some) for some in sets.values())


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def _pair(join: Join) -> Pair:
    return min(join.parts), max(join.parts)
