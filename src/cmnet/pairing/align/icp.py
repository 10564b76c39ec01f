"""Bring two surfaces together exactly: point-to-plane on the samples that face each other (opposed normals)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmnet.geometry.compiled import compiled
from cmnet.geometry.pose import Pose, cross_matrix
from cmnet.geometry.types import Array, Ints
from cmnet.pairing.align.normal_equations import FEWEST_EQUATIONS, add_row, motion
from cmnet.pairing.surface.creases import complement
from cmnet.pairing.surface.surface import Surface
from cmnet.settings import Refinement


def refine(a: Surface, b: Surface, T_a_b: Pose, schedule: Refinement | None = None) -> Pose:
    """The pose near T_a_b in which the facing surfaces touch, in the frames of the surfaces.

    schedule : None: that of the exact refinement
    """
    schedule, limits = schedule or a.scale.budget.exact, a.scale.tolerances
    band = schedule.radii[0] + max(a.box.size, b.box.size)
    on_b = within(a, b, T_a_b, band, schedule.samples)
    on_a = within(b, a, T_a_b.inverse(), band, schedule.samples)
    wall = min(a.wall, b.wall)
    widest = max(limits.wall_reach * wall, limits.least_reach)
    for radius in np.minimum(schedule.radii, widest).tolist():
        asked_of_b = _asked_by_samples(a, on_b.moved(T_a_b), radius, wall, schedule.nearest)
        asked_of_a = _asked_by_samples(b, on_a.moved(T_a_b.inverse()), radius, wall, schedule.nearest)
        asked = asked_of_b + asked_of_a.turned(T_a_b) + _asked_by_rim(a, b, T_a_b, radius, schedule)
        step = asked.solution(schedule.stiff)
        if step is None:
            break
        T_a_b = step @ T_a_b
    return T_a_b


@dataclass(frozen=True, eq=False)
class Samples:
    """x, n : (m, 3) float, places and normals."""

    x: Array
    n: Array

    def moved(self, T: Pose) -> Samples:
        return Samples(T.apply(self.x), T.rotate(self.n))


@dataclass(frozen=True, eq=False)
class _Asked:
    """Sums over equations gap + normal · (motion of x) = 0, all that is needed to solve them: see `planes`."""

    products: Array
    places: Array

    def __add__(self, other: _Asked) -> _Asked:
        return _Asked(self.products + other.products, self.places + other.places)

    def turned(self, T_a_b: Pose) -> _Asked:
        """What is asked of T_b_a, in b's frame, asked of T_a_b instead, in a's: the motion is the opposite one."""
        R, t = T_a_b.R, T_a_b.t
        D = np.eye(7)
        D[:3, :3] = D[3:6, 3:6] = -R
        D[:3, 3:6] = -cross_matrix(t) @ R
        count, total, squares = self.places[0], R @ self.places[1:4], self.places[4]
        squares = squares + 2 * t @ total + count * t @ t
        return _Asked(D @ self.products @ D.T, np.array([count, *(total + count * t), squares]))

    def solution(self, stiff: float) -> Pose | None:
        """The small motion that closes the gaps. None: too little is asked."""
        return None if self.places[0] < FEWEST_EQUATIONS else Pose(*motion(self.products, self.places, stiff))


def within(a: Surface, b: Surface, T_a_b: Pose, band: float, most: int) -> Samples:
    """Dense samples of b within `band` of a, by a's voxels; at most `most`."""
    near = np.flatnonzero(np.abs(a.box.at(a.signed, T_a_b, b.dense)) < band)
    if len(near) > most:
        near = near[np.linspace(0, len(near) - 1, most).astype(int)]
    return Samples(b.dense[near], b.dense_normals[near])


def _asked_by_samples(a: Surface, samples: Samples, radius: float, wall: float, nearest: bool) -> _Asked:
    """What the samples, in a's frame, ask for that face a within the radius."""
    x, limits = samples.x, a.scale.tolerances
    index = a.dense_cells.nearest_one(x, radius)[1] if nearest else a.box.at(a.sample_of, Pose.identity(), x)
    asked = _Asked(np.zeros((7, 7)), np.zeros(5))
    # Further behind than half the wall, a sample faces the other side of it.
    behind = max(limits.wall_behind * wall, limits.least_behind)
    given = radius, limits.facing, behind
    _add_up(x, samples.n, index, a.dense, a.dense_normals, *given, asked.products, asked.places)
    return asked


@compiled
def _add_up(
    x: Array,
    n: Array,
    index: NDArray[np.integer],
    points: Array,
    normals: Array,
    radius: float,
    facing: float,
    behind: float,
    products: Array,
    places: Array,
) -> None:
    """Adds to products (7, 7) and places (5,) what samples x with normals n (m, 3) ask for.

    index : (m,) of the point, with its normal, that each of them is held to; len(points): of none
    """
    row = np.empty(7)
    for i in range(len(x)):
        j = index[i]
        if j >= len(points):
            continue
        a, b, c = normals[j]
        u, v, w = x[i, 0] - points[j, 0], x[i, 1] - points[j, 1], x[i, 2] - points[j, 2]
        if u * u + v * v + w * w > radius * radius or n[i, 0] * a + n[i, 1] * b + n[i, 2] * c >= facing:
            continue
        gap = u * a + v * b + w * c
        add_row(x[i], normals[j], gap, (1 - (gap / radius) ** 2) ** 2 * (gap > -behind), row, products, places)


@compiled
def _add_planes(
    x: Array, index: NDArray[np.integer], points: Array, planes: Array, weight: float, products: Array, places: Array
) -> None:
    """The same of points x (m, 3), each of which lies in both planes (p, 2, 3) of point index[i] of (p, 3)."""
    row = np.empty(7)
    for i in range(len(x)):
        j = index[i]
        for k in range(2):
            normal = planes[j, k]
            gap = (
                (x[i, 0] - points[j, 0]) * normal[0]
                + (x[i, 1] - points[j, 1]) * normal[1]
                + (x[i, 2] - points[j, 2]) * normal[2]
            )
            add_row(x[i], normal, gap, weight, row, products, places)


def _asked_by_rim(a: Surface, b: Surface, T_a_b: Pose, radius: float, schedule: Refinement) -> _Asked:
    """Where creases close, skin goes on as skin and break lies on break: both planes of a's crease hold b's crease."""
    limits = a.scale.tolerances
    x, partner, normals = _closing_creases(a, b, T_a_b, max(radius, limits.least_reach), schedule)
    fits = complement(a.creases.normals[partner], normals) > limits.agree_aligned
    asked = _Asked(np.zeros((7, 7)), np.zeros(5))
    planes = (a.creases.points, a.creases.normals)
    _add_planes(x[fits], partner[fits], *planes, schedule.rim, asked.products, asked.places)
    return asked


def _closing_creases(
    a: Surface, b: Surface, T_a_b: Pose, reach: float, schedule: Refinement
) -> tuple[Array, Ints, Array]:
    """Creases of b, in a's frame, with those of a within the reach, and with the normals of their own two faces."""
    moved, normals = (array[: schedule.creases] for array in (b.creases.points, b.creases.normals))
    moved = T_a_b.apply(moved)
    if schedule.nearest:
        index = a.crease_cells.nearest(moved, 2, reach)[1]
    else:
        index = a.box.at(a.crease_of, Pose.identity(), moved)[:, None].astype(np.int64)
    i, j = np.nonzero(index < len(a.creases))
    partner = index[i, j]
    near = ((moved[i] - a.creases.points[partner]) ** 2).sum(axis=1) < reach**2
    i, partner = i[near], partner[near]
    return moved[i], partner, T_a_b.rotate(normals[i])
