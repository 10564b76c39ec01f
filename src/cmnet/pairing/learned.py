"""Poses that the network suggests. A single soft match is a whole pose: R_q_p = F_qᵀ F_p, t from the two points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmnet.geometry.pose import Pose
from cmnet.geometry.procrustes import procrustes, robust_procrustes

Array = NDArray[np.float64]

TOP = 256  # strongest matches that suggest a pose each
NEAR = 0.06  # matches that agree with a pose bring their points so near, in network units
FACING = -0.3  # and their normals' dot product below this
POLISH = 3  # rounds of weighted SVD on the matches that agree
SAME_TURN, SAME_SHIFT = 10.0, 0.05  # degrees and network units: poses nearer to each other than this are one
INLIERS, ROUNDS = 0.1, 5  # the paper's: radius in network units and rounds of the plain weighted SVD


@dataclass(frozen=True, eq=False)
class Correspondences:
    """Soft matches of two parts, the strongest first; coordinates as given, `unit` is a network unit in them.

    x_p, x_q : (k, 3) float points   n_p, n_q : (k, 3) float normals
    F_p, F_q : (k, 3, 3) float frames, rows are the axes   weights : (k,) float
    """

    x_p: Array
    x_q: Array
    n_p: Array
    n_q: Array
    F_p: Array
    F_q: Array
    weights: Array
    unit: float


def poses_from_matches(matches: Correspondences, count: int) -> list[Pose]:
    """At most `count` distinct poses T_q_p: those that most matches agree with, and the plain weighted SVD."""
    if not len(matches.weights):
        return []
    R = matches.F_q[:TOP].swapaxes(1, 2) @ matches.F_p[:TOP]
    t = matches.x_q[:TOP] - np.einsum("hij,hj->hi", R, matches.x_p[:TOP])
    support = np.array([_agreeing(matches, Pose(R[h], t[h])).sum() for h in range(len(R))])
    kept: list[Pose] = []
    for h in np.argsort(-support, kind="stable"):
        T = _polished(matches, Pose(R[h], t[h]))
        if len(kept) < count - 1 and not any(_same(T, other, matches) for other in kept):
            kept.append(T)
    plain = robust_procrustes(matches.x_p, matches.x_q, matches.weights, INLIERS * matches.unit, ROUNDS)
    return kept if any(_same(plain, T, matches) for T in kept) else [*kept, plain]


def _agreeing(matches: Correspondences, T_q_p: Pose) -> Array:
    """(k,) float: the weights of the matches that the pose brings together, 0 for the others."""
    gap = np.linalg.norm(T_q_p.apply(matches.x_p) - matches.x_q, axis=1)
    facing = np.einsum("kc,kc->k", T_q_p.rotate(matches.n_p), matches.n_q) < FACING
    return matches.weights * ((gap < NEAR * matches.unit) & facing)


def _polished(matches: Correspondences, T_q_p: Pose) -> Pose:
    """The weighted SVD of the matches that agree with a pose, again and again."""
    for _ in range(POLISH):
        weights = _agreeing(matches, T_q_p)
        if np.count_nonzero(weights) < 4:
            break
        T_q_p = procrustes(matches.x_p, matches.x_q, weights)
    return T_q_p


def _same(a: Pose, b: Pose, matches: Correspondences) -> bool:
    middle = matches.x_p.mean(axis=0)
    shift = np.linalg.norm(a.apply(middle) - b.apply(middle))
    return bool(a.angle_to(b) < SAME_TURN and shift < SAME_SHIFT * matches.unit)
