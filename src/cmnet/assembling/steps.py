"""What passes are made of: who is matched with whom, and what is done with the candidates before."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import combinations

import numpy as np

from cmnet.assembling.memo import Two
from cmnet.assembling.state import State
from cmnet.geometry.pose import Pose
from cmnet.solving.groups import Group

Who = Callable[[State], list[Two]]
Begin = Callable[[State], bool]  # whether there is a reason to go on


def all_parts(state: State) -> list[Two]:
    """Any two parts."""
    return list(combinations((_single(k) for k in range(len(state.parts))), 2))


def any_groups(state: State) -> list[Two]:
    """Any two groups, single parts included."""
    return list(combinations(state.all_groups(), 2))


def larger_groups(state: State) -> list[Two]:
    """The same but two single parts, which have been compared at the first scale."""
    return [(a, b) for a, b in any_groups(state) if len(a.T) + len(b.T) > 2]


def parts_across(state: State) -> list[Two]:
    """Single parts of different groups: a group with a part out of place fits nowhere as a whole."""
    parts = [[_single(k) for k in group.T] for group in state.all_groups()]
    pairs = [(i, j) for a, b in combinations(parts, 2) for i in a for j in b]
    return pairs if len(pairs) <= state.acceptance.most_across else []


def left_over(state: State) -> list[Two]:
    """Every group with the largest one."""
    return list(_with_largest(state, [range(len(state.parts))]))


def left_over_of_one(state: State) -> list[Two]:
    """The same among parts that are known to belong together."""
    return list(_with_largest(state, state.terms.rules.together))


def _with_largest(state: State, together: Sequence[Collection[int]]) -> Iterator[Two]:
    groups = state.all_groups()
    for parts in together:
        areas = [sum(state.parts[k].area for k in group.T.keys() & parts) for group in groups]
        largest = int(np.argmax(areas))
        yield from ((groups[largest], g) for k, g in enumerate(groups) if k != largest and areas[k] > 0)


def _single(k: int) -> Group:
    return Group({k: Pose.identity()})


def as_it_is(state: State) -> bool:
    """What is known stays."""
    return True


def remember(state: State) -> bool:
    """The candidates, as they are before a pass that may give some up."""
    state.earlier = state.joins
    return True


def remind(state: State) -> bool:
    """What was known of parts that are still apart: what patience gave up may be their place after all."""
    home = {k: number for number, group in enumerate(state.all_groups()) for k in group.T}
    known = state.joins if state.earlier is None else state.earlier
    apart = [join for join in known if home[join.parts[0]] != home[join.parts[1]]]
    state.joins = [*(join for join in state.joins if home[join.parts[0]] == home[join.parts[1]]), *apart]
    return True


def take_apart(state: State) -> bool:
    """A group that fits nowhere may have a part out of place: where it is not held surely, it is taken apart."""
    told = {k for touch in state.terms.constraints.join for k in touch.parts} | state.terms.fixed.keys()
    over = [group for _, group in left_over_of_one(state) if len(group.T) > 1]
    left = [group.T.keys() for group in over if not told & group.T.keys()]
    inner = [join for join in state.joins if any({*join.parts} <= parts for parts in left)]
    unsure = [join for join in inner if not join.used or join.sure < state.acceptance.careful]
    if not any(join.used for join in unsure):
        return False
    numbers = {join.number for join in unsure}
    state.aside = unsure
    state.joins = [join for join in state.joins if join.number not in numbers]
    state.groups = [group for group in state.groups if group.T.keys() not in left]
    return True


def put_back(state: State) -> bool:
    """What is still out may hold together as it did."""
    aside, state.aside = state.aside, []
    state.joins += aside
    return bool(aside)
