"""The solver that uses every join: grow groups by agreement, doubt what they rest on, even out their loops.

A wrong join that is surer than the right ones is taken first, and those that contradict it are left over. So where
sure joins are left over, the merges around them that rest on a single join are banned one after the other, and the
growth without that join is kept if more speaks for it in all.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from cmnet.geometry.types import Array
from cmnet.solving.averaging import average
from cmnet.solving.groups import Group
from cmnet.solving.growth import Growth, Problem
from cmnet.solving.shonan import Edge, shonan

DOUBTS = 16  # growths that are tried in all


def solve(problem: Problem, length: float, fixed: Collection[int] = ()) -> list[Group]:
    """All groups in the end, single parts included, in the order of their first part.

    length : of a part, weighs turns against shifts; fixed : parts that stay where their group has them
    """
    return [even_out(group, problem.centres, length, [k for k in fixed if k in group.T]) for group in grow(problem)]


def grow(problem: Problem) -> list[Group]:
    """The groups for which most speaks, of growths each without one of the joins that the best so far rests on."""
    best = Growth(problem).run()
    tried: set[int] = set()
    for _ in range(DOUBTS):
        suspect = next((k for k in _suspects(best) if k not in tried), None)
        if suspect is None:
            break
        tried.add(suspect)
        other = Growth(problem, best.banned | {suspect}).run()
        if other.total > best.total + 1e-9:
            best = other
    return best.groups()


def _suspects(growth: Growth) -> list[int]:
    """Joins that a merge rests on alone, where sure joins are left over; first those with most left over around."""
    table, rules = growth.problem.table, growth.problem.rules
    used = {k for merge in growth.merges for k in merge.joins}
    sure = np.flatnonzero(table.confidence >= growth.problem.accept / 2)
    left = np.zeros(len(growth.problem.centres))
    for k in sure:
        if k not in used and k not in growth.banned:
            left[table.parts[k]] += table.confidence[k]
    alone = [merge.joins[0] for merge in growth.merges if len(merge.joins) == 1]
    doubtful = {k: float(left[table.parts[k]].sum() - table.confidence[k]) for k in alone}
    known = {k for k in alone if tuple(sorted(table.parts[k].tolist())) in rules.touching}
    return sorted((k for k in alone if k not in known and left[table.parts[k]].any()), key=lambda k: (-doubtful[k], k))


def even_out(group: Group, centres: Array, length: float, held: Collection[int] = ()) -> Group:
    """The group with poses that all its joins agree on best; held parts stay, or else the first part does."""
    if len(group.T) == 1:
        return group
    edges = [Edge(*join.parts, join.T_i_j, join.sure) for join in group.joins]
    T = shonan(group.T, edges, centres, length, list(held))
    return average(Group(T, group.joins), centres, length, held)
