"""Surfaces settle on each other: breaks come to touch, and the skin goes on across the crack.

Breaks that face each other come to touch, as in `refine`. Where walls are thin and their edges rounded off, a break
alone is a hinge; so the skin must go on across the crack, too. Two samples of a smooth surface satisfy
(x_b − x_a) · (n_a + n_b) = 0 up to the third order of their distance, so that nothing has to be fitted to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations

import numpy as np
from scipy.spatial.transform import Rotation

from cmnet.geometry.cells import Cells
from cmnet.geometry.pose import Pose, cross_matrix
from cmnet.geometry.types import Array
from cmnet.pairing.align.icp import Samples
from cmnet.pairing.align.normal_equations import add_between, plane_rows
from cmnet.pairing.surface.surface import Surface
from cmnet.settings import Settling

FEWEST_MEETING = 6  # samples below which nothing is asked


@dataclass(frozen=True, eq=False)
class Body:
    """A part, and what of it settles on others.

    all, skin : its samples, and those that are smooth skin; cells : of these
    size      : how far it reaches from its centre
    """

    surface: Surface
    all: Samples
    skin: Samples
    cells: Cells
    size: float

    @staticmethod
    def of(surface: Surface) -> Body:
        points, normals, limits = surface.points, surface.normals, surface.scale.tolerances
        smooth = (np.einsum("nkc,nc->nk", normals[surface.next_to], normals) > limits.skin_smooth).all(axis=1)
        whole = np.flatnonzero(smooth if surface.broken is None else smooth & (surface.broken < limits.broken_skin))
        skin = Samples(points[whole], normals[whole])
        size = float(np.linalg.norm(points, axis=1).max(initial=0.0))
        return Body(surface, Samples(points, normals), skin, Cells.of(skin.x, 2 * surface.spacing), size)


def settled_together(bodies: Sequence[Body], T: Sequence[Pose], stays: Sequence[int] = (0,)) -> list[Pose]:
    """Where parts lie that have moved, all together, to where their surfaces meet best; some of them stay.

    T : of every part, from its coordinates to common ones
    """
    schedule = bodies[0].surface.scale.budget.settling
    settling = [_begin(body, T_part) for body, T_part in zip(bodies, T, strict=True)]
    for radius in schedule.radii:
        asked = {
            (i, j): equations
            for i, j in combinations(range(len(T)), 2)
            if (equations := _asked(settling[i], settling[j], radius, schedule)) is not None
        }
        steps = _solution(len(T), stays, asked, schedule.stiff)
        settling = [replace(part, T=step @ part.T) for part, step in zip(settling, steps)]
    return [T[n] if n in stays else part.end() for n, part in enumerate(settling)]


@dataclass(frozen=True, eq=False)
class _Settling:
    """A part on its way. T : where its surface lies now, in units"""

    body: Body
    T: Pose

    def end(self) -> Pose:
        """From the part's coordinates to common ones."""
        surface = self.body.surface
        return Pose(self.T.R, surface.unit * self.T.t) @ surface.T_part_surface.inverse()


def _begin(body: Body, T_part: Pose) -> _Settling:
    T = T_part @ body.surface.T_part_surface
    return _Settling(body, Pose(T.R, T.t / body.surface.unit))


@dataclass(frozen=True, eq=False)
class _Equations:
    """gap + normal · (motion of x) = 0, of the motion of part b against part a.

    x, normal : (m, 3) float, gap, weight : (m,) float
    """

    x: Array
    normal: Array
    gap: Array
    weight: Array

    def moved(self, T: Pose, share: float) -> _Equations:
        """The same in another frame, weighing so much of it."""
        return _Equations(T.apply(self.x), T.rotate(self.normal), self.gap, share * self.weight)

    def turned(self) -> _Equations:
        """Of the motion of a against b."""
        return replace(self, normal=-self.normal)


def _asked(a: _Settling, b: _Settling, radius: float, schedule: Settling) -> _Equations | None:
    """All that the two parts ask of the motion of b against a, in the group's frame; skin only where breaks meet."""
    if np.linalg.norm(a.T.t - b.T.t) > a.body.size + b.body.size + radius:
        return None
    lift = max(a.body.surface.scale.tolerances.skin_lift, 2 * radius)
    breaks = [_meeting_breaks(a, b, radius).moved(a.T, 1.0), _meeting_breaks(b, a, radius).moved(b.T, 1.0).turned()]
    if sum(len(e.x) for e in breaks) < FEWEST_MEETING:
        return None
    skin = [_going_on(a, b, schedule.reach, lift), _going_on(b, a, schedule.reach, lift)]
    every = [*breaks, skin[0].moved(a.T, schedule.skin), skin[1].moved(b.T, schedule.skin).turned()]
    return _Equations(*(np.concatenate([getattr(e, field.name) for e in every]) for field in fields(_Equations)))


def _meeting_breaks(a: _Settling, b: _Settling, radius: float) -> _Equations:
    """Samples of b that face a lie on it."""
    on = a.body.surface
    x, n, weight = _near(on, b.body.surface, b.body.all, a.T.inverse() @ b.T, radius)
    x, normal, gap = facing(on, x, n, radius)
    over = gap > -on.scale.tolerances.settling_behind
    return _Equations(x[over], normal[over], gap[over], weight * kernel(gap[over] / radius))


def facing(a: Surface, x: Array, n: Array, radius: float) -> tuple[Array, Array, Array]:
    """Of samples x with normals n (m, 3), in a's frame, those that face a within the radius.

    → (k, 3) their places and the normals of a there, (k,) how high they lie above it
    """
    distance, index = a.dense_cells.nearest_one(x, radius)
    met = np.isfinite(distance)
    x, n, at, normal = x[met], n[met], a.dense[index[met]], a.dense_normals[index[met]]
    faces = np.einsum("mc,mc->m", n, normal) < a.scale.tolerances.facing
    gap = np.einsum("mc,mc->m", x - at, normal)
    return x[faces], normal[faces], gap[faces]


def _going_on(a: _Settling, b: _Settling, reach: float, lift: float) -> _Equations:
    """The skin of b goes on that of a."""
    x, n, weight = _near(a.body.surface, b.body.surface, b.body.skin, a.T.inverse() @ b.T, reach)
    distance, index = a.body.cells.nearest_one(x, reach)
    met = np.isfinite(distance)
    x, n, at, normal = x[met], n[met], a.body.skin.x[index[met]], a.body.skin.n[index[met]]
    between = normal + n
    between /= np.maximum(np.linalg.norm(between, axis=1, keepdims=True), 1e-9)
    gap = np.einsum("mc,mc->m", x - at, between)
    least = a.body.surface.scale.tolerances.skin_alike
    alike = (np.einsum("mc,mc->m", n, normal) > least) & (np.abs(gap) < lift)
    return _Equations(x[alike], between[alike], gap[alike], weight * kernel(gap[alike] / lift))


def _near(a: Surface, b: Surface, some: Samples, T_a_b: Pose, reach: float) -> tuple[Array, Array, float]:
    """Of some samples of b, in a's frame, those near a: places, normals, and the area that each stands for."""
    near = np.flatnonzero(np.abs(a.box.at(a.signed, T_a_b, some.x)) < reach + a.box.size)
    step = max(1, -(-len(near) // a.scale.budget.settling.samples))
    near = near[::step]
    return T_a_b.apply(some.x[near]), T_a_b.rotate(some.n[near]), b.area * step / len(b.points)


def kernel(u: Array) -> Array:
    return np.asarray((1 - np.minimum(u * u, 1)) ** 2)


def _solution(
    count: int, stays: Sequence[int], asked: Mapping[tuple[int, int], _Equations], stiff: float
) -> list[Pose]:
    """The small motions of all parts, in the group's frame, that meet the equations between any two best."""
    H, g = np.zeros((count, 6, count, 6)), np.zeros((count, 6))
    for (i, j), equations in asked.items():
        square, pull = _normal_equations(equations, stiff)
        add_between(H, i, j, square)
        g[i] -= pull
        g[j] += pull
    moves = [n for n in range(count) if n not in stays]
    A = H[moves][:, :, moves].reshape(6 * len(moves), -1)
    A += (1e-9 * np.trace(A) / max(len(A), 1) + 1e-12) * np.eye(len(A))  # parts that nothing holds stay as well
    steps = np.zeros((count, 6))
    steps[moves] = -np.linalg.solve(A, g[moves].reshape(-1)).reshape(-1, 6)
    turns = Rotation.from_rotvec(steps[:, :3]).as_matrix()
    return [Pose(turn, step[3:]) for turn, step in zip(turns, steps)]


def _normal_equations(e: _Equations, stiff: float) -> tuple[Array, Array]:
    """(6, 6) and (6,) float, of a turn and a shift; what the equations leave free is held a little where they are."""
    J = plane_rows(e.x, e.normal)
    square, pull = (e.weight[:, None] * J).T @ J, (e.weight * e.gap) @ J
    centre = e.x.mean(axis=0)
    size = max(float(np.sqrt(((e.x - centre) ** 2).sum(axis=1).mean())), 1e-9)
    about = np.eye(6)  # turns about the centre, measured at its distance
    about[3:, :3] = -cross_matrix(centre)
    about[:3] *= size
    back = np.linalg.inv(about)
    give = stiff * float(np.trace(back.T @ square @ back)) / 6
    return square + give * about.T @ about, pull
