"""Poses that agree best with all joins of a group, where its joins close loops.

Each join is measured where it matters, at its own place: how far it is off there, and by how much it is turned. One
round is linear least squares over all parts; joins that stay far off lose weight (Huber).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from cmnet.geometry.pose import Pose
from cmnet.pairing.joins import Join
from cmnet.solving.groups import Group

Array = NDArray[np.float64]
ROUNDS = 10


def average(group: Group, centres: Array, length: float) -> Group:
    """The group with its poses moved to where its joins, weighted by confidence, agree best; the first part stays.

    centres : (n, 3) float, of all parts in their own coordinates; length : of an object's part, weighs turns
    """
    parts = sorted(group.T)
    if len(group.joins) < len(parts):  # no loop, nothing to even out
        return group
    T = dict(group.T)
    for _ in range(ROUNDS):
        step = _step(T, parts, group.joins, centres, length)
        T = {k: _exp(step[n]) @ T[k] for n, k in enumerate(parts)}
        if np.abs(step).max() < 1e-10:
            break
    return Group(T, group.joins)


def _step(T: dict[int, Pose], parts: list[int], joins: Sequence[Join], centres: Array, length: float) -> Array:
    """(p, 6) float: a turn and a shift of every part, in the group's frame."""
    place = {k: n for n, k in enumerate(parts)}
    A, b = np.zeros((6 * len(joins) + 6, 6 * len(parts))), np.zeros(6 * len(joins) + 6)
    for row, join in enumerate(joins):
        i, j = join.parts
        where = (T[i].apply(centres[i]) + T[j].apply(centres[j])) / 2
        off = T[i] @ join.T_i_j @ T[j].inverse()  # the identity where the join is met
        residual = np.r_[length * Rotation.from_matrix(off.R).as_rotvec(), off.apply(where) - where]
        size = float(np.linalg.norm(residual))
        weight = np.sqrt(join.confidence * min(1.0, 0.02 * length / (size + 1e-12)))
        block = np.zeros((6, 6))
        block[:3, :3] = length * np.eye(3)
        block[3:, :3] = -_cross(where)
        block[3:, 3:] = np.eye(3)
        rows = slice(6 * row, 6 * row + 6)
        A[rows, 6 * place[i] : 6 * place[i] + 6] = weight * block
        A[rows, 6 * place[j] : 6 * place[j] + 6] = -weight * block
        b[rows] = -weight * residual
    A[-6:, :6] = np.eye(6)  # the first part stays
    return np.asarray(np.linalg.lstsq(A, b, rcond=None)[0], dtype=np.float64).reshape(-1, 6)


def _cross(x: Array) -> Array:
    """The matrix of y ↦ x × y."""
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def _exp(step: Array) -> Pose:
    return Pose(Rotation.from_rotvec(step[:3]).as_matrix(), step[3:])
