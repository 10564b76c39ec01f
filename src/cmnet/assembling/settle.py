"""A group settles on its surfaces, all parts at once: worn joins are inexact, and what hangs on them drifts."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from cmnet.pairing.align.joint_icp import Body, settled_together
from cmnet.pairing.surface.surface import Surface
from cmnet.solving.groups import Group, Pair


def settle(group: Group, far: Sequence[Surface], close: Sequence[Surface], fixed: Collection[int] = ()) -> Group:
    """The group, settled on what its joins were found by, and then more closely; fixed parts stay."""
    if len(group.T) == 1:
        return group
    held = [k for k in fixed if k in group.T]
    after = settle_on(close, settle_on(far, group, held), held)
    return without_slips(group, after, close, held)


def settle_on(surfaces: Sequence[Surface], group: Group, held: Collection[int] = ()) -> Group:
    """The group with its parts moved, all together, to where their surfaces meet best.

    held : parts that stay; none: the first part does
    """
    parts = sorted(group.T)
    stays = [n for n, k in enumerate(parts) if k in held] or [0]
    T = settled_together([Body.of(surfaces[k]) for k in parts], [group.T[k] for k in parts], stays)
    return Group(dict(zip(parts, T)), group.joins)


def without_slips(before: Group, after: Group, surfaces: Sequence[Surface], held: Collection[int] = ()) -> Group:
    """The settled group, in which crumbs that slipped off their places stay there: hardly anything holds them.

    They go with the part that their surest join is with; if that one slipped, too, nothing settles.
    """
    slipped: set[int] = set()
    for join in before.joins:
        if _come_apart(before, after, join.parts, surfaces):
            slipped |= {min((k for k in join.parts if k not in held), key=lambda k: surfaces[k].area)}
    T = dict(after.T)
    for k in slipped:
        joins = sorted((join for join in before.joins if k in join.parts), key=lambda join: -join.sure)
        partners = [other for join in joins for other in join.parts if other not in slipped]
        if not partners:
            return before
        T[k] = after.T[partners[0]] @ before.T[partners[0]].inverse() @ before.T[k]
    return Group(T, after.joins)


def _come_apart(before: Group, after: Group, parts: Pair, surfaces: Sequence[Surface]) -> bool:
    """Whether two parts lie elsewhere against each other, judged at the middle of each."""
    i, j = parts
    was, now = (group.T[i].inverse() @ group.T[j] for group in (before, after))
    limits = surfaces[j].scale.tolerances
    same = limits.apart_turn, limits.apart_shift * surfaces[j].unit
    by_j = now.is_near(was, *same, surfaces[j].T_part_surface.t)
    return not (by_j or now.inverse().is_near(was.inverse(), *same, surfaces[i].T_part_surface.t))
