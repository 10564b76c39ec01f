"""The last touch on a group whose joins close loops: poses next to the given ones that agree best with all joins.

Each join is measured where it matters, at its own place: how far it is off there, and by how much it is turned. One
round is linear least squares over all parts; joins that stay far off lose weight (Huber). It needs a start that is
nearly right, which `shonan` gives.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from scipy.spatial.transform import Rotation

from cmnet.geometry.pose import Pose, cross_matrix
from cmnet.geometry.types import Array
from cmnet.pairing.align.normal_equations import add_between
from cmnet.pairing.join import Join
from cmnet.solving.groups import Group
from cmnet.solving.shonan import Edge

STEPS = 10
LOOSE_JOIN = 0.02  # lengths that a join may be off before it loses weight


def average(group: Group, centres: Array, length: float, held: Collection[int] = ()) -> Group:
    """The group with its poses moved to where its joins, weighted by confidence, agree best.

    centres : (n, 3) float, of all parts in their own coordinates; length : of an object's part, weighs turns
    held    : parts that stay; none: the first part does
    """
    parts = sorted(group.T)
    if len(group.joins) + len(held) < len(parts):  # no loop, nothing to even out
        return group
    stays = [n for n, k in enumerate(parts) if k in held] or [0]
    place = {k: n for n, k in enumerate(parts)}
    origin = np.mean([T.apply(centres[k]) for k, T in group.T.items()], axis=0)
    # In lengths, about the middle of the group, every part about its centre: scans may lie far from their origin.
    T = [Pose(group.T[k].R, (group.T[k].apply(centres[k]) - origin) / length) for k in parts]
    pulls = [_between_centres(join, place, centres, length) for join in group.joins]
    for _ in range(STEPS):
        step = _step(T, stays, pulls)
        T = [Pose(Rotation.from_rotvec(s[:3]).as_matrix(), s[3:]) @ pose for s, pose in zip(step, T)]
        if np.abs(step).max() < 1e-10:
            break
    moved = {k: Pose(T[n].R, length * T[n].t + origin - T[n].R @ centres[k]) for n, k in enumerate(parts)}
    return Group({k: group.T[k] if place[k] in stays else moved[k] for k in parts}, group.joins)


def _between_centres(join: Join, place: dict[int, int], centres: Array, length: float) -> Edge:
    i, j = join.parts
    T_i_j = Pose(join.T_i_j.R, (join.T_i_j.apply(centres[j]) - centres[i]) / length)
    return Edge(place[i], place[j], T_i_j, join.sure)


def _step(T: Sequence[Pose], stays: list[int], pulls: Sequence[Edge]) -> Array:
    """(p, 6) float: a turn and a shift of every part, in the group's frame."""
    H, g = np.zeros((len(T), 6, len(T), 6)), np.zeros((len(T), 6))  # normal equations
    for i, j, T_i_j, confidence in pulls:
        where = (T[i].t + T[j].t) / 2
        off = T[i] @ T_i_j @ T[j].inverse()  # the identity where the join is met
        residual = np.r_[Rotation.from_matrix(off.R).as_rotvec(), off.apply(where) - where]
        weight = confidence * min(1.0, LOOSE_JOIN / (float(np.linalg.norm(residual)) + 1e-12))
        block = np.eye(6)
        block[3:, :3] = -cross_matrix(where)
        square, pull = weight * block.T @ block, weight * block.T @ residual
        add_between(H, i, j, square)
        g[i] -= pull
        g[j] += pull
    H[stays], H[:, :, stays], g[stays] = 0.0, 0.0, 0.0
    A = H.reshape(g.size, g.size)
    A += (1e-12 * np.trace(A) / len(A) + 1e-300) * np.eye(len(A))  # parts that nothing holds stay as well
    return np.asarray(np.linalg.solve(A, g.reshape(-1)), dtype=np.float64).reshape(-1, 6)
