"""How well the creases of one part fall onto those of another, for very many poses: compiled, one crease at a time.

Most creases of a wrong pose meet nothing. Written as loops, those cost one look into the voxels and nothing else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmnet.geometry.compiled import compiled
from cmnet.geometry.volume import moved_into
from cmnet.pairing.surface import Surface

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]

AGREE = np.float32(0.88)  # least cosine of equal skins and opposed fractures
FARTHEST = np.float32(3.0)  # squared distance, over the squared reach, from which creases are strangers: e⁻³ = 0.05
STRANGER = np.float32(np.inf)


def agreement(a: Surface, b: Surface, R: Floats, t: Floats, which: Ints, near: float) -> tuple[Floats, Indices]:
    """How well creases `which` (n,) of b fall onto complementary creases of a in poses R (h, 3, 3), t (h, 3).

    near : creases so near each other agree, in units
    → weights (h, n) float32 in [0, 1] and the creases of a (h, n) int32 they fall onto
    """
    weight = np.zeros((len(t), len(which)), dtype=np.float32)
    partner = np.zeros((len(t), len(which)), dtype=np.int32)
    _agreement(R, t, which, *_arrays(b), *_field(a), np.float32(near), weight, partner)
    return weight, partner


def agreements(a: Surface, b: Surface, R: Floats, t: Floats, which: Ints, rows: Ints, near: float) -> Floats:
    """(h,) float32: the sum of the weights over creases which[rows[i]] for pose i. which : (s, n), rows : (h,)"""
    total = np.zeros(len(t), dtype=np.float32)
    _agreements(R, t, which, rows, *_arrays(b), *_field(a), np.float32(near), total)
    return total


def _arrays(surface: Surface) -> tuple[Floats, Floats]:
    creases = surface.creases
    return creases.points.astype(np.float32), creases.normals.astype(np.float32)


def _field(a: Surface) -> tuple[Any, ...]:
    box = a.box
    return (*_arrays(a), a.crease_of, *box.single())


@compiled
def _agreement(
    R: Floats,
    t: Floats,
    which: Ints,
    x_b: Floats,
    n_b: Floats,
    x_a: Floats,
    n_a: Floats,
    crease_of: Indices,
    origin: Floats,
    scale: np.float32,
    shape: Ints,
    near: np.float32,
    weight: Floats,
    partner: Indices,
) -> None:
    for h in range(len(t)):
        for k in range(len(which)):
            at, squared = _fallen(R, t, h, x_b, which[k], x_a, crease_of, origin, scale, shape, near)
            if squared <= FARTHEST and _complementary(R, h, n_b, which[k], n_a, at):
                weight[h, k] = np.exp(-squared)
                partner[h, k] = at


@compiled
def _agreements(
    R: Floats,
    t: Floats,
    which: Ints,
    rows: Ints,
    x_b: Floats,
    n_b: Floats,
    x_a: Floats,
    n_a: Floats,
    crease_of: Indices,
    origin: Floats,
    scale: np.float32,
    shape: Ints,
    near: np.float32,
    total: Floats,
) -> None:
    for h in range(len(t)):
        for k in range(which.shape[1]):
            crease = which[rows[h], k]
            at, squared = _fallen(R, t, h, x_b, crease, x_a, crease_of, origin, scale, shape, near)
            if squared <= FARTHEST and _complementary(R, h, n_b, crease, n_a, at):
                total[h] += np.exp(-squared)


@compiled
def _fallen(
    R: Floats,
    t: Floats,
    h: int,
    x_b: Floats,
    k: int,
    x_a: Floats,
    crease_of: Indices,
    origin: Floats,
    scale: np.float32,
    shape: Ints,
    near: np.float32,
) -> tuple[int, np.float32]:
    """The crease of a that crease k of b falls onto in pose h, and the squared distance over that of the reach."""
    # Points outside the box have no crease near them: its outermost voxels say so.
    y0, y1, y2, voxel = moved_into(R[h], t[h], x_b[k], origin, scale, shape)
    at = crease_of[voxel] if voxel >= 0 else len(x_a)
    if at >= len(x_a):
        return 0, STRANGER
    d0, d1, d2 = y0 - x_a[at, 0], y1 - x_a[at, 1], y2 - x_a[at, 2]
    return at, (d0 * d0 + d1 * d1 + d2 * d2) / (near * near)


@compiled
def _complementary(R: Floats, h: int, n_b: Floats, k: int, n_a: Floats, at: int) -> bool:
    """Whether two creases have one face in common and the other opposed. See `creases.complement`."""
    for crossed in range(2):
        first = _cosine(R, h, n_b, k, crossed, n_a, at, 0)
        if abs(first) > AGREE:
            second = _cosine(R, h, n_b, k, 1 - crossed, n_a, at, 1)
            if abs(second) > AGREE and first * second < 0:
                return True
    return False


@compiled
def _cosine(R: Floats, h: int, n_b: Floats, k: int, f_b: int, n_a: Floats, at: int, f_a: int) -> np.float32:
    """Of face f_b of crease k of b, turned by pose h, and face f_a of crease `at` of a."""
    b0, b1, b2 = n_b[k, f_b, 0], n_b[k, f_b, 1], n_b[k, f_b, 2]
    total = np.float32(0)
    for c in range(3):
        total += n_a[at, f_a, c] * (R[h, c, 0] * b0 + R[h, c, 1] * b1 + R[h, c, 2] * b2)
    return total
