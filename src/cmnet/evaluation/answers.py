"""What a method says to a puzzle, and how an `Assembly` says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cmnet.geometry.pose import Pose
from cmnet.geometry.types import Array
from cmnet.pairing.join import Join
from cmnet.solving.assembly import Assembly

DOUBTFUL = 1e-3  # joins below this confidence that are not used are not worth keeping


@dataclass(frozen=True, eq=False)
class Answer:
    """Where the parts of a puzzle go.

    poses : (p, 4, 4) float, T_anchor_part in the puzzle's coordinates; NaN: not placed against the anchor
    joins : used ones and any other with some confidence; `parts` as in the puzzle, poses in its coordinates
    """

    poses: Array
    joins: tuple[Join, ...] = ()


def answer_of(assembly: Assembly, members: Sequence[int], anchor: int, given: Sequence[Pose]) -> Answer:
    """What an assembly says to a puzzle whose part k it knows as part members[k].

    anchor : of the puzzle. Parts that are not in its group have no place against it.
    given  : of every part of the puzzle T_given_puzzle, from its coordinates to those the assembly speaks of
    """
    poses = np.full((len(members), 4, 4), np.nan)
    group = _group_of(assembly, members[anchor])
    T_anchor_world = (Pose.from_matrix(assembly.poses[members[anchor]]) @ given[anchor]).inverse()
    for k, part in enumerate(members):
        if part in group:
            poses[k] = (T_anchor_world @ Pose.from_matrix(assembly.poses[part]) @ given[k]).matrix()
    poses[anchor] = np.eye(4)
    return Answer(poses, tuple(_joins_among(assembly.joins, members, given)))


def _group_of(assembly: Assembly, part: int) -> set[int]:
    return next((set(group) for group in assembly.groups if part in group), {part})


def _joins_among(joins: Sequence[Join], members: Sequence[int], given: Sequence[Pose]) -> list[Join]:
    """The joins between the puzzle's own parts, in its numbering and coordinates."""
    place = {part: k for k, part in enumerate(members)}
    kept = []
    for join in joins:
        if place.keys() >= set(join.parts) and (join.used or join.sure >= DOUBTFUL):
            i, j = (place[part] for part in join.parts)
            back = given[i].inverse()
            seen = None if join.uncertainty is None else join.uncertainty.moved(back)
            kept.append(replace(join, parts=(i, j), T_i_j=back @ join.T_i_j @ given[j], uncertainty=seen))
    return kept
