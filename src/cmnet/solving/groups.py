"""Groups of parts that hold together, where they stand, and the rules that their growth must keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cmnet.geometry.pose import Pose
from cmnet.geometry.types import Array
from cmnet.pairing.join import Join

Pair = tuple[int, int]
# (i, j, T_i_j): how much the volumes of parts i and j say against that pose, in nats; 0: they do not overlap
Against = Callable[[int, int, Pose], float]


@dataclass(frozen=True, eq=False)
class Group:
    """Parts that hold together; T[i] maps part i's coordinates to the group's."""

    T: dict[int, Pose]
    joins: tuple[Join, ...] = ()


@dataclass(frozen=True)
class Rules:
    """What is known beforehand. All pairs as (i, j) with i < j.

    apart    : parts that never come into one group
    together : parts that belong into one group: merges between them need less evidence
    touching : parts that touch: a merge of their groups must rest on a join of theirs, however weak it is
    trusted  : parts whose relative pose is given, so that they are not tested against each other
    """

    apart: frozenset[Pair] = frozenset()
    together: tuple[frozenset[int], ...] = ()
    touching: frozenset[Pair] = frozenset()
    trusted: frozenset[Pair] = frozenset()


def standing(groups: Sequence[Group], areas: Array, fixed: Mapping[int, Pose]) -> list[Group]:
    """Groups of several parts, or of fixed ones, the largest first, each where its largest or its fixed parts lie.

    areas : (n,) float, of the parts; fixed : T_assembled_part of those whose place is known
    """
    held = [group for group in groups if len(group.T) > 1 or group.T.keys() & fixed.keys()]
    held.sort(key=lambda group: (-len(group.T), -sum(areas[k] for k in group.T)))
    return [_anchored(group, areas, fixed) for group in held]


def _anchored(group: Group, areas: Array, fixed: Mapping[int, Pose]) -> Group:
    largest = max(group.T, key=lambda k: areas[k])
    anchors = {k: fixed[k] for k in sorted(group.T) if k in fixed} or {largest: Pose.identity()}
    first = next(iter(anchors))
    T_assembled_group = anchors[first] @ group.T[first].inverse()
    return Group({k: anchors.get(k, T_assembled_group @ T) for k, T in sorted(group.T.items())}, group.joins)


def with_singles(groups: Sequence[Group], count: int) -> list[Group]:
    """The groups, and every other one of `count` parts by itself."""
    held = {k for group in groups for k in group.T}
    return [*groups, *(Group({k: Pose.identity()}) for k in range(count) if k not in held)]


def odds_of(p: float) -> float:
    """The log odds of a probability."""
    return float(np.log(max(p, 1e-12) / max(1 - p, 1e-12)))
