"""Constraints that exclude each other: found before solving, said in plain sentences, settled for the stricter one."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from itertools import pairwise

from cmnet.geometry.frames import Frames
from cmnet.geometry.pose import Pose
from cmnet.geometry.types import Array
from cmnet.solving.constraints import Constraints, Touch
from cmnet.solving.groups import Pair
from cmnet.solving.witnesses import TURN

FRAME = -1  # the assembled frame, in which fixed parts lie


def without_contradictions(constraints: Constraints, centres: Array, shift: float) -> tuple[Constraints, list[str]]:
    """Constraints without those that contradict stricter or earlier ones, and a sentence for each contradiction.

    centres : (n, 3) float, of every part in its own coordinates; shift : by which poses that agree may put them apart
    """
    settled, forbidden = _without_forbidden(constraints)
    settled, different = _without_different(settled)
    settled, impossible = _without_impossible(settled, centres, shift)
    return settled, [*forbidden, *different, *impossible]


def _without_forbidden(c: Constraints) -> tuple[Constraints, list[str]]:
    bad = [touch for touch in c.join if touch.parts in c.forbid]
    notes = [f"join and forbid contradict each other: {_names(c, t.parts)} are not joined directly." for t in bad]
    return replace(c, join=tuple(touch for touch in c.join if touch not in bad)), notes


def _without_different(c: Constraints) -> tuple[Constraints, list[str]]:
    """Joins between different parts go. Chains stay: whatever link is the weakest will not be merged."""
    ties: dict[int, set[int]] = {}
    for i, j in [*(touch.parts for touch in c.join), *(pair for parts in c.same for pair in pairwise(parts))]:
        ties.setdefault(i, set()).add(j)
        ties.setdefault(j, set()).add(i)
    notes = []
    for i, j in dict.fromkeys(c.different):
        if path := _path(ties, i, j):
            by = " and ".join(kind for kind, used in (("join", c.join), ("same", c.same)) if used)
            chain = " – ".join(c.names[k] for k in path)
            notes.append(f"{by} ({chain}) and different contradict each other: {_names(c, (i, j))} stay apart.")
    return replace(c, join=tuple(touch for touch in c.join if touch.parts not in c.different)), notes


def _path(ties: dict[int, set[int]], start: int, goal: int) -> list[int]:
    """The shortest way along ties, or nothing."""
    before, queue = {start: start}, deque([start])
    while queue:
        here = queue.popleft()
        for other in sorted(ties.get(here, ())):
            if other not in before:
                before[other] = here
                queue.append(other)
    if goal not in before:
        return []
    path = [goal]
    while path[-1] != start:
        path.append(before[path[-1]])
    return path[::-1]


def _without_impossible(c: Constraints, centres: Array, shift: float) -> tuple[Constraints, list[str]]:
    """Given poses are followed one after the other; one that leads elsewhere than those before it goes."""
    frames, notes = Frames(), []

    def agrees(i: int, j: int, T_i_j: Pose) -> bool:
        return frames.connect(i, j, T_i_j).is_near(T_i_j, TURN, shift, centres[j])

    fix: list[tuple[int, Pose]] = []
    for part, T in c.fix:
        if agrees(FRAME, part, T):
            if part not in dict(fix):
                fix.append((part, T))
        else:
            notes.append(f"fix gives two poses for {c.names[part]}: the first one is used.")
    join: list[Touch] = []
    for touch in c.join:
        i, j = touch.parts
        if touch.T_i_j is None or agrees(i, j, touch.T_i_j):
            join.append(touch)
        else:
            notes.append(f"the pose of join {_names(c, touch.parts)} contradicts those given before: it is not used.")
    return replace(c, fix=tuple(fix), join=tuple(join)), notes


def _names(c: Constraints, parts: Pair) -> str:
    return " and ".join(c.names[k] for k in parts)
