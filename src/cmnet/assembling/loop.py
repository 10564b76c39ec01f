"""The loop that runs the plan: match, solve, until nothing changes any more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from cmnet.assembling.clashes import refusals
from cmnet.assembling.match import matched
from cmnet.assembling.passes import Judge, Pass
from cmnet.assembling.settle import settle
from cmnet.assembling.state import State
from cmnet.assembling.steps import parts_across
from cmnet.assembling.uncertainty import with_uncertainties
from cmnet.pairing.join import Join
from cmnet.solving.assembly import Assembly, to_assembly
from cmnet.solving.groups import Group, Pair
from cmnet.solving.growth import Problem
from cmnet.solving.solve import solve
from cmnet.solving.terms import unmet


def run(passes: Sequence[Pass], state: State) -> State:
    """One pass after the other."""
    for step in passes:
        if step.applies(state) and step.begin(state):
            if step.again:
                merge(state, step)
            rounds(state, step)
    return state


def rounds(state: State, step: Pass) -> None:
    """Match and solve until nothing changes any more."""
    for _ in range(step.rounds if step.who else 0):
        new = matched(state, step)
        if not new and step.judge is not Judge.PAIR:
            break
        count = len(state.all_groups())
        keep(state, step, new)
        merge(state, step)
        if len(state.all_groups()) == count:
            break


def merge(state: State, step: Pass) -> None:
    """Solve by all candidates, from the groups that hold already."""
    begun, rules, against = state.groups, state.terms.rules, state.clashes(step.solid)
    problem = Problem(
        state.believed(), state.centres, state.shift, against, step.accept, step.relaxed, begun, rules, step.places
    )
    groups = solve(problem, state.unit, state.terms.fixed)
    if step.settles:
        same = {frozenset(group.T) for group in begun}
        groups = [g if frozenset(g.T) in same else _settled(state, g, step.scales) for g in groups]
    state.take(groups)


def _settled(state: State, group: Group, scales: Sequence[str]) -> Group:
    """The group, settled on its surfaces, or as it was settled before."""
    fixed = [k for k in state.terms.fixed if k in group.T]
    asked = repr((scales, fixed, [*group.T], [join.number for join in group.joins])).encode()
    asked += b"".join(T.matrix().tobytes() for T in group.T.values())
    if asked not in state.memo.settled:
        far, close = (state.surfaces(name) for name in scales)
        state.memo.settled[asked] = settle(group, far, close, fixed).T
    return Group(state.memo.settled[asked], group.joins)


def keep(state: State, step: Pass, new: Sequence[Join]) -> None:
    """Of any two groups, or of two parts, the new joins or those that were known: their candidates have competed.

    Between two groups all that was known of their parts has been tried as a whole: the new joins alone count if they
    are sure enough for a merge, or surer than what was known. Between two parts that look counts that is the surer one.
    """
    if step.judge is Judge.PAIR:
        state.joins = list(new)
        return
    home = {k: number for number, group in enumerate(state.all_groups()) for k in group.T}
    apart = step.who is parts_across
    place: Callable[[int], int] = (lambda k: k) if apart else home.__getitem__
    known, found = (_sorted(joins, place) for joins in (state.joins, new))

    def counts(pair: Pair, joins: Sequence[Join]) -> bool:
        before = known.get(pair, ())
        if apart:
            return not any(join.used for join in before) and _top(joins) > _top(before)
        return _top(joins) >= min(_top(before), step.enough)

    better = {pair: joins for pair, joins in found.items() if counts(pair, joins)}
    state.joins = [join for joins in {**known, **better}.values() for join in joins]


def _sorted(joins: Sequence[Join], place: Callable[[int], int]) -> dict[Pair, list[Join]]:
    """The joins by where their two parts are at home."""
    sets: dict[Pair, list[Join]] = {}
    for join in joins:
        a, b = sorted(map(place, join.parts))
        sets.setdefault((a, b), []).append(join)
    return sets


def _top(joins: Sequence[Join]) -> float:
    return max((join.sure for join in joins), default=0.0)


def finished(state: State, names: Sequence[str]) -> Assembly:
    """The answer, with what was refused and how exactly everything lies. names : of the parts"""
    groups, terms = state.all_groups(), state.terms
    notes = [*terms.notes, *unmet(terms, groups, state.believed())]
    assembly = to_assembly(state.groups, len(names), state.joins, notes)
    if state.open:
        refused = refusals(groups, state.joins, state.clashes(("first", "coarse")), state.acceptance.refused)
        notes = [*notes, *(refusal.sentence(names) for refusal in refused)]
        assembly = replace(assembly, refused=refused, notes=notes)
    fixed = [k for k, T in terms.fixed.items() if np.allclose(assembly.poses[k], T.matrix())]
    return with_uncertainties(assembly, state.parts, fixed)
