"""Poses in which the breaks of two parts touch most: worn edges suggest them, but cannot judge them.

Every two creases are a pose, as in `hypotheses`. Where edges are worn, hardly any crease around them agrees with it,
but the faces between the edges still fit: here the samples that lie on breaks judge the poses, and settle them.
"""

from __future__ import annotations

import numpy as np

from cmnet.geometry.compiled import compiled
from cmnet.geometry.pose import Pose
from cmnet.geometry.types import Floats32, Ints, Ints32
from cmnet.geometry.volume import move_into
from cmnet.pairing.align.normal_equations import add_row, motion
from cmnet.pairing.propose.creases import Poses, distinct, highest, overlap, seeded_poses
from cmnet.pairing.surface.surface import Surface

# Of a part: samples and their normals (d, 3), of every voxel a nearest sample; the voxels' origin, scale and shape; the
# cosine below which normals face each other
SampleField = tuple[Floats32, Floats32, Ints32, Floats32, np.float32, Ints, np.float32]
Judges = tuple[Floats32, Floats32, float]  # of a part: points and normals (m, 3), and the area that each stands for


def propose_touching(a: Surface, b: Surface, kept: int, settle: bool = True, near: float | None = None) -> list[Pose]:
    """The most promising poses of b in a's frame, best first; none where nobody says what is broken.

    settle : False: poses stay as two creases suggest them
    near   : how far samples may be off in the end, in units; None: as the sieve says
    """
    if not kept or b.broken is None or min(len(a.creases), len(b.creases)) < 3:
        return []
    poses, _ = seeded_poses(a, b)
    sieve = a.scale.budget.sieve
    area = contact(a, b, poses, sieve.judges[0], sieve.near[0])
    first = highest(area, sieve.kept[0])
    poses, area = poses[first], area[first]
    poses = poses[highest(area - sieve.sunk * overlap(a, b, poses), sieve.kept[1])]
    if settle:
        poses = settled_on_breaks(a, b, poses)
    area = contact(a, b, poses, sieve.judges[1], sieve.near[1] if near is None else near)
    chosen = distinct(poses, area - sieve.sunk * overlap(a, b, poses), kept, a.scale.tolerances)
    return [poses.one(i) for i in chosen if area[i] > 0]


def contact(a: Surface, b: Surface, poses: Poses, judges: int, near: float) -> Floats32:
    """(h,) float32: the area of b's breaks that lies on a in each pose, in square units."""
    return lying_on(a, poses, on_breaks(b, judges), near, np.ones(len(a.dense), dtype=np.float32))


def lying_on(a: Surface, poses: Poses, samples: Judges, near: float, weights: Floats32) -> Floats32:
    """(h,) float32: the area of the samples that lies on a in each pose; weights : (d,), of a's dense samples"""
    x, n, area = samples
    total = np.zeros(len(poses), dtype=np.float32)
    _contact(poses.R, poses.t, x, n, _sample_field(a), weights, np.float32(near), total)
    return np.asarray(area * total)


def settled_on_breaks(a: Surface, b: Surface, poses: Poses) -> Poses:
    """Every pose moved until the breaks that face each other touch."""
    rounds = a.scale.budget.on_breaks
    x, n, _ = on_breaks(b, rounds.samples)
    settling, field = Poses(poses.R.copy(), poses.t.copy()), _sample_field(a)
    for near in rounds.radii:
        _settle(settling.R, settling.t, x, n, field, np.float32(near), rounds.stiff)
    return settling


def on_breaks(b: Surface, count: int) -> Judges:
    """At most `count` even samples of b's breaks."""
    assert b.broken is not None
    return some_of(b, np.flatnonzero(b.broken > b.scale.tolerances.broken), count)


def some_of(b: Surface, chosen: Ints, count: int) -> Judges:
    """At most `count` even ones of the chosen samples of b."""
    step = max(1, -(-len(chosen) // count))
    chosen = chosen[::step]
    return b.points[chosen].astype(np.float32), b.normals[chosen].astype(np.float32), b.area * step / len(b.points)


def _sample_field(a: Surface) -> SampleField:
    points, normals = a.dense.astype(np.float32), a.dense_normals.astype(np.float32)
    return points, normals, a.sample_of, *a.box.single(), np.float32(a.scale.tolerances.facing)


@compiled
def _touch(
    R: Floats32,
    t: Floats32,
    h: int,
    x: Floats32,
    n: Floats32,
    field: SampleField,
    y: Floats32,
    at: Ints32,
    how: Floats32,
) -> None:
    """Sets, of samples x with normals n (m, 3) in pose h, y (m, 3): where they lie; at, how (m,): what they face.

    That is a sample nearby (−1: none), and how well it faces: by the cosine of the opposed normals.
    """
    points, normals, sample_of, origin, scale, shape, facing = field
    move_into(R, t, h, x, origin, scale, shape, y, at)
    for k in range(len(x)):
        near = sample_of[at[k]] if at[k] >= 0 else len(points)
        at[k] = -1
        if near < len(points):
            cosine = np.float32(0)
            for c in range(3):
                cosine += normals[near, c] * (R[h, c, 0] * n[k, 0] + R[h, c, 1] * n[k, 1] + R[h, c, 2] * n[k, 2])
            if cosine < facing:
                at[k], how[k] = near, -cosine


@compiled
def _contact(
    R: Floats32,
    t: Floats32,
    x: Floats32,
    n: Floats32,
    field: SampleField,
    weights: Floats32,
    near: np.float32,
    total: Floats32,
) -> None:
    """Adds to total (h,) the samples x with normals n (m, 3) that lie on another part's, of weights (d,)."""
    points, normals = field[0], field[1]
    y, at, how = np.empty_like(x), np.empty(len(x), dtype=np.int32), np.empty(len(x), dtype=np.float32)
    for h in range(len(t)):
        _touch(R, t, h, x, n, field, y, at, how)
        for k in range(len(x)):
            i = at[k]
            if i >= 0:
                gap = (y[k, 0] - points[i, 0]) * normals[i, 0] + (y[k, 1] - points[i, 1]) * normals[i, 1]
                gap += (y[k, 2] - points[i, 2]) * normals[i, 2]
                total[h] += weights[i] * how[k] * np.exp(-((gap / near) ** 2))


@compiled
def _settle(
    R: Floats32, t: Floats32, x: Floats32, n: Floats32, field: SampleField, near: np.float32, stiff: float
) -> None:
    """Moves every pose R (h, 3, 3), t (h, 3) once: what touches comes to lie in the planes of what it touches."""
    points, normals = field[0], field[1]
    y, at, how = np.empty_like(x), np.empty(len(x), dtype=np.int32), np.empty(len(x), dtype=np.float32)
    row, place, normal = np.empty(7), np.empty(3), np.empty(3)
    for h in range(len(t)):
        products, places = np.zeros((7, 7)), np.zeros(5)
        _touch(R, t, h, x, n, field, y, at, how)
        for k in range(len(x)):
            if at[k] >= 0:
                gap = 0.0
                for c in range(3):
                    place[c], normal[c] = y[k, c], normals[at[k], c]
                    gap += (place[c] - points[at[k], c]) * normal[c]
                add_row(place, normal, gap, np.exp(-((gap / near) ** 2)), row, products, places)
        R_step, t_step = motion(products, places, stiff)
        R[h] = (R_step @ R[h].astype(np.float64)).astype(np.float32)
        t[h] = (R_step @ t[h].astype(np.float64) + t_step).astype(np.float32)
