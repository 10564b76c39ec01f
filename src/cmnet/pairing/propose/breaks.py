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

# Of a part: samples and their normals (d, 3), of every voxel a nearest sample; the voxels' origin, scale and shape
Field = tuple[Floats32, Floats32, Ints32, Floats32, np.float32, Ints]
Samples = tuple[Floats32, Floats32, float]  # of a part: points and normals (m, 3), and the area that each stands for

BROKEN = 0.4  # samples that judge lie on a break with at least this probability
FACING = np.float32(-0.6)  # and face what they touch with normals whose dot product is below this
# Poses that remain, samples that judge them, and how far those may be off, in units: before and after probing for
# overlap, and in the end
SIEVE, PROBED, SETTLED = (1200, 100, 0.03), 400, (300, 0.01)
RADII = (0.03, 0.025, 0.02, 0.015, 0.012)  # how far samples may be off while poses settle, one round after the other
STIFF = 0.02  # of the mean stiffness, added to all: a pose that holds poorly moves little
SUNK = 0.004  # square units of contact that one probe inside the other part outweighs


def propose_touching(a: Surface, b: Surface, kept: int, settle: bool = True, near: float = SETTLED[1]) -> list[Pose]:
    """The most promising poses of b in a's frame, best first; none where nobody says what is broken.

    settle : False: poses stay as two creases suggest them
    near   : how far samples may be off in the end, in units
    """
    if not kept or b.broken is None or min(len(a.creases), len(b.creases)) < 3:
        return []
    poses, _ = seeded_poses(a, b)
    count, judges, off = SIEVE
    area = contact(a, b, poses, judges, off)
    first = highest(area, count)
    poses, area = poses[first], area[first]
    poses = poses[highest(area - SUNK * overlap(a, b, poses), PROBED)]
    if settle:
        poses = settled(a, b, poses)
    area = contact(a, b, poses, SETTLED[0], near)
    chosen = distinct(poses, area - SUNK * overlap(a, b, poses), kept)
    return [poses.one(i) for i in chosen if area[i] > 0]


def contact(a: Surface, b: Surface, poses: Poses, judges: int, near: float) -> Floats32:
    """(h,) float32: the area of b's breaks that lies on a in each pose, in square units."""
    return lying_on(a, poses, on_breaks(b, judges), near, np.ones(len(a.dense), dtype=np.float32))


def lying_on(a: Surface, poses: Poses, samples: Samples, near: float, weights: Floats32) -> Floats32:
    """(h,) float32: the area of the samples that lies on a in each pose; weights : (d,), of a's dense samples"""
    x, n, area = samples
    total = np.zeros(len(poses), dtype=np.float32)
    _contact(poses.R, poses.t, x, n, _field(a), weights, np.float32(near), total)
    return np.asarray(area * total)


def settled(a: Surface, b: Surface, poses: Poses) -> Poses:
    """Every pose moved until the breaks that face each other touch."""
    x, n, _ = on_breaks(b, SETTLED[0])
    settling, field = Poses(poses.R.copy(), poses.t.copy()), _field(a)
    for near in RADII:
        _settle(settling.R, settling.t, x, n, field, np.float32(near))
    return settling


def on_breaks(b: Surface, count: int) -> Samples:
    """At most `count` even samples of b's breaks."""
    assert b.broken is not None
    return some_of(b, np.flatnonzero(b.broken > BROKEN), count)


def some_of(b: Surface, chosen: Ints, count: int) -> Samples:
    """At most `count` even ones of the chosen samples of b."""
    step = max(1, -(-len(chosen) // count))
    chosen = chosen[::step]
    return b.points[chosen].astype(np.float32), b.normals[chosen].astype(np.float32), b.area * step / len(b.points)


def _field(a: Surface) -> Field:
    return a.dense.astype(np.float32), a.dense_normals.astype(np.float32), a.sample_of, *a.box.single()


@compiled
def _touch(
    R: Floats32, t: Floats32, h: int, x: Floats32, n: Floats32, field: Field, y: Floats32, at: Ints32, how: Floats32
) -> None:
    """Sets, of samples x with normals n (m, 3) in pose h, y (m, 3): where they lie; at, how (m,): what they face.

    That is a sample nearby (−1: none), and how well it faces: by the cosine of the opposed normals.
    """
    points, normals, sample_of, origin, scale, shape = field
    move_into(R, t, h, x, origin, scale, shape, y, at)
    for k in range(len(x)):
        near = sample_of[at[k]] if at[k] >= 0 else len(points)
        at[k] = -1
        if near < len(points):
            cosine = np.float32(0)
            for c in range(3):
                cosine += normals[near, c] * (R[h, c, 0] * n[k, 0] + R[h, c, 1] * n[k, 1] + R[h, c, 2] * n[k, 2])
            if cosine < FACING:
                at[k], how[k] = near, -cosine


@compiled
def _contact(
    R: Floats32,
    t: Floats32,
    x: Floats32,
    n: Floats32,
    field: Field,
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
def _settle(R: Floats32, t: Floats32, x: Floats32, n: Floats32, field: Field, near: np.float32) -> None:
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
        R_step, t_step = motion(products, places, STIFF)
        R[h] = (R_step @ R[h].astype(np.float64)).astype(np.float32)
        t[h] = (R_step @ t[h].astype(np.float64) + t_step).astype(np.float32)
