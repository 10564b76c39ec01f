"""Rigid motions. `T_b_a` maps a's coordinates to b's: `x_b = T_b_a.apply(x_a)`, `T_c_a = T_c_b @ T_b_a`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from cmnet.geometry.types import Array


@dataclass(frozen=True, eq=False)
class Pose:
    """A rigid motion x ↦ R x + t.

    R : (3, 3) float, a rotation
    t : (3,) float
    """

    R: Array
    t: Array

    def __post_init__(self) -> None:
        R, t = np.asarray(self.R, dtype=np.float64), np.asarray(self.t, dtype=np.float64)
        if R.shape != (3, 3) or t.shape != (3,):
            raise ValueError(f"a pose needs R of shape (3, 3) and t of shape (3,), got {R.shape} and {t.shape}")
        object.__setattr__(self, "R", R)
        object.__setattr__(self, "t", t)

    @staticmethod
    def identity() -> Pose:
        return Pose(np.eye(3), np.zeros(3))

    @staticmethod
    def from_matrix(matrix: ArrayLike) -> Pose:
        """From a (4, 4) homogeneous matrix."""
        M = np.asarray(matrix, dtype=np.float64)
        if M.shape != (4, 4) or not np.allclose(M[3], [0, 0, 0, 1]):
            raise ValueError("a pose matrix has shape (4, 4) and the last row 0 0 0 1")
        return Pose(M[:3, :3], M[:3, 3])

    @staticmethod
    def random(rng: np.random.Generator, spread: float = 0.0) -> Pose:
        """A uniformly random rotation and a normally distributed translation of standard deviation `spread`."""
        q = rng.standard_normal(4)
        w, x, y, z = q / np.linalg.norm(q)
        R = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
        return Pose(R, spread * rng.standard_normal(3))

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(self.R @ other.R, self.R @ other.t + self.t)

    def inverse(self) -> Pose:
        return Pose(self.R.T, -self.R.T @ self.t)

    def apply(self, points: ArrayLike) -> Array:
        """Move points. points : (..., 3) float → (..., 3) float"""
        return np.asarray(points, dtype=np.float64) @ self.R.T + self.t

    def rotate(self, vectors: ArrayLike) -> Array:
        """Turn directions (normals). vectors : (..., 3) float → (..., 3) float"""
        return np.asarray(vectors, dtype=np.float64) @ self.R.T

    def matrix(self) -> Array:
        """The (4, 4) homogeneous matrix."""
        M = np.eye(4)
        M[:3, :3], M[:3, 3] = self.R, self.t
        return M

    def adjoint(self) -> Array:
        """(6, 6) float: takes a small motion (turn, shift) of a's coordinates to the same one in b's."""
        A = np.zeros((6, 6))
        A[:3, :3] = A[3:, 3:] = self.R
        A[3:, :3] = cross_matrix(self.t) @ self.R
        return A

    def angle_to(self, other: Pose) -> float:
        """Geodesic distance of the two rotations, in degrees within [0, 180]."""
        # atan2 of sine and cosine stays exact near 0 and 180 degrees, arccos of the trace does not.
        D = self.R.T @ other.R
        sine = np.linalg.norm([D[2, 1] - D[1, 2], D[0, 2] - D[2, 0], D[1, 0] - D[0, 1]]) / 2
        return float(np.degrees(np.arctan2(sine, (np.trace(D) - 1) / 2)))

    def is_near(self, other: Pose, turn: float, shift: float, place: ArrayLike = (0.0, 0.0, 0.0)) -> bool:
        """Whether two poses are one, up to a turn in degrees and a shift, measured at a place (3,)."""
        off = np.linalg.norm(self.apply(place) - other.apply(place))
        return bool(off <= shift and self.angle_to(other) <= turn)


def cross_matrix(x: Array) -> Array:
    """(3, 3) float: the matrix of y ↦ x × y."""
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def normalized(v: Array) -> Array:
    """(..., 3) float: the same directions, of length 1; zero stays zero."""
    return v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-12)


def turned(R: Array, x: Array) -> Array:
    """(k, 3) float: each of x (k, 3) by its own one of R (k, 3, 3)."""
    return np.einsum("kij,kj->ki", R, x)


def principal_frame(xyz: Array) -> Pose:
    """The principal axes about the mean, each pointing where the samples reach farther: it moves with the part."""
    centre = xyz.mean(axis=0)
    axes = np.linalg.eigh((xyz - centre).T @ (xyz - centre))[1]
    lean = (((xyz - centre) @ axes) ** 3).sum(axis=0)
    axes = axes * np.where(lean < 0, -1.0, 1.0)
    axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
    return Pose(axes, centre)
