"""Creases: where two smooth faces of a part meet in a convex edge. Break edges are among them.

Along a break edge the skin ends and the fracture begins; on the mate the skin normal is the same, the fracture normal
opposite, and the two interior angles add up to 180 degrees.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from cmnet.geometry.neighbors import farthest_points
from cmnet.geometry.pose import Pose
from cmnet.geometry.types import Array, Bools, Floats, Ints
from cmnet.settings import Tolerances

NEIGHBORS = 32  # samples a crease is fitted to; they reach about 3.2 spacings far
FEWEST_ON_FACE = 4  # of them, on either one


@dataclass(frozen=True, eq=False)
class Creases:
    """Points on the creases of one part.

    points  : (m, 3) float
    normals : (m, 2, 3) float, unit normals of the two faces; which of them is skin is unknown
    bend    : (m,) float, radians between the two normals; the interior angle is π − bend
    likely  : (m,) bool, whether it is held for the edge of a break; without a network, all are
    """

    points: Array
    normals: Array
    bend: Array
    likely: Bools

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, chosen: Ints | Bools) -> Creases:
        return Creases(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def moved(self, T: Pose) -> Creases:
        return replace(self, points=T.apply(self.points), normals=T.rotate(self.normals))


def find_creases(
    points: Array, normals: Array, seeds: Ints, distance: Array, index: Ints, limits: Tolerances
) -> Creases:
    """Fit two planes to the neighbourhood of every seed; keep those that a convex edge fits.

    points, normals : (n, 3) float, seeds : (s,) int, distance, index : (s, k) of their neighbours → at most s creases
    """
    around, own = normals[index], normals[seeds]
    # The far side of a thin wall is a third face, of no interest to this edge.
    counted = np.einsum("nkc,nc->nk", around, own) > limits.other_side
    first, second, share = _two_faces(around, own, counted)
    on_first, on_second = counted & share, counted & ~share
    c1, c2 = _mean(points[index], on_first), _mean(points[index], on_second)
    cosine = np.einsum("nc,nc->n", first, second).clip(-1, 1)
    at = _meet(points[seeds], first, second, c1, c2, cosine)
    bend, reach = np.arccos(cosine), distance[:, -1]
    face = np.where(share[..., None], first[:, None], second[:, None])
    scatter = (1 - np.einsum("nkc,nkc->nk", around, face)) * counted
    convex = (np.einsum("nc,nc->n", c2 - c1, first) < 0) & (np.einsum("nc,nc->n", c1 - c2, second) < 0)
    good = (
        (np.minimum(on_first.sum(axis=1), on_second.sum(axis=1)) >= FEWEST_ON_FACE)
        & (scatter.sum(axis=1) < limits.crease_scatter * counted.sum(axis=1))
        & (bend > np.radians(limits.crease_angles[0]))
        & (bend < np.radians(limits.crease_angles[1]))
        & (np.linalg.norm(at - points[seeds], axis=1) < limits.crease_offset * reach)
        & convex
    )
    likely = np.ones(len(seeds), dtype=bool)
    return Creases(at, np.stack([first, second], axis=1), bend, likely)[good]


def spread(creases: Creases, count: int) -> Creases:
    """At most `count` of them, the likely ones first, either kind in farthest-point order: spread from the start."""
    order: list[Ints] = []
    for some in (np.flatnonzero(creases.likely), np.flatnonzero(~creases.likely)):
        left = min(count - sum(map(len, order)), len(some))
        if left > 0:
            order.append(some[farthest_points(creases.points[some], left)])
    return creases[np.concatenate(order)] if order else creases


def neighbourhoods(points: Array, seeds: int, count: int, radius: float) -> Ints:
    """For each of the first `seeds` points, `count` others around it, in farthest-point order spread evenly.

    points : (m, 3) float in farthest-point order → (≤ seeds, ≤ count) int; beyond the radius where too few are nearer
    """
    offsets = points[:seeds, None].astype(np.float32) - points[None].astype(np.float32)
    far = (offsets**2).sum(axis=2) > radius**2
    rank = far * np.float32(len(points)) + np.arange(len(points), dtype=np.float32)
    return np.argsort(rank, axis=1, kind="stable")[:, :count]


def join_creases(several: list[Creases]) -> Creases:
    """All of them in one."""
    return Creases(*(np.concatenate([getattr(c, field.name) for c in several]) for field in fields(Creases)))


def complement(n_a: Floats, n_b: Floats) -> Floats:
    """(k,) float32: the cosine by which two creases have one face in common and the other opposed, at worst."""
    dots = n_a @ n_b.swapaxes(1, 2)
    straight = np.minimum(np.abs(dots[:, 0, 0]), np.abs(dots[:, 1, 1]))
    crossed = np.minimum(np.abs(dots[:, 0, 1]), np.abs(dots[:, 1, 0]))
    straight = np.where(dots[:, 0, 0] * dots[:, 1, 1] < 0, straight, -1)
    crossed = np.where(dots[:, 0, 1] * dots[:, 1, 0] < 0, crossed, -1)
    return np.maximum(straight, crossed)


def _two_faces(normals: Array, own: Array, counted: Bools, rounds: int = 4) -> tuple[Array, Array, Bools]:
    """Two-means on unit normals (n, k, 3), from a sample's own normal (n, 3) and the most different one that counts.

    → mean normals (n, 3) and (n, 3), and (n, k) bool: who belongs to the first
    """
    cosines = np.where(counted, np.einsum("nkc,nc->nk", normals, own), 1.0)
    first, second = own, normals[np.arange(len(own)), cosines.argmin(axis=1)]
    for _ in range(rounds):
        share = np.einsum("nkc,nc->nk", normals, first) >= np.einsum("nkc,nc->nk", normals, second)
        first = _direction(normals, counted & share, first)
        second = _direction(normals, counted & ~share, second)
    return first, second, share


def _direction(normals: Array, chosen: Bools, otherwise: Array) -> Array:
    """(n, 3) float: mean direction of the chosen ones."""
    total = np.einsum("nkc,nk->nc", normals, chosen.astype(float))
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return np.where(length > 1e-9, total / np.maximum(length, 1e-9), otherwise)


def _mean(points: Array, chosen: Bools) -> Array:
    """(n, 3) float: mean of the chosen ones of (n, k, 3)."""
    return np.einsum("nkc,nk->nc", points, chosen.astype(float)) / np.maximum(chosen.sum(axis=1), 1)[:, None]


def _meet(x: Array, n1: Array, n2: Array, c1: Array, c2: Array, cosine: Array) -> Array:
    """The point nearest to x on both planes: x + α n1 + β n2 with n1·(x' − c1) = 0 = n2·(x' − c2)."""
    d1, d2 = np.einsum("nc,nc->n", c1 - x, n1), np.einsum("nc,nc->n", c2 - x, n2)
    det = np.maximum(1 - cosine**2, 1e-6)
    alpha, beta = (d1 - cosine * d2) / det, (d2 - cosine * d1) / det
    return x + alpha[:, None] * n1 + beta[:, None] * n2
