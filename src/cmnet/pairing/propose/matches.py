"""Poses that the network suggests.

A single soft match is a whole pose by its frames: R_q_p = F_qᵀ F_p, t from the two points. Two matches are one by their
points and normals, whatever the frames say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cmnet.geometry.pose import Pose, normalized, turned
from cmnet.geometry.procrustes import procrustes, robust_procrustes
from cmnet.geometry.types import Array
from cmnet.settings import Matching


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


def poses_from_matches(matches: Correspondences, count: int, by: Matching = Matching()) -> list[Pose]:
    """At most `count` distinct poses T_q_p: those that most matches agree with, and the plain weighted SVD."""
    if not len(matches.weights):
        return []
    R, t = (np.concatenate(both) for both in zip(_from_frames(matches, by), _from_pairs(matches, by)))
    support = _agreeing(matches, R, t, by).sum(axis=1)
    kept: list[Pose] = []
    same = by.same_turn, by.same_shift * matches.unit, matches.x_p.mean(axis=0)
    for h in np.argsort(-support, kind="stable")[: by.tried]:
        if len(kept) == count - 1:
            break
        T = _polished(matches, Pose(R[h], t[h]), by)
        if not any(T.is_near(other, *same) for other in kept):
            kept.append(T)
    plain = robust_procrustes(matches.x_p, matches.x_q, matches.weights, by.inliers * matches.unit, by.rounds)
    return kept if any(plain.is_near(T, *same) for T in kept) else [*kept, plain]


def _from_frames(matches: Correspondences, by: Matching) -> tuple[Array, Array]:
    """R (h, 3, 3), t (h, 3): the pose of every match by its frames."""
    R = matches.F_q[: by.top].swapaxes(1, 2) @ matches.F_p[: by.top]
    return R, matches.x_q[: by.top] - turned(R, matches.x_p[: by.top])


def _from_pairs(matches: Correspondences, by: Matching) -> tuple[Array, Array]:
    """The same of two matches at a time whose distances and normals fit, the strongest ones."""
    i, j = np.triu_indices(min(by.top, len(matches.weights)), k=1)
    d_p, d_q = matches.x_p[j] - matches.x_p[i], matches.x_q[j] - matches.x_q[i]
    long_p, long_q = (np.linalg.norm(d, axis=1) / matches.unit for d in (d_p, d_q))
    bend = np.einsum("kc,kc->k", matches.n_p[i], matches.n_p[j]) - np.einsum("kc,kc->k", matches.n_q[i], matches.n_q[j])
    fits = (np.minimum(long_p, long_q) > by.long) & (np.abs(long_p - long_q) < by.stretch) & (np.abs(bend) < by.bend)
    strength = np.where(fits, matches.weights[i] * matches.weights[j], -1.0)
    best = np.argsort(-strength, kind="stable")[: min(by.pairs, int(fits.sum()))]
    i, j = i[best], j[best]
    frame_p = _frames_along(d_p[best], matches.n_p[i] + matches.n_p[j])
    frame_q = _frames_along(d_q[best], -matches.n_q[i] - matches.n_q[j])
    R = frame_q @ frame_p.swapaxes(1, 2)
    turning = np.linalg.det(R) > 0.5  # normals along the line between the points leave the turn about it open
    R, i, j = R[turning], i[turning], j[turning]
    middle_p, middle_q = (matches.x_p[i] + matches.x_p[j]) / 2, (matches.x_q[i] + matches.x_q[j]) / 2
    return R, middle_q - turned(R, middle_p)


def _frames_along(along: Array, up: Array) -> Array:
    """(h, 3, 3) float: columns are `along`, what is left of `up` across it, and their cross product."""
    x = normalized(along)
    y = normalized(up - np.einsum("hc,hc->h", up, x)[:, None] * x)
    return np.stack([x, y, np.cross(x, y)], axis=2)


def _agreeing(matches: Correspondences, R_q_p: Array, t_q_p: Array, by: Matching) -> Array:
    """(h, k) float: the weights of the matches that each pose brings together, 0 for the others."""
    gap = np.linalg.norm(matches.x_p @ R_q_p.swapaxes(1, 2) + t_q_p[:, None] - matches.x_q, axis=2)
    facing = np.einsum("hkc,kc->hk", matches.n_p @ R_q_p.swapaxes(1, 2), matches.n_q) < by.facing
    return matches.weights * ((gap < by.near * matches.unit) & facing)


def _polished(matches: Correspondences, T_q_p: Pose, by: Matching) -> Pose:
    """The weighted SVD of the matches that agree with a pose, again and again."""
    for _ in range(by.polish):
        weights = _agreeing(matches, T_q_p.R[None], T_q_p.t[None], by)[0]
        if np.count_nonzero(weights) < 4:
            break
        T_q_p = procrustes(matches.x_p, matches.x_q, weights)
    return T_q_p
