"""Poses that the network suggests.

A single soft match is a whole pose by its frames: R_q_p = F_qᵀ F_p, t from the two points. Two matches are one by their
points and normals, whatever the frames say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cmnet.geometry.pose import Pose
from cmnet.geometry.procrustes import procrustes, robust_procrustes
from cmnet.geometry.types import Array

TOP = 256  # strongest matches that suggest a pose each
PAIRS = 400  # of matches that suggest a pose together, at most
LONG, STRETCH = 0.08, 0.03  # network units: two matches lie so far apart on either part, and differ by so little in it
BEND = 0.35  # and their normals differ by so little in their cosines
NEAR = 0.06  # matches that agree with a pose bring their points so near, in network units
FACING = -0.3  # and their normals' dot product below this
TRIED = 100  # poses, those that most matches agree with first, that are polished
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
    R, t = (np.concatenate(both) for both in zip(_from_frames(matches), _from_pairs(matches)))
    support = _agreeing(matches, R, t).sum(axis=1)
    kept: list[Pose] = []
    for h in np.argsort(-support, kind="stable")[:TRIED]:
        if len(kept) == count - 1:
            break
        T = _polished(matches, Pose(R[h], t[h]))
        if not any(_same(T, other, matches) for other in kept):
            kept.append(T)
    plain = robust_procrustes(matches.x_p, matches.x_q, matches.weights, INLIERS * matches.unit, ROUNDS)
    return kept if any(_same(plain, T, matches) for T in kept) else [*kept, plain]


def _from_frames(matches: Correspondences) -> tuple[Array, Array]:
    """R (h, 3, 3), t (h, 3): the pose of every match by its frames."""
    R = matches.F_q[:TOP].swapaxes(1, 2) @ matches.F_p[:TOP]
    return R, matches.x_q[:TOP] - np.einsum("hij,hj->hi", R, matches.x_p[:TOP])


def _from_pairs(matches: Correspondences) -> tuple[Array, Array]:
    """The same of two matches at a time whose distances and normals fit, the strongest ones."""
    i, j = np.triu_indices(min(TOP, len(matches.weights)), k=1)
    d_p, d_q = matches.x_p[j] - matches.x_p[i], matches.x_q[j] - matches.x_q[i]
    long_p, long_q = (np.linalg.norm(d, axis=1) / matches.unit for d in (d_p, d_q))
    bend = np.einsum("kc,kc->k", matches.n_p[i], matches.n_p[j]) - np.einsum("kc,kc->k", matches.n_q[i], matches.n_q[j])
    fits = (np.minimum(long_p, long_q) > LONG) & (np.abs(long_p - long_q) < STRETCH) & (np.abs(bend) < BEND)
    strength = np.where(fits, matches.weights[i] * matches.weights[j], -1.0)
    best = np.argsort(-strength, kind="stable")[: min(PAIRS, int(fits.sum()))]
    i, j = i[best], j[best]
    frame_p = _frames(d_p[best], matches.n_p[i] + matches.n_p[j])
    frame_q = _frames(d_q[best], -matches.n_q[i] - matches.n_q[j])
    R = frame_q @ frame_p.swapaxes(1, 2)
    turning = np.linalg.det(R) > 0.5  # normals along the line between the points leave the turn about it open
    R, i, j = R[turning], i[turning], j[turning]
    middle_p, middle_q = (matches.x_p[i] + matches.x_p[j]) / 2, (matches.x_q[i] + matches.x_q[j]) / 2
    return R, middle_q - np.einsum("hij,hj->hi", R, middle_p)


def _frames(along: Array, up: Array) -> Array:
    """(h, 3, 3) float: columns are `along`, what is left of `up` across it, and their cross product."""
    x = along / np.linalg.norm(along, axis=1, keepdims=True)
    across = up - np.einsum("hc,hc->h", up, x)[:, None] * x
    y = across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-9)
    return np.stack([x, y, np.cross(x, y)], axis=2)


def _agreeing(matches: Correspondences, R_q_p: Array, t_q_p: Array) -> Array:
    """(h, k) float: the weights of the matches that each pose brings together, 0 for the others."""
    gap = np.linalg.norm(matches.x_p @ R_q_p.swapaxes(1, 2) + t_q_p[:, None] - matches.x_q, axis=2)
    facing = np.einsum("hkc,kc->hk", matches.n_p @ R_q_p.swapaxes(1, 2), matches.n_q) < FACING
    return matches.weights * ((gap < NEAR * matches.unit) & facing)


def _polished(matches: Correspondences, T_q_p: Pose) -> Pose:
    """The weighted SVD of the matches that agree with a pose, again and again."""
    for _ in range(POLISH):
        weights = _agreeing(matches, T_q_p.R[None], T_q_p.t[None])[0]
        if np.count_nonzero(weights) < 4:
            break
        T_q_p = procrustes(matches.x_p, matches.x_q, weights)
    return T_q_p


def _same(a: Pose, b: Pose, matches: Correspondences) -> bool:
    middle = matches.x_p.mean(axis=0)
    shift = np.linalg.norm(a.apply(middle) - b.apply(middle))
    return bool(a.angle_to(b) < SAME_TURN and shift < SAME_SHIFT * matches.unit)
