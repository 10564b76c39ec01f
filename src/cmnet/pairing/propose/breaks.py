"""Poses in which the breaks of two parts touch most: worn edges suggest them, but cannot judge them.

Every two creases are a pose, as in `creases`. Where edges are worn, hardly any crease around them agrees with it,
but the faces between the edges still fit: here the samples that lie on breaks judge the poses, and settle them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from cmnet.geometry.compiled import compiled
from cmnet.geometry.pose import Pose
from cmnet.geometry.poses import Moves, Poses
from cmnet.geometry.types import Floats32, Ints, Ints32
from cmnet.geometry.volume import Grid, move_into
from cmnet.pairing.align.normal_equations import add_row, motion
from cmnet.pairing.propose.creases import distinct, highest, overlap, seeded_poses
from cmnet.pairing.surface.surface import Surface
from cmnet.settings import Sieve

SampleArrays = tuple[Floats32, Floats32]  # of a part: samples and their normals (m, 3)
Judges = tuple[SampleArrays, float]  # the same, and the area that each stands for
Score = Callable[[Poses, int, float], Floats32]  # of (poses, judges, near): the area that speaks for each pose
# Of a part: its dense samples, of every voxel a nearest one, the voxels; the cosine below which normals face each other
SampleField = tuple[Floats32, Floats32, Ints32, Grid, np.float32]
# Of samples in a pose: where they lie (m, 3), a sample nearby (m,) that they face (−1: none), and how well (m,)
Met = tuple[Floats32, Ints32, Floats32]


def propose_touching(a: Surface, b: Surface, kept: int, near: float | None = None) -> list[Pose]:
    """The most promising poses of b in a's frame, best first; none where nobody says what is broken.

    near : how far samples may be off in the end, in units; None: as the sieve says
    """
    if not kept or b.broken is None or min(len(a.creases), len(b.creases)) < 3:
        return []
    sieve = a.scale.budget.sieve
    sieve = sieve if near is None else replace(sieve, near=(sieve.near[0], near))
    found, area = sifted(a, b, seeded_poses(a, b)[0], lambda *how: contact(a, b, *how), sieve, sieve.sunk, kept)
    return [found.one(i) for i in range(len(found)) if area[i] > 0]


def sifted(
    a: Surface, b: Surface, poses: Poses, score: Score, sieve: Sieve, sunk: float, kept: int
) -> tuple[Poses, Floats32]:
    """The best of the poses, as they settle on breaks, and their scores.

    sunk : area that a probe inside the other part outweighs
    """
    area = score(poses, sieve.judges[0], sieve.near[0])
    first = highest(area, sieve.kept[0])
    poses, area = poses[first], area[first]
    poses = settled_on_breaks(a, b, poses[highest(area - sunk * overlap(a, b, poses), sieve.kept[1])])
    area = score(poses, sieve.judges[1], sieve.near[1])
    chosen = distinct(poses, area - sunk * overlap(a, b, poses), kept, a.scale.tolerances)
    return poses[chosen], area[chosen]


def contact(a: Surface, b: Surface, poses: Poses, judges: int, near: float) -> Floats32:
    """(h,) float32: the area of b's breaks that lies on a in each pose, in square units."""
    return lying_on(a, poses, on_breaks(b, judges), near, np.ones(len(a.dense), dtype=np.float32))


def lying_on(a: Surface, poses: Poses, samples: Judges, near: float, weights: Floats32) -> Floats32:
    """(h,) float32: the area of the samples that lies on a in each pose; weights : (d,), of a's dense samples"""
    points, area = samples
    return np.asarray(area * _contact(poses.moves, points, _sample_field(a), weights, np.float32(near)))


def settled_on_breaks(a: Surface, b: Surface, poses: Poses) -> Poses:
    """Every pose moved until the breaks that face each other touch."""
    rounds = a.scale.budget.on_breaks
    points, _ = on_breaks(b, rounds.samples)
    settling, field = Poses(poses.R.copy(), poses.t.copy()), _sample_field(a)
    for near in rounds.radii:
        _settle(settling.moves, points, field, np.float32(near), rounds.stiff)
    return settling


def on_breaks(b: Surface, count: int) -> Judges:
    """At most `count` even samples of b's breaks."""
    assert b.broken is not None
    return some_of(b, np.flatnonzero(b.broken > b.scale.tolerances.broken), count)


def some_of(b: Surface, chosen: Ints, count: int) -> Judges:
    """At most `count` even ones of the chosen samples of b."""
    step = max(1, -(-len(chosen) // count))
    chosen = chosen[::step]
    points = b.points[chosen].astype(np.float32), b.normals[chosen].astype(np.float32)
    return points, b.area * step / len(b.points)


def _sample_field(a: Surface) -> SampleField:
    points, normals = a.dense.astype(np.float32), a.dense_normals.astype(np.float32)
    return points, normals, a.sample_of, a.box.single(), np.float32(a.scale.tolerances.facing)


@compiled
def _touch(poses: Moves, h: int, samples: SampleArrays, field: SampleField, met: Met) -> None:
    """Sets met: what samples face in pose h, and how well they do, by the cosine of the opposed normals."""
    (points, normals, sample_of, grid, facing), (x, n), (y, at, how), R = field, samples, met, poses[0]
    move_into(poses, h, x, grid, y, at)
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
def _contact(poses: Moves, samples: SampleArrays, field: SampleField, weights: Floats32, near: np.float32) -> Floats32:
    """(h,): how much of the samples lies on another part's, of weights (d,)."""
    points, normals, x = field[0], field[1], samples[0]
    y, at, how = np.empty_like(x), np.empty(len(x), dtype=np.int32), np.empty(len(x), dtype=np.float32)
    total = np.zeros(len(poses[1]), dtype=np.float32)
    for h in range(len(total)):
        _touch(poses, h, samples, field, (y, at, how))
        for k in range(len(x)):
            i = at[k]
            if i >= 0:
                gap = (y[k, 0] - points[i, 0]) * normals[i, 0] + (y[k, 1] - points[i, 1]) * normals[i, 1]
                gap += (y[k, 2] - points[i, 2]) * normals[i, 2]
                total[h] += weights[i] * how[k] * np.exp(-((gap / near) ** 2))
    return total


@compiled
def _settle(poses: Moves, samples: SampleArrays, field: SampleField, near: np.float32, stiff: float) -> None:
    """Moves every pose once: what touches comes to lie in the planes of what it touches."""
    (R, t), points, normals, x = poses, field[0], field[1], samples[0]
    y, at, how = np.empty_like(x), np.empty(len(x), dtype=np.int32), np.empty(len(x), dtype=np.float32)
    row, place, normal = np.empty(7), np.empty(3), np.empty(3)
    for h in range(len(t)):
        products, places = np.zeros((7, 7)), np.zeros(5)
        _touch(poses, h, samples, field, (y, at, how))
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
