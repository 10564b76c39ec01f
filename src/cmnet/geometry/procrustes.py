"""The rigid motion that best carries one point set onto another (weighted Kabsch)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cmnet.geometry.pose import Pose
from cmnet.geometry.types import Array


def procrustes(source: ArrayLike, target: ArrayLike, weights: ArrayLike | None = None) -> Pose:
    """argmin over rigid T of Σ w_i ‖T source_i − target_i‖² (Eq. 5 of the paper).

    source, target : (k, 3) float, weights : (k,) float ≥ 0 or None → T_target_source

    Never a reflection. Where the points leave the rotation open (none, one, collinear, no weight), one of the
    optimal rotations is returned, the identity where all are.
    """
    a, b = np.asarray(source, dtype=np.float64), np.asarray(target, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 2 or a.shape[1] != 3:
        raise ValueError(f"procrustes needs two (k, 3) arrays of equal length, got {a.shape} and {b.shape}")
    w = np.ones(len(a)) if weights is None else np.asarray(weights, dtype=np.float64)
    if w.shape != (len(a),) or (w < 0).any() or not all(np.isfinite(x).all() for x in (a, b, w)):
        raise ValueError("procrustes needs finite points and one finite weight >= 0 for each of them")
    if w.sum() == 0:
        w = np.ones(len(a))
    if len(a) == 0:
        return Pose.identity()
    w = w / w.sum()
    mean_a, mean_b = w @ a, w @ b
    R = nearest_rotation((b - mean_b).T @ ((a - mean_a) * w[:, None]))
    return Pose(R, mean_b - R @ mean_a)


def nearest_rotation(M: Array) -> Array:
    """The rotation R that maximises trace(Rᵀ M)."""
    U, S, Vt = np.linalg.svd(M)
    if S[0] <= np.finfo(np.float64).tiny:  # no direction at all
        return np.eye(3)
    sign = np.sign(np.linalg.det(U) * np.linalg.det(Vt))
    return (U * [1, 1, sign]) @ Vt


def robust_procrustes(source: ArrayLike, target: ArrayLike, weights: ArrayLike, radius: float, rounds: int = 5) -> Pose:
    """Procrustes, then `rounds` times again on the pairs that the current motion brings within `radius`.

    source, target : (k, 3) float, weights : (k,) float → T_target_source
    """
    a, b, w = (np.asarray(x, dtype=np.float64) for x in (source, target, weights))
    T_b_a = procrustes(a, b, w)
    for _ in range(rounds):
        inlier = np.linalg.norm(T_b_a.apply(a) - b, axis=1) < radius
        if inlier.sum() < 3:  # too few to define a motion: keep what all of them say
            break
        T_b_a = procrustes(a[inlier], b[inlier], w[inlier])
    return T_b_a
