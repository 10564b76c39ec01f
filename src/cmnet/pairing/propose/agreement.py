"""How well the creases of one part fall onto those of another, for very many poses: compiled, one crease at a time.

Most creases of a wrong pose meet nothing. Written as loops, those cost one look into the voxels and nothing else.
"""

from __future__ import annotations

import numpy as np

from cmnet.geometry.compiled import compiled
from cmnet.geometry.poses import Moves, Poses
from cmnet.geometry.types import Floats32, Ints, Ints32
from cmnet.geometry.volume import Grid, move_into
from cmnet.pairing.surface.surface import Surface

STRANGERS = np.float32(3.0)  # squared distance, over the squared reach, from which creases are strangers: e⁻³ = 0.05

CreaseArrays = tuple[Floats32, Floats32]  # of a part: points (c, 3) and both normals (c, 2, 3) of creases
# Of a part: its creases, of every voxel the nearest one, the voxels; least cosine of equal skins and opposed breaks
CreaseField = tuple[Floats32, Floats32, Ints32, Grid, np.float32]
# Of creases in a pose: where they lie (m, 3), what they fall onto (m,), the squared distance over that of the reach
Fallen = tuple[Floats32, Ints32, Floats32]


def crease_agreement(a: Surface, b: Surface, poses: Poses, which: Ints, near: float) -> tuple[Floats32, Ints32]:
    """How well creases `which` (n,) of b fall onto complementary creases of a in each pose.

    near : creases so near each other agree, in units
    → weights (h, n) float32 in [0, 1] and the creases of a (h, n) int32 they fall onto
    """
    weight = np.zeros((len(poses), len(which)), dtype=np.float32)
    partner = np.zeros(weight.shape, dtype=np.int32)
    rows = np.zeros(len(poses), dtype=np.int64)
    _agreements(poses.moves, which[None], rows, _arrays(b), _crease_field(a), np.float32(near), weight, partner)
    return weight, partner


def summed_agreement(a: Surface, b: Surface, poses: Poses, which: Ints, rows: Ints, near: float) -> Floats32:
    """(h,) float32: the sum of the weights over creases which[rows[i]] for pose i. which : (s, n), rows : (h,)"""
    weight, partner = np.zeros((0, 0), dtype=np.float32), np.zeros((0, 0), dtype=np.int32)
    total = _agreements(poses.moves, which, rows, _arrays(b), _crease_field(a), np.float32(near), weight, partner)
    return np.asarray(total)


def _arrays(surface: Surface) -> CreaseArrays:
    creases = surface.creases
    return creases.points.astype(np.float32), creases.normals.astype(np.float32)


def _crease_field(a: Surface) -> CreaseField:
    return (*_arrays(a), a.crease_of, a.box.single(), np.float32(a.scale.tolerances.agree_sought))


@compiled
def _agreements(
    poses: Moves,
    which: Ints,
    rows: Ints,
    creases: CreaseArrays,
    field: CreaseField,
    near: np.float32,
    weight: Floats32,
    partner: Ints32,
) -> Floats32:
    """The sums; weight and partner (h, n) are set as well, unless they are empty."""
    (x_b, n_b), count = creases, which.shape[1]
    x, n = np.empty((count, 3), dtype=np.float32), np.empty((count, 2, 3), dtype=np.float32)
    found = np.empty_like(x), np.empty(count, dtype=np.int32), np.empty(count, dtype=np.float32)
    _, at, squared = found
    total = np.zeros(len(rows), dtype=np.float32)
    for h in range(len(rows)):
        if h == 0 or rows[h] != rows[h - 1]:
            for k in range(count):
                crease = which[rows[h], k]
                for c in range(3):
                    x[k, c], n[k, 0, c], n[k, 1, c] = x_b[crease, c], n_b[crease, 0, c], n_b[crease, 1, c]
        _fall(poses, h, (x, n), field, near, found)
        for k in range(count):
            if at[k] >= 0:
                fit = np.exp(-squared[k])
                total[h] += fit
                if len(weight):
                    weight[h, k], partner[h, k] = fit, at[k]
    return total


@compiled
def _fall(poses: Moves, h: int, creases: CreaseArrays, field: CreaseField, near: np.float32, found: Fallen) -> None:
    """Sets found: the complementary creases that the given ones fall onto in pose h, −1: none.

    Creases are complementary that have one face in common and the other opposed. See `creases.complement`.
    """
    (x_a, n_a, crease_of, grid, agree), (x, n), (y, at, squared), R = field, creases, found, poses[0]
    move_into(poses, h, x, grid, y, at)
    for k in range(len(x)):
        # Points outside the box have no crease near them: its outermost voxels say so.
        i = crease_of[at[k]] if at[k] >= 0 else len(x_a)
        at[k] = -1
        if i >= len(x_a):
            continue
        d0, d1, d2 = y[k, 0] - x_a[i, 0], y[k, 1] - x_a[i, 1], y[k, 2] - x_a[i, 2]
        squared[k] = (d0 * d0 + d1 * d1 + d2 * d2) / (near * near)
        if squared[k] > STRANGERS:
            continue
        for crossed in range(2):
            first, second = np.float32(0), np.float32(0)  # cosines of one face of a's with one of b's, in turn
            for c in range(3):
                u, v, w = R[h, c, 0], R[h, c, 1], R[h, c, 2]
                f, g = crossed, 1 - crossed
                first += n_a[i, 0, c] * (u * n[k, f, 0] + v * n[k, f, 1] + w * n[k, f, 2])
                second += n_a[i, 1, c] * (u * n[k, g, 0] + v * n[k, g, 1] + w * n[k, g, 2])
            if abs(first) > agree and abs(second) > agree and first * second < 0:
                at[k] = i
