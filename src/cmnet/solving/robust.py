"""The solver that uses every join: grow groups by agreement, keep parts apart, even out loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cmnet.geometry.pose import Pose
from cmnet.pairing.hypotheses import sinking
from cmnet.pairing.joins import Join, pose_of_surfaces
from cmnet.pairing.surface import Surface
from cmnet.solving.assembly import Assembly
from cmnet.solving.averaging import average
from cmnet.solving.grower import Grower
from cmnet.solving.groups import Group

SHIFT = 0.03  # units by which agreeing joins may put a part's centre apart
SUNK = 4.0  # probes inside another part, weighed by depth, from which two parts run into each other


def solve(surfaces: Sequence[Surface], joins: Sequence[Join], accept: float = 0.5) -> Assembly:
    """Put parts together by the joins between them. accept : least probability of a merge that is made"""
    unit = surfaces[0].unit if surfaces else 1.0
    centres = np.array([surface.T_part_surface.t for surface in surfaces]).reshape(-1, 3)

    def fits(i: int, j: int, T_i_j: Pose) -> bool:
        a, b = surfaces[i], surfaces[j]
        return sinking(a, b, pose_of_surfaces(a, b, T_i_j)) < SUNK

    groups = Grower(joins, centres, SHIFT * unit, fits, accept).grow()
    areas = np.array([surface.area for surface in surfaces])
    return to_assembly([average(group, centres, unit) for group in groups], areas, joins)


def to_assembly(groups: Sequence[Group], areas: np.ndarray, joins: Sequence[Join]) -> Assembly:
    """Groups of one part are unplaced; every other group stands where its largest part lies."""
    poses = np.tile(np.eye(4), (len(areas), 1, 1))
    held = sorted(
        (group for group in groups if len(group.T) > 1), key=lambda g: (-len(g.T), -sum(areas[k] for k in g.T))
    )
    for group in held:
        largest = max(group.T, key=lambda k: areas[k])
        T_largest_group = group.T[largest].inverse()
        for k, T_group_k in group.T.items():
            poses[k] = (T_largest_group @ T_group_k).matrix()
        poses[largest] = np.eye(4)
    used = {id(join) for group in groups for join in group.joins}
    marked = [replace(join, used=id(join) in used) for join in joins]
    return Assembly(
        poses=poses,
        groups=[sorted(group.T) for group in held],
        unplaced=sorted(k for group in groups if len(group.T) == 1 for k in group.T),
        joins=sorted(marked, key=lambda join: (-join.confidence, join.parts)),
    )
