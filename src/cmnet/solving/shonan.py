"""Poses of a group from its joins at once, without trusting any order of merging (Shonan averaging).

Rotations first: lifted to higher dimensions their least-squares problem has no local minima, so the answer is the best
one wherever it starts (Dellaert et al., ECCV 2020; gtsam). Then the places of the parts' centres, by linear least
squares. Joins that stay far off lose weight, at first little and then ever more, and both are done again. `averaging`
polishes what comes out: it weighs turns and shifts together, each join at its own place, but only finds the optimum
next to where it starts.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from cmnet.geometry.frames import Frames
from cmnet.geometry.pose import Pose, turned
from cmnet.geometry.types import Array

ROUNDS = 10  # of weighing the edges anew
FAR = (0.5, 0.02)  # of the length, in the first and the last round: an edge that far off keeps half of its weight
HELD = 100.0  # times the weight of the surest edge that two held parts keep their relative pose
HIGHEST = 10  # dimension that rotations are lifted to

log = logging.getLogger("cmnet")


class Edge(NamedTuple):
    """A relative pose that is known with some weight (≥ 0)."""

    i: int
    j: int
    T_i_j: Pose
    weight: float


def shonan(
    T: Mapping[int, Pose],
    edges: Iterable[Edge],
    centres: Array,
    length: float = 1.0,
    held: Sequence[int] = (),
    robust: bool = True,
) -> dict[int, Pose]:
    """Poses of the parts of T on which the edges agree best. Without loops the edges are simply followed.

    T       : a first guess, which stays where the edges do not connect all parts or gtsam is missing; its first part
              stays in any case, or, where some are held, all of those
    centres : (n, 3) float, of all parts in their own coordinates; length : of a part, weighs turns against shifts
    robust  : whether edges that are far off lose weight
    """
    fixed = sorted(held) or [min(T)]
    known = [edge for edge in edges if _is_sound(edge)]
    top = max((edge.weight for edge in known), default=1.0)
    known = [Edge(i, j, pose, weight / top) for i, j, pose, weight in known]
    known += [Edge(fixed[0], k, T[fixed[0]].inverse() @ T[k], HELD) for k in fixed[1:]]
    trees = follow(known)
    if len(trees) != 1 or trees[0].keys() != T.keys():
        return dict(T)
    poses = trees[0] if len(known) < len(T) else _average(T, known, centres, length, robust)
    back = T[fixed[0]] @ poses[fixed[0]].inverse()
    return {k: T[k] if k in fixed else back @ poses[k] for k in T}


def follow(edges: Iterable[Edge]) -> list[dict[int, Pose]]:
    """Poses in every connected set of parts, each by its tree of heaviest edges and in the frame of its first part."""
    frames = Frames()
    for i, j, T_i_j, _ in sorted(edges, key=lambda edge: -edge.weight):
        frames.connect(i, j, T_i_j)
    return frames.sets()


def _is_sound(edge: Edge) -> bool:
    R = edge.T_i_j.R
    finite = np.isfinite(edge.weight) and np.isfinite(edge.T_i_j.matrix()).all()
    return bool(finite and edge.weight > 0 and edge.i != edge.j and np.allclose(R @ R.T, np.eye(3), atol=1e-6))


def _average(
    T: Mapping[int, Pose], edges: Sequence[Edge], centres: Array, length: float, robust: bool
) -> dict[int, Pose]:
    """Rotations, then places of the centres, with weights from how far off every edge is in the end."""
    parts = sorted(T)
    place = {k: n for n, k in enumerate(parts)}
    i, j = np.array([(place[edge.i], place[edge.j]) for edge in edges]).T
    R_i_j = np.array([edge.T_i_j.R for edge in edges])
    t_i_j = np.array([edge.T_i_j.apply(centres[edge.j]) - centres[edge.i] for edge in edges])
    weights = np.array([edge.weight for edge in edges])
    R, trust = np.array([T[k].R for k in parts]), np.ones(len(edges))
    for far in np.geomspace(*FAR, ROUNDS) * length:
        found = rotations(R, i, j, R_i_j, weights * trust)
        if found is None:
            return dict(T)
        R = found
        x = places(R, i, j, t_i_j, weights * trust)
        turn = length * np.linalg.norm(R[i] @ R_i_j - R[j], axis=(1, 2)) / np.sqrt(2)  # the angle, where it is small
        off = np.hypot(turn, np.linalg.norm(turned(R[i], t_i_j) - x[j] + x[i], axis=1))
        if not robust or off.max() <= FAR[1] * length:
            break
        trust = 1 / (1 + (off / far) ** 2)
    return {k: Pose(R[n], x[n] - R[n] @ centres[k]) for n, k in enumerate(parts)}


def rotations(R: Array, i: Array, j: Array, R_i_j: Array, weights: Array) -> Array | None:
    """(n, 3, 3) float: the rotations with R_j ≈ R_i R_i_j, by weight; None where gtsam cannot say or is missing.

    R : (n, 3, 3) float, where to start, so that nothing is random
    """
    gtsam = _gtsam()
    if gtsam is None:
        return None
    try:
        measured = [
            gtsam.BinaryMeasurementRot3(a, b, gtsam.Rot3(M), gtsam.noiseModel.Isotropic.Precision(3, weight))
            for a, b, M, weight in zip(i.tolist(), j.tolist(), R_i_j, (weights / weights.max()).tolist())
        ]
        limits = gtsam.LevenbergMarquardtParams.CeresDefaults()
        limits.setRelativeErrorTol(1e-12)
        initial = gtsam.Values()
        for k, M in enumerate(R):
            initial.insert(k, gtsam.Rot3(M))
        problem = gtsam.ShonanAveraging3(measured, gtsam.ShonanAveragingParameters3(limits))
        values, _ = problem.run(initial, 3, HIGHEST)
        found = np.array([values.atRot3(k).matrix() for k in range(len(R))])
    except Exception as error:  # whatever it stumbles over, the first guess is an answer too
        log.debug("Shonan averaging gave up: %s", error)
        return None
    good = np.isfinite(found).all() and np.allclose(found @ found.swapaxes(1, 2), np.eye(3), atol=1e-6)
    return found if good else None


def places(R: Array, i: Array, j: Array, t_i_j: Array, weights: Array) -> Array:
    """(n, 3) float: the points with x_j ≈ x_i + R_i t_i_j, by weight, the first at the origin."""
    rows, root = np.arange(len(i)), np.sqrt(weights)
    A = np.zeros((len(i), len(R)))
    A[rows, j], A[rows, i] = root, -root
    x = np.zeros((len(R), 3))
    x[1:] = np.linalg.lstsq(A[:, 1:], root[:, None] * turned(R[i], t_i_j), rcond=None)[0]
    return x


@cache
def _gtsam() -> Any:
    """The library, or None, which is said once."""
    try:
        import gtsam
    except ImportError:
        log.warning("gtsam is not installed (it has no wheels for some platforms): poses are evened out linearly only")
        return None
    return gtsam
