"""How well the creases of one part fall onto those of another, for very many poses: compiled, one crease at a time.

Most creases of a wrong pose meet nothing. Written as loops, those cost one look into the voxels and nothing else.
"""

from __future__ import annotations

import numpy as np

from cmnet.geometry.compiled import compiled
from cmnet.geometry.types import Floats32, Ints, Ints32
from cmnet.geometry.volume import move_into
from cmnet.pairing.surface.surface import Surface

STRANGERS = np.float32(3.0)  # squared distance, over the squared reach, from which creases are strangers: e⁻³ = 0.05

# Of a part: points (c, 3) and both normals (c, 2, 3) of creases, of every voxel the nearest crease; the voxels' origin,
# scale and shape; least cosine of equal skins and opposed breaks
CreaseField = tuple[Floats32, Floats32, Ints32, Floats32, np.float32, Ints, np.float32]


def crease_agreement(
    a: Surface, b: Surface, R: Floats32, t: Floats32, which: Ints, near: float
) -> tuple[Floats32, Ints32]:
    """How well creases `which` (n,) of b fall onto complementary creases of a in poses R (h, 3, 3), t (h, 3).

    near : creases so near each other agree, in units
    → weights (h, n) float32 in [0, 1] and the creases of a (h, n) int32 they fall onto
    """
    weight = np.zeros((len(t), len(which)), dtype=np.float32)
    partner = np.zeros((len(t), len(which)), dtype=np.int32)
    _agreement(R, t, which, *_arrays(b), _crease_field(a), np.float32(near), weight, partner)
    return weight, partner


def summed_agreement(
    a: Surface, b: Surface, R: Floats32, t: Floats32, which: Ints, rows: Ints, near: float
) -> Floats32:
    """(h,) float32: the sum of the weights over creases which[rows[i]] for pose i. which : (s, n), rows : (h,)"""
    total = np.zeros(len(t), dtype=np.float32)
    _agreements(R, t, which, rows, *_arrays(b), _crease_field(a), np.float32(near), total)
    return total


def _arrays(surface: Surface) -> tuple[Floats32, Floats32]:
    creases = surface.creases
    return creases.points.astype(np.float32), creases.normals.astype(np.float32)


def _crease_field(a: Surface) -> CreaseField:
    box = a.box
    return (*_arrays(a), a.crease_of, *box.single(), np.float32(a.scale.tolerances.agree_sought))


@compiled
def _agreement(
    R: Floats32,
    t: Floats32,
    which: Ints,
    x_b: Floats32,
    n_b: Floats32,
    field: CreaseField,
    near: np.float32,
    weight: Floats32,
    partner: Ints32,
) -> None:
    x, n = x_b[which], n_b[which]
    y, at, squared = np.empty_like(x), np.empty(len(x), dtype=np.int32), np.empty(len(x), dtype=np.float32)
    for h in range(len(t)):
        _fall(R, t, h, x, n, field, near, y, at, squared)
        for k in range(len(x)):
            if at[k] >= 0:
                weight[h, k] = np.exp(-squared[k])
                partner[h, k] = at[k]


@compiled
def _agreements(
    R: Floats32,
    t: Floats32,
    which: Ints,
    rows: Ints,
    x_b: Floats32,
    n_b: Floats32,
    field: CreaseField,
    near: np.float32,
    total: Floats32,
) -> None:
    count = which.shape[1]
    x, n = np.empty((count, 3), dtype=np.float32), np.empty((count, 2, 3), dtype=np.float32)
    y, at, squared = np.empty_like(x), np.empty(count, dtype=np.int32), np.empty(count, dtype=np.float32)
    for h in range(len(t)):
        for k in range(count):
            crease = which[rows[h], k]
            for c in range(3):
                x[k, c], n[k, 0, c], n[k, 1, c] = x_b[crease, c], n_b[crease, 0, c], n_b[crease, 1, c]
        _fall(R, t, h, x, n, field, near, y, at, squared)
        for k in range(count):
            if at[k] >= 0:
                total[h] += np.exp(-squared[k])


@compiled
def _fall(
    R: Floats32,
    t: Floats32,
    h: int,
    x: Floats32,
    n: Floats32,
    field: CreaseField,
    near: np.float32,
    y: Floats32,
    at: Ints32,
    squared: Floats32,
) -> None:
    """Sets at (m,) to the complementary creases that creases x with normals n (m, 2, 3) fall onto in pose h, −1: none.

    squared : (m,), the squared distance over that of the reach
    Creases are complementary that have one face in common and the other opposed. See `creases.complement`.
    """
    x_a, n_a, crease_of, origin, scale, shape, agree = field
    move_into(R, t, h, x, origin, scale, shape, y, at)
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
