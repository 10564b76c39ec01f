"""Bring two surfaces together exactly: point-to-plane on the samples that face each other (opposed normals)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cmnet.geometry.pose import Pose
from cmnet.pairing.surface import Surface

Array = NDArray[np.float64]

RADII = (0.02, 0.016, 0.012, 0.01, 0.008, 0.006, 0.005, 0.004, 0.004, 0.003, 0.003)  # in units, one per round
FACING = -0.6  # normals of touching samples have a dot product below this
MOST = 1200  # samples of either part used in a round
FEWEST = 12  # equations below which a pose is left as it is
STIFF = 1e-3  # of the mean stiffness, added to all: keeps what slides freely from sliding away


def refine(a: Surface, b: Surface, T_a_b: Pose) -> Pose:
    """The pose near T_a_b in which the facing surfaces touch, in the frames of the surfaces."""
    band = RADII[0] + 2 * max(a.box.size, b.box.size)
    on_b, on_a = _within(a, b, T_a_b, band), _within(b, a, T_a_b.inverse(), band)
    for radius in RADII:
        rows_b = _equations(a, b, T_a_b, on_b, radius)
        rows_a = _equations(b, a, T_a_b.inverse(), on_a, radius)
        # What a's samples ask of T_b_a, said in a's frame: points stay, normals and signs turn round.
        step = _solve([rows_b, _turned(rows_a, T_a_b)])
        if step is None:
            break
        T_a_b = step @ T_a_b
    return T_a_b


def _within(a: Surface, b: Surface, T_a_b: Pose, band: float) -> NDArray[np.int64]:
    """Dense samples of b within `band` of a, by a's voxels; at most MOST."""
    near = np.flatnonzero(np.abs(a.signed[a.box.voxel(T_a_b.apply(b.dense))]) < band)
    if len(near) > MOST:
        near = near[np.linspace(0, len(near) - 1, MOST).astype(int)]
    return near


def _equations(a: Surface, b: Surface, T_a_b: Pose, which: NDArray[np.int64], radius: float) -> tuple[Array, Array, Array, Array]:
    """Facing samples of b within radius of a: their places, a's normals, distances to a's planes, weights (a's frame)."""
    x, n = T_a_b.apply(b.dense[which]), T_a_b.rotate(b.dense_normals[which])
    distance, index = a.tree.query(x, distance_upper_bound=radius)
    met = np.isfinite(distance)
    x, n, index = x[met], n[met], index[met]
    normal = a.dense_normals[index]
    facing = np.einsum("kc,kc->k", n, normal) < FACING
    x, normal, index = x[facing], normal[facing], index[facing]
    gap = np.einsum("kc,kc->k", x - a.dense[index], normal)
    return x, normal, gap, (1 - (gap / radius) ** 2) ** 2


def _turned(rows: tuple[Array, Array, Array, Array], T_a_b: Pose) -> tuple[Array, Array, Array, Array]:
    x, normal, gap, weight = rows
    return T_a_b.apply(x), -T_a_b.rotate(normal), gap, weight


def _solve(rows: list[tuple[Array, Array, Array, Array]]) -> Pose | None:
    """The small motion that closes the gaps: minimises Σ w (gap + n·(ω × x + τ))²."""
    x, normal, gap, weight = (np.concatenate(columns) for columns in zip(*rows))
    if len(x) < FEWEST:
        return None
    centre = x.mean(axis=0)
    size = max(float(np.sqrt(((x - centre) ** 2).sum(axis=1).mean())), 1e-9)
    J = np.concatenate([np.cross((x - centre) / size, normal), normal], axis=1)
    H = (J * weight[:, None]).T @ J
    g = J.T @ (weight * gap)
    w = np.linalg.solve(H + (STIFF * np.trace(H) / 6 + 1e-12) * np.eye(6), -g)
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
