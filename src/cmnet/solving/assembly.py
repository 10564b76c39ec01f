"""The answer: where each part goes, what holds together, what stays out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from cmnet.geometry.types import Array
from cmnet.matched import PairMatches
from cmnet.pairing.join import Join
from cmnet.pairing.judge.uncertainty import Uncertainty
from cmnet.solving.groups import Group


@dataclass(frozen=True, eq=False)
class Refusal:
    """A likely join that was not made, because parts would run into each other.

    parts      : of the join; confidence : of the join
    inside     : (k, l), part l would run into part k, perhaps others than those of the join
    depth      : how deep, in the unit of the parts
    place      : (3,) float, where, in the coordinates of part k as given
    """

    parts: tuple[int, int]
    confidence: float
    inside: tuple[int, int]
    depth: float
    place: Array

    def sentence(self, names: Sequence[str]) -> str:
        """The same in words. names : of all parts"""
        i, j = (names[k] for k in self.parts)
        k, l = (names[k] for k in self.inside)
        where = ", ".join(f"{x:.4g}" for x in self.place)
        return (
            f"{i} and {j} are kept apart, though one join of theirs is {self.confidence:.0%} likely by itself: "
            f"{l} would run {self.depth:.2g} deep into {k}, at ({where}) in the coordinates of {k}"
        )


@dataclass(frozen=True, eq=False)
class Assembly:
    """Parts in their places.

    poses         : (n, 4, 4) float, part coordinates as given → assembled frame
    groups        : parts that hold together, the largest group first; a group's largest part has the identity pose,
                    unless a constraint fixes one of its parts: then the group stands where that part was fixed
    unplaced      : parts that fit nowhere; they keep the identity pose (a fixed part is never among them)
    joins         : everything that was considered, the used ones marked, the surest first
    notes         : a sentence for every constraint that could not be obeyed or that contradicts another, for every join
                    that was refused, and where confidences were not fitted with the weights
    matches       : what the network matched of parts i < j that have a join, by (i, j); empty without a network
    refused       : likely joins that were not made, because parts would run into each other
    uncertainties : how far each pose may be off against the part of its group that stays; None: nobody knows
    """

    poses: Array
    groups: list[list[int]]
    unplaced: list[int]
    joins: list[Join]
    notes: list[str] = field(default_factory=list)
    matches: Mapping[tuple[int, int], PairMatches] = field(default_factory=dict)
    refused: list[Refusal] = field(default_factory=list)
    uncertainties: Sequence[Uncertainty | None] = ()

    @property
    def covariances(self) -> Array:
        """(n, 6, 6) float, of the poses: see `Uncertainty`. Zero for parts that stay, NaN where nobody knows."""
        unknown = np.full((6, 6), np.nan)
        known = self.uncertainties or [None] * len(self.poses)
        return np.array([unknown if u is None else u.covariance for u in known]).reshape(-1, 6, 6)


def to_assembly(groups: Sequence[Group], count: int, joins: Sequence[Join], notes: Sequence[str] = ()) -> Assembly:
    """Of `count` parts; those in no group are unplaced.

    groups : as `standing` leaves them; joins : numbered; those that groups rest on are marked as used
    """
    used = {join.number for group in groups for join in group.joins}
    poses = np.tile(np.eye(4), (count, 1, 1))
    for group in groups:
        for k, T in group.T.items():
            poses[k] = T.matrix()
    placed = {k for group in groups for k in group.T}
    return Assembly(
        poses=poses,
        groups=[sorted(group.T) for group in groups],
        unplaced=[k for k in range(count) if k not in placed],
        joins=ranked([replace(join, used=join.number in used) for join in joins]),
        notes=list(notes),
    )


def ranked(joins: Sequence[Join]) -> list[Join]:
    """The surest join comes first; those of which nobody knows stay in their order."""
    return sorted(joins, key=lambda join: (-join.sure, () if join.confidence is None else join.parts))
