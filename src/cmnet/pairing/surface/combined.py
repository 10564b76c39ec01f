"""The surface of several parts that hold together, to be matched as if they were one.

Three small contacts say more than one: what a group has left open, all around, is what a further part must close.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.spatial import cKDTree

from cmnet.geometry.pose import Pose, principal_frame
from cmnet.geometry.trees import nearest_few
from cmnet.geometry.types import Array, Bools, Floats32
from cmnet.geometry.volume import Box
from cmnet.pairing.surface.creases import complement, join_creases
from cmnet.pairing.surface.rims import AROUND, Rims
from cmnet.pairing.surface.surface import Sampled, Surface, farthest, surface_of
from cmnet.settings import Scale

COVERING = 3  # nearest samples or creases that are looked at


def combine(members: Sequence[Surface], T_group_part: Sequence[Pose]) -> Surface:
    """One surface of the parts in their places: what they cover of each other and the creases they close are gone.

    T_group_part : of every member, from the coordinates of its part to those of the group
    → its `T_part_surface` maps to the coordinates of the group
    """
    scale, unit = members[0].scale, members[0].unit
    world = [_scaled(T @ s.T_part_surface, unit) for s, T in zip(members, T_group_part)]
    kept = [_exposed(members, world, k, member.points, member.normals) for k, member in enumerate(members)]
    dense = [_exposed(members, world, k, member.dense, member.dense_normals) for k, member in enumerate(members)]
    points, normals = _all_of(members, world, kept, "points", "normals")
    near, near_normals = _all_of(members, world, dense, "dense", "dense_normals")
    frame = principal_frame(points)
    back = frame.inverse()
    points, normals = back.apply(points), back.rotate(normals)
    said = [m.broken[k] for m, k in zip(members, kept) if m.broken is not None]
    broken = np.concatenate(said) if len(said) == len(members) else None
    area = sum(m.area * float(k.mean()) for m, k in zip(members, kept))
    place = Pose(frame.R, unit * frame.t)
    sampled = Sampled(scale, place, unit, points, normals, broken, members[0].judgement, area)
    left = [m.creases[_open(members, world, k)].moved(back @ world[k]) for k, m in enumerate(members)]
    next_to = nearest_few(cKDTree(points), points, AROUND)[1]
    wall = min(m.wall for m in members)
    rims = Rims(join_creases(left), back.apply(near), back.rotate(near_normals), next_to, wall)
    return surface_of(sampled, rims, lambda box, *_: _union(box, scale, members, [back @ T for T in world]))


def _scaled(T: Pose, unit: float) -> Pose:
    return Pose(T.R, T.t / unit)


def _all_of(
    members: Sequence[Surface], world: Sequence[Pose], kept: Sequence[Bools], points: str, normals: str
) -> tuple[Array, Array]:
    """The samples of all members that are kept, in units of the group's frame."""
    xyz = [T.apply(getattr(m, points)[k]) for m, T, k in zip(members, world, kept)]
    around = [T.rotate(getattr(m, normals)[k]) for m, T, k in zip(members, world, kept)]
    return np.concatenate(xyz), np.concatenate(around)


def _exposed(members: Sequence[Surface], world: Sequence[Pose], k: int, points: Array, normals: Array) -> Bools:
    """(n,) bool: which samples of member k no other member covers or holds inside."""
    limits, free = members[k].scale.tolerances, np.ones(len(points), dtype=bool)
    for other, T_o_k in _others(members, world, k):
        depth = other.box.at(other.signed, T_o_k, points)
        near = np.flatnonzero(free & (depth < limits.covered + other.box.size))
        reach = max(limits.covered, other.spacing)
        distance, index = other.dense_cells.nearest(T_o_k.apply(points[near]), COVERING, reach)
        met = np.isfinite(distance)
        index = np.where(met, index, 0)
        cosine = np.einsum("nkc,nc->nk", other.dense_normals[index], T_o_k.rotate(normals[near]))
        inside = depth[near] < -2 * other.box.size
        free[near[(met & (cosine < limits.facing_loosely)).any(axis=1) | inside]] = False
    return free


def _others(members: Sequence[Surface], world: Sequence[Pose], k: int) -> Iterator[tuple[Surface, Pose]]:
    """All members but k, and member k's frame in theirs."""
    return ((m, T.inverse() @ world[k]) for n, (m, T) in enumerate(zip(members, world)) if n != k)


def _open(members: Sequence[Surface], world: Sequence[Pose], k: int) -> Bools:
    """(m,) bool: which creases of member k close on no crease of another member."""
    creases, limits = members[k].creases, members[k].scale.tolerances
    free = np.ones(len(creases), dtype=bool)
    for other, T_o_k in _others(members, world, k):
        distance, index = other.crease_cells.nearest(T_o_k.apply(creases.points), COVERING, limits.crease_closed)
        i, j = np.nonzero(np.isfinite(distance))
        fit = complement(other.creases.normals[index[i, j]], T_o_k.rotate(creases.normals[i]))
        free[i[fit > limits.agree_group]] = False
    return free


def _union(box: Box, scale: Scale, members: Sequence[Surface], world: Sequence[Pose]) -> Floats32:
    """(v,) float32: signed distance to the union, the smallest of all members'."""
    centres = box.centres()
    far = np.float32(farthest(box, scale))
    signed = np.full(len(centres), far)
    for member, T in zip(members, world):
        known = member.box.at(member.signed, T.inverse(), centres)
        beyond = np.abs(known) >= np.float32(farthest(member.box, scale))
        known[beyond] = np.copysign(far, known[beyond])
        np.minimum(signed, known, out=signed)
    return signed
