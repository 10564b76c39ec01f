"""Poses that a pair of creases suggests, sifted by how well the creases around them go on fitting.

One crease of a against one of b is a whole pose. All of them are tried: first on the creases nearby, then, after
aligning those, on all creases of the part and on its volume.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmnet.geometry.pose import Pose, normalized, turned
from cmnet.geometry.poses import Poses
from cmnet.geometry.types import Array, Floats32, Ints
from cmnet.pairing.propose.agreement import crease_agreement, summed_agreement
from cmnet.pairing.surface.surface import Surface
from cmnet.settings import Tolerances


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """A pose worth refining. score: larger is better; comparable within a pair."""

    T_a_b: Pose
    score: float


def propose(a: Surface, b: Surface, kept: int, width: int = 1) -> list[Hypothesis]:
    """At most `kept` promising poses of b in a's frame, best first.

    width : times as many poses as usual are judged by all creases: rounded edges judge poorly on their own
    """
    if min(len(a.creases), len(b.creases)) < 3:
        return []
    poses, seed_b = seeded_poses(a, b)
    if len(poses) == 0:
        return []
    budget = a.scale.budget
    for judges, count in zip(budget.local_creases, budget.local_kept):
        around = np.ascontiguousarray(b.around[:, :judges])
        fit = summed_agreement(a, b, poses, around, seed_b, a.scale.tolerances.crease_near)
        order = highest(fit, count)
        poses, seed_b = poses[order], seed_b[order]
    poses = poses[_first_of_cells(poses, width * budget.aligned_kept[0], a.scale.tolerances)]
    for count, judges, near in zip(budget.aligned_kept, budget.aligned_creases, budget.aligned_near):
        which = np.arange(min(judges, len(b.creases)))
        weight, partner = crease_agreement(a, b, poses, which, near)
        best = highest(weight.sum(axis=1), width * count)
        poses = align_on_creases(a, b, poses[best], weight[best], partner[best], near)
    score = scores(a, b, poses)
    chosen = [i for i in distinct(poses, score, kept, a.scale.tolerances) if score[i] >= budget.rivals * score.max()]
    return [Hypothesis(poses.one(i), float(score[i])) for i in chosen]


def seeded_poses(a: Surface, b: Surface) -> tuple[Poses, Ints]:
    """One pose for each two creases whose angles add up to 180 degrees, in every distribution of skin and fracture.

    → the poses, and (h,) int: the crease of b that each comes from
    """
    seeds_a, seeds_b = len(a.around), len(b.around)
    off = np.abs(a.creases.bend[:seeds_a, None] + b.creases.bend[:seeds_b] - np.pi)
    fits = off < np.radians(a.scale.tolerances.angle_sum)
    row, column = np.nonzero(fits)
    # Exchanging skin and fracture on both sides at once is a different pose; so is exchanging them on one side.
    frames_a = [_frame(a, flip, 1.0) for flip in (0, 1)]
    frames_b = [_frame(b, flip, -1.0) for flip in (0, 1)]
    R = np.concatenate([fa[row] @ fb[column].swapaxes(1, 2) for fa in frames_a for fb in frames_b])
    row, column = np.tile(row, 4), np.tile(column, 4)
    t = a.creases.points[row] - turned(R, b.creases.points[column])
    return Poses(R.astype(np.float32), t.astype(np.float32)), column


def _frame(surface: Surface, flip: int, sign: float) -> Array:
    """(m, 3, 3) float: columns are the directions between skin and ± fracture, across them, and along the crease."""
    skin, fracture = surface.creases.normals[:, flip], sign * surface.creases.normals[:, 1 - flip]
    x, y = normalized(skin + fracture), normalized(skin - fracture)
    return np.stack([x, y, np.cross(x, y)], axis=2)


def _first_of_cells(poses: Poses, count: int, limits: Tolerances) -> Ints:
    """(≤ count,) int: of poses that nearly coincide only the first. Straight edges suggest thousands of them."""
    turns = np.rint(poses.R[:, :2].reshape(-1, 6) / limits.cell_turn)
    shifts = np.rint(poses.t / limits.cell_shift)
    numbers = np.concatenate([turns, shifts], axis=1).astype(np.int64) @ (64 ** np.arange(9, dtype=np.int64))
    return np.sort(np.unique(numbers, return_index=True)[1])[:count]


def align_on_creases(
    a: Surface, b: Surface, poses: Poses, weight: Floats32, partner: NDArray[np.integer], near: float
) -> Poses:
    """Move every pose so that the creases it brings together coincide (Procrustes on points and directions).

    weight, partner : (h, n), how well b's first n creases fit a's creases `partner`
    """
    x = b.creases.points.astype(np.float32)[: weight.shape[1]]
    y = a.creases.points.astype(np.float32)[partner]
    total = np.maximum(weight.sum(axis=1), 1e-6)
    mean_x, mean_y = (weight @ x) / total[:, None], np.einsum("hn,hnc->hc", weight, y) / total[:, None]
    cross = np.einsum("hn,hnc,nd->hcd", weight, y, x, optimize=True)
    cross -= total[:, None, None] * mean_y[:, :, None] * mean_x[:, None, :]
    # Directions count like points at the distance of the reach: they settle what a straight rim leaves open.
    cross += np.float32(near**2) * total[:, None, None] * poses.R
    U, _, Vt = np.linalg.svd(cross)
    sign = np.sign(np.linalg.det(U @ Vt))
    U[:, :, 2] *= sign[:, None]
    R = U @ Vt
    t = mean_y - turned(R, mean_x)
    enough = weight.sum(axis=1) > 1.5
    return Poses(np.where(enough[:, None, None], R, poses.R), np.where(enough[:, None], t, poses.t))


def poses_of(poses: Sequence[Pose]) -> Poses:
    """The same, all in one."""
    R, t = ([getattr(T, name) for T in poses] for name in ("R", "t"))
    return Poses(np.array(R, dtype=np.float32).reshape(-1, 3, 3), np.array(t, dtype=np.float32).reshape(-1, 3))


def scores(a: Surface, b: Surface, poses: Poses) -> Floats32:
    """(h,) float32: how many of some spread creases of b close on creases of a, less what lies inside the other."""
    which = np.arange(min(a.scale.budget.scored_creases, len(b.creases)))[None]
    near, rows = a.scale.tolerances.crease_closed, np.zeros(len(poses), dtype=np.int64)
    return summed_agreement(a, b, poses, which, rows, near) - overlap(a, b, poses)


def overlap(a: Surface, b: Surface, poses: Poses) -> Floats32:
    """(h,) float32: how much of either surface lies inside the other."""
    return _sunk(a, b, poses) + _sunk(b, a, poses.inverse())


def sinking(a: Surface, b: Surface, T_a_b: Pose) -> float:
    """The same for one pose."""
    return float(overlap(a, b, poses_of([T_a_b]))[0])


def _sunk(a: Surface, b: Surface, poses: Poses) -> Floats32:
    depth = -a.signed[a.box.voxel(poses.apply(b.probes.astype(np.float32)))]
    deep = a.scale.tolerances.deep
    known = np.float32(max(deep, a.box.size))  # voxels know depths only to about their size
    return np.minimum(np.maximum(depth - known, 0) / np.float32(deep), 2).sum(axis=1)


def distinct(poses: Poses, score: Floats32, count: int, limits: Tolerances) -> Ints:
    """(≤ count,) int: the best poses, without those that hardly differ from a better one."""
    order = highest(score, len(score))
    kept: list[int] = []
    for i in order:
        if len(kept) == count:
            break
        near = [
            np.abs(poses.R[i] - poses.R[j]).max() < limits.same_entries
            and np.abs(poses.t[i] - poses.t[j]).max() < limits.same_shift
            for j in kept
        ]
        if not any(near):
            kept.append(int(i))
    return np.array(kept, dtype=np.int64)


def highest(score: Floats32, count: int) -> Ints:
    """(≤ count,) int: where the score is highest, in order."""
    return np.argsort(-score, kind="stable")[:count]
