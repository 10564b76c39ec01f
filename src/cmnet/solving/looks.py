"""One look is not enough: what the joins of two parts leave open is looked at again, in groups, and at other scales.

Groups show what they have left open together. Worn edges have no fine structure: what is still open is compared at a
coarser scale. Contacts much smaller than the parts, a stem or a neck, show only at a finer one. What is left then is
sought once more on the largest group, in its holes and with patience. Parts that are known to belong to the rest go, in
the end, where they most likely do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import comb

from cmnet.geometry.pose import Pose
from cmnet.pairing.joins import Join
from cmnet.pairing.stages import ALL, Stages
from cmnet.pairing.surface.surface import Surface
from cmnet.solving.assembly import Assembly, all_groups, groups_of
from cmnet.solving.constraints import Constraints
from cmnet.solving.groups import Group, Pair
from cmnet.solving.growth import RELAXED
from cmnet.solving.rematch import WORTH, Each, Rematcher
from cmnet.solving.robust import solve

ROUNDS = 4  # groups that have grown are looked at again, so often at most
FEW = 120  # pairs of groups that are looked at finely, at most
LEFT = 30  # groups, single parts included, of which all are sought on the largest one with patience, at most
# Least probability of a merge: while there is more to come, and in the end; then RELAXED for parts that are known to
# belong together. A part out of place keeps its group from fitting anywhere, and one that waits loses nothing.
CAREFUL, LIKELY = 0.8, 0.5

Solving = Callable[[Sequence[Join], Sequence[Group] | None], Assembly]  # by joins, from groups that hold already


def look_again(
    surfaces: Sequence[Surface],
    joins: Sequence[Join],
    coarse: Callable[[], Sequence[Surface]],
    fine: Callable[[], Sequence[Surface]],
    learned: Mapping[tuple[int, int], Sequence[Pose]],
    each: Each,
    constraints: Constraints | None = None,
    stages: Stages = ALL,
) -> Assembly:
    """Solve by the joins, then look again where that leaves something open.

    coarse, fine : make the surfaces of the last looks, if it comes to that; none: without them
    learned      : T_i_j of parts that the network suggests
    each         : does the work for 0 … count − 1
    """

    def solving(
        solid: Sequence[Surface], accept: float, relaxed: float = 1.0, settling: bool = True, places: bool = False
    ) -> Solving:
        """Solves by joins that are as exact as `solid` is closely looked at."""
        on = {"loops": stages.loops, "apart": stages.verify, "settling": settling and stages.refine, "places": places}
        return lambda joins, start: solve(
            surfaces, joins, accept, constraints, start=start, solid=solid, relaxed=relaxed, **on
        )

    solid, careful = surfaces, solving(surfaces, CAREFUL)
    assembly = careful(joins, None)
    first = rematcher = Rematcher(surfaces, learned, stages, each)
    if stages.rematch:
        assembly = _again(assembly, rematcher, careful)
    if _pairs(assembly) and (coarser := coarse()):
        solid, careful = coarser, solving(coarser, CAREFUL)
        rematcher = Rematcher(coarser, learned, stages, each, singles=True, closer=first)
        assembly = _across(assembly, rematcher, careful)
        if stages.rematch:
            assembly = _again(assembly, rematcher, careful)
    last = rematcher if stages.rematch else None
    assembly = _completed(assembly, last, solving(solid, LIKELY))
    if 1 <= _pairs(assembly) <= FEW and (finer := fine()):
        # Joins that only the finest look shows would not survive settling on coarse surfaces.
        finest = Rematcher(finer, learned, stages, each, singles=True)
        looked = _again if stages.rematch else _across
        assembly = looked(assembly, finest, solving(solid, LIKELY, settling=False))
    patient = partial(Rematcher, solid, learned, stages, each, singles=True, closer=first)
    lastly = partial(solving, solid, LIKELY, settling=False, places=True)
    twice, known = stages.rematch and solid is not surfaces, assembly.joins
    if twice and surfaces[0].broken is not None and 1 < len(all_groups(assembly)) <= LEFT:
        assembly = _again(assembly, patient(same=[range(len(surfaces))]), lastly(), WORTH)
    if constraints is not None and constraints.same:
        assembly = _completed(_reminded(assembly, known), last, lastly(relaxed=RELAXED))
        if twice:
            guessing = patient(same=constraints.same, belong=True)
            assembly = _guessed(assembly, guessing, lastly(relaxed=WORTH), constraints)
    return assembly


def _across(assembly: Assembly, rematcher: Rematcher, solved: Solving) -> Assembly:
    """Match single parts of different groups, once."""
    new = rematcher.across(all_groups(assembly), assembly.joins)
    return solved(_surer(assembly.joins, new), groups_of(assembly)) if new else assembly


def _completed(assembly: Assembly, rematcher: Rematcher | None, solved: Solving) -> Assembly:
    """Merge what is now likely enough, then the groups that come of it."""
    if not _pairs(assembly):
        return assembly
    assembly = solved(assembly.joins, groups_of(assembly))
    return assembly if rematcher is None else _again(assembly, rematcher, solved)


def _again(assembly: Assembly, rematcher: Rematcher, solved: Solving, least: float = LIKELY) -> Assembly:
    """Match the groups with each other until nothing changes any more.

    least : confidence of new joins that is enough for a merge
    """
    for _ in range(ROUNDS):
        groups = all_groups(assembly)
        new = rematcher.between(groups, assembly.joins)
        if not new:
            break
        assembly = solved(_as_groups(assembly.joins, new, groups, least), groups_of(assembly))
        if len(all_groups(assembly)) == len(groups):
            break
    return assembly


def _reminded(assembly: Assembly, known: Sequence[Join]) -> Assembly:
    """With what was known of the parts that are still apart: what patience gave up may be their place after all."""
    home = {k: number for number, group in enumerate(all_groups(assembly)) for k in group.T}

    def apart(join: Join) -> bool:
        return home[join.parts[0]] != home[join.parts[1]]

    held = [join for join in assembly.joins if not apart(join)]
    return replace(assembly, joins=[*held, *filter(apart, known)])


def _guessed(assembly: Assembly, rematcher: Rematcher, solved: Solving, constraints: Constraints) -> Assembly:
    """Put what is known to belong to the rest where it most likely does.

    A group that fits nowhere may have a part out of place: where it is not held surely, it is taken apart.
    """
    assembly = _again(assembly, rematcher, solved, WORTH)
    told = {k for k, _ in constraints.fix} | {k for touch in constraints.join for k in touch.parts}
    left = [group.T.keys() for group in rematcher.left_over(all_groups(assembly)) if not told & group.T.keys()]
    inner = [join for join in assembly.joins if any({*join.parts} <= parts for parts in left)]
    unsure = [join for join in inner if not join.used or join.sure < CAREFUL]
    if not any(join.used for join in unsure):
        return assembly
    rest = [join for join in assembly.joins if join not in unsure]
    again = solved(rest, [group for group in groups_of(assembly) if group.T.keys() not in left])
    again = _again(again, rematcher, solved, WORTH)
    return solved([*again.joins, *unsure], groups_of(again))  # what is still out may hold together as it did


def _surer(before: Sequence[Join], new: Sequence[Join]) -> list[Join]:
    """Of any two parts the joins of the look that is surer of itself; its candidates have competed already."""
    known, found = (_sorted(joins, lambda k: k) for joins in (before, new))
    used = {pair for pair, joins in known.items() if any(join.used for join in joins)}
    better = {
        pair: joins for pair, joins in found.items() if pair not in used and _top(joins) > _top(known.get(pair, ()))
    }
    return [join for joins in {**known, **better}.values() for join in joins]


def _as_groups(before: Sequence[Join], new: Sequence[Join], groups: Sequence[Group], least: float) -> list[Join]:
    """Of any two groups the new joins alone, if these are sure enough for a merge or surer than what was known.

    Between two groups all that was known of their parts has been tried, and has competed, as a whole.
    """
    home = {k: number for number, group in enumerate(groups) for k in group.T}
    known, found = (_sorted(joins, home.__getitem__) for joins in (before, new))
    better = {pair: joins for pair, joins in found.items() if _top(joins) >= min(_top(known.get(pair, ())), least)}
    return [join for joins in {**known, **better}.values() for join in joins]


def _sorted(joins: Sequence[Join], home: Callable[[int], int]) -> dict[Pair, list[Join]]:
    """The joins by where their two parts are at home."""
    sets: dict[Pair, list[Join]] = {}
    for join in joins:
        a, b = sorted(map(home, join.parts))
        sets.setdefault((a, b), []).append(join)
    return sets


def _top(joins: Sequence[Join]) -> float:
    return max((join.sure for join in joins), default=0.0)


def _pairs(assembly: Assembly) -> int:
    """How many pairs of groups are still open."""
    return comb(len(all_groups(assembly)), 2)
