"""Made-up joins between parts whose true places are known."""

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from cmnet.geometry.pose import Pose
from cmnet.pairing.join import Join


def world(count, seed=0, spread=1.0):
    """T_world_part of parts, each in coordinates of its own."""
    rng = np.random.default_rng(seed)
    return [Pose.random(rng, spread=spread) for _ in range(count)]


def jolt(rng, noise):
    """A small motion: `noise` radians and lengths."""
    return Pose(Rotation.from_rotvec(noise * rng.standard_normal(3)).as_matrix(), noise * rng.standard_normal(3))


def join(T, i, j, confidence, noise=0.0, rng=None):
    T_i_j = T[i].inverse() @ T[j]
    return Join((i, j), T_i_j @ jolt(rng, noise) if noise else T_i_j, confidence, 1.0, 0.0, 0.0)


def wrong(i, j, confidence, seed):
    return Join((i, j), Pose.random(np.random.default_rng(seed), spread=1.0), confidence, 1.0, 0.0, 0.0)


def numbered(joins, first=0):
    """The same joins, as they are counted among all that were found."""
    return [replace(k, number=n) for n, k in enumerate(joins, first)]


def error(poses, T):
    """The largest angle (radians) or distance by which a part lies elsewhere than it should, seen from the first."""
    first = min(poses)
    off = 0.0
    for k, pose in poses.items():
        is_, should = poses[first].inverse() @ pose, T[first].inverse() @ T[k]
        off = max(off, np.radians(is_.angle_to(should)), np.linalg.norm(is_.t - should.t))
    return off


def renamed(joins, name):
    """The same joins between parts called differently: part k becomes name[k]."""
    out = []
    for k in joins:
        (i, j), T_i_j = k.parts, k.T_i_j
        a, b = int(name[i]), int(name[j])
        parts, pose = ((a, b), T_i_j) if a < b else ((b, a), T_i_j.inverse())
        out.append(replace(k, parts=parts, T_i_j=pose))
    return out


def pile(count, rng, neighbours=5, right=(0.3, 0.95), wrong=(0.1, 0.7), noise=0.005):
    """An object's parts in a box, joins of near parts and as many random ones, some of them surer than the true ones.

    Confidences of a pair add up to less than one, as the pair stage's do.
    """
    T = [Pose(Pose.random(rng).R, rng.uniform(-0.5, 0.5, 3)) for _ in range(count)]
    x = np.array([pose.t for pose in T])
    near = np.argsort(np.linalg.norm(x[:, None] - x[None], axis=2), axis=1)[:, 1 : neighbours + 1]
    pairs = sorted({tuple(sorted((i, int(j)))) for i in range(count) for j in near[i]})
    joins = [replace(join(T, *pair, rng.uniform(*right), noise, rng), contact_area=rng.random()) for pair in pairs]
    for _ in pairs:
        i, j = sorted(rng.choice(count, 2, replace=False).tolist())
        pose = Pose(Pose.random(rng).R, rng.uniform(-0.6, 0.6, 3))
        joins.append(Join((i, j), pose, rng.uniform(*wrong), rng.random(), 0.0, 0.0))
    sums = {}
    for k in joins:
        sums[k.parts] = sums.get(k.parts, 0.0) + k.confidence
    return T, [replace(k, confidence=k.confidence / max(1.0, sums[k.parts] / 0.97)) for k in joins]
