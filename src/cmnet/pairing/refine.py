"""Bring two surfaces together exactly: point-to-plane on the samples that face each other (opposed normals)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmnet.geometry.pose import Pose
from cmnet.geometry.trees import nearest_few, nearest_one
from cmnet.pairing.creases import complement
from cmnet.pairing.surface import Surface

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

FACING = -0.6  # normals of touching samples have a dot product below this
THIN, NARROW = 3.0, 0.008  # samples are sought no farther than so many walls, but so far in units at least
CREASES = 400  # of b are held to a's
CLOSING = 0.85  # least cosine of equal skins and opposed breaks
FEWEST = 12  # equations below which a pose is left as it is
BEHIND, SHALLOW = 0.5, 0.003  # samples may lie so far behind the other surface: in walls, but in units at least
STIFF = 1e-3  # of the mean stiffness, added to all: keeps what slides freely from sliding away


@dataclass(frozen=True)
class Schedule:
    """How a pose is refined.

    radii   : how far samples may lie from the other surface, in units, one radius per round
    samples : how many of either part are used, at most
    rim     : weight of a closing crease, against 1 for a sample
    """

    radii: tuple[float, ...]
    samples: int
    rim: float


COARSE = Schedule((0.02, 0.016, 0.012, 0.01, 0.008), 350, 0.3)
FINE = Schedule((0.008, 0.006, 0.005, 0.004, 0.004, 0.003, 0.003, 0.003), 1500, 0.03)


def refine(a: Surface, b: Surface, T_a_b: Pose, schedule: Schedule = FINE) -> Pose:
    """The pose near T_a_b in which the facing surfaces touch, in the frames of the surfaces."""
    band = schedule.radii[0] + max(a.box.size, b.box.size)
    on_b = _within(a, b, T_a_b, band, schedule.samples)
    on_a = _within(b, a, T_a_b.inverse(), band, schedule.samples)
    widest = max(THIN * min(a.wall, b.wall), NARROW)
    for radius in np.minimum(schedule.radii, widest).tolist():
        rows_b = _equations(a, b, T_a_b, on_b, radius)
        rows_a = _equations(b, a, T_a_b.inverse(), on_a, radius)
        step = _solve(rows_b, _turned(rows_a, T_a_b), _rim_equations(a, b, T_a_b, radius, schedule.rim))
        if step is None:
            break
        T_a_b = step @ T_a_b
    return T_a_b


@dataclass(frozen=True, eq=False)
class _Rows:
    """Equations gap + normal · (motion of x) = 0, weighted."""

    x: Array
    normal: Array
    gap: Array
    weight: Array


def _within(a: Surface, b: Surface, T_a_b: Pose, band: float, most: int) -> Ints:
    """Dense samples of b within `band` of a, by a's voxels; at most `most`."""
    near = np.flatnonzero(np.abs(a.box.at(a.signed, T_a_b, b.dense)) < band)
    return near if len(near) <= most else near[np.linspace(0, len(near) - 1, most).astype(int)]


def _equations(a: Surface, b: Surface, T_a_b: Pose, which: Ints, radius: float) -> _Rows:
    """What the facing samples of b within the radius of a ask for, in a's frame."""
    x, n = T_a_b.apply(b.dense[which]), T_a_b.rotate(b.dense_normals[which])
    distance, index = nearest_one(a.tree, x, radius)
    met = np.flatnonzero(np.isfinite(distance))
    met = met[np.einsum("kc,kc->k", n[met], a.dense_normals[index[met]]) < FACING]
    x, index = x[met], index[met]
    normal = a.dense_normals[index]
    gap = np.einsum("kc,kc->k", x - a.dense[index], normal)
    # Further behind than half the wall, a sample faces the other side of it.
    weight = (1 - (gap / radius) ** 2) ** 2 * (gap > -max(BEHIND * min(a.wall, b.wall), SHALLOW))
    return _Rows(x, normal, gap, weight)


def _rim_equations(a: Surface, b: Surface, T_a_b: Pose, radius: float, weight: float) -> _Rows:
    """Where creases close, skin goes on as skin and break lies on break: both planes of a's crease hold b's crease."""
    moved, normals = T_a_b.apply(b.creases.points[:CREASES]), T_a_b.rotate(b.creases.normals[:CREASES])
    distance, index = nearest_few(a.crease_tree, moved, 2, max(radius, NARROW))
    i, j = np.nonzero(np.isfinite(distance))
    partner = index[i, j]
    fits = complement(a.creases.normals[partner], normals[i]) > CLOSING
    x, partner = moved[i[fits]], partner[fits]
    offset = x - a.creases.points[partner]
    planes = a.creases.normals[partner]
    gap = np.einsum("kc,krc->kr", offset, planes)
    return _Rows(np.repeat(x, 2, axis=0), planes.reshape(-1, 3), gap.ravel(), np.full(gap.size, weight))


def _turned(rows: _Rows, T_a_b: Pose) -> _Rows:
    """What a's samples ask of T_b_a, asked of T_a_b instead: the motion is the opposite one."""
    return _Rows(T_a_b.apply(rows.x), -T_a_b.rotate(rows.normal), rows.gap, rows.weight)


def _solve(*rows: _Rows) -> Pose | None:
    """The small motion that closes the gaps: minimises Σ w (gap + n·(ω × x + τ))²."""
    x, normal = np.concatenate([r.x for r in rows]), np.concatenate([r.normal for r in rows])
    gap, weight = np.concatenate([r.gap for r in rows]), np.concatenate([r.weight for r in rows])
    if len(x) < FEWEST:
        return None
    centre = x.mean(axis=0)
    size = max(float(np.sqrt(((x - centre) ** 2).sum(axis=1).mean())), 1e-9)
    J = np.concatenate([np.cross((x - centre) / size, normal), normal], axis=1)
    H = (J * weight[:, None]).T @ J
    w = np.linalg.solve(H + (STIFF * np.trace(H) / 6 + 1e-12) * np.eye(6), -J.T @ (weight * gap))
    R = _rotation(w[:3] / size)
    return Pose(R, centre - R @ centre + w[3:])


def _rotation(w: Array) -> Array:
    """Rodrigues' formula: the rotation by |w| about w."""
    angle = float(np.linalg.norm(w))
    if angle < 1e-12:
        return np.eye(3)
    x, y, z = w / angle
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
