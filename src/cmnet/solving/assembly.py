"""The answer: where each part goes, what holds together, what stays out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from cmnet.geometry.pose import Pose
from cmnet.geometry.types import Array
from cmnet.matched import PairMatches
from cmnet.pairing.joins import Join
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
    notes         : a sentence for every constraint that could not be obeyed or that contradicts another, and for every
                    join that was refused
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


def to_assembly(
    groups: Sequence[Group],
    areas: Array,
    joins: Sequence[Join],
    fixed: Mapping[int, Pose] | None = None,
    notes: Sequence[str] = (),
) -> Assembly:
    """Groups of one part are unplaced; every other group stands where its largest part lies, or its fixed parts do.

    areas : (n,) float, of the parts; fixed : T_assembled_part of those whose place is known
    """
    fixed = fixed or {}
    poses = np.tile(np.eye(4), (len(areas), 1, 1))
    held = [group for group in groups if len(group.T) > 1 or group.T.keys() & fixed.keys()]
    held.sort(key=lambda group: (-len(group.T), -sum(areas[k] for k in group.T)))
    for group in held:
        largest = max(group.T, key=lambda k: areas[k])
        anchors = {k: fixed[k] for k in sorted(group.T) if k in fixed} or {largest: Pose.identity()}
        first = next(iter(anchors))
        T_assembled_group = anchors[first] @ group.T[first].inverse()
        for k, T_group_k in group.T.items():
            poses[k] = anchors.get(k, T_assembled_group @ T_group_k).matrix()
    used = {id(join) for group in groups for join in group.joins}
    placed = {k for group in held for k in group.T}
    return Assembly(
        poses=poses,
        groups=[sorted(group.T) for group in held],
        unplaced=[k for k in range(len(areas)) if k not in placed],
        joins=sorted((replace(join, used=id(join) in used) for join in joins), key=_rank),
        notes=list(notes),
    )


def _rank(join: Join) -> tuple[float, tuple[int, ...]]:
    """The surest join comes first; those of which nobody knows stay in their order."""
    return -join.sure, () if join.confidence is None else join.parts


def groups_of(assembly: Assembly) -> list[Group]:
    """The groups of an assembly, to grow on from; they rest on those of its joins that were used."""
    return [
        Group(
            {k: Pose.from_matrix(assembly.poses[k]) for k in parts},
            tuple(join for join in assembly.joins if join.used and set(join.parts) <= set(parts)),
        )
        for parts in assembly.groups
    ]


def all_groups(assembly: Assembly) -> list[Group]:
    """The same, single parts included."""
    return [*groups_of(assembly), *(Group({k: Pose.identity()}) for k in assembly.unplaced)]
