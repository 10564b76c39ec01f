"""Groups of parts that hold together, and the rules that their growth must keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cmnet.geometry.pose import Pose
from cmnet.pairing.joins import Join

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


FREE = Rules()


def odds_of(p: float) -> float:
    """The log odds of a probability."""
    return float(np.log(max(p, 1e-12) / max(1 - p, 1e-12)))
