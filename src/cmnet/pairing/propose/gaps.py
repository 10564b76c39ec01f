"""Poses in which a part lies in what a group has left open: crumbs have breaks on most sides, and hardly any edge.

Every sample of a break against every one of the other part's, in some turns about their normals, is a pose. Break on
break speaks for it, skin on anything against it.
"""

from __future__ import annotations

import numpy as np

from cmnet.geometry.neighbors import farthest_points
from cmnet.geometry.pose import Pose, normalized
from cmnet.geometry.poses import Poses
from cmnet.geometry.trees import even_tree, nearest_one
from cmnet.geometry.types import Array, Floats32, Ints
from cmnet.pairing.propose.breaks import lying_on, sifted, some_of
from cmnet.pairing.surface.surface import Surface


def propose_in_holes(a: Surface, b: Surface) -> list[Pose]:
    """The most promising poses of b in a's frame, best first; none where nobody says what is broken."""
    if a.broken is None or b.broken is None:
        return []
    if a.area < b.area:
        return [T.inverse() for T in propose_in_holes(b, a)]
    limits, search = a.scale.tolerances, a.scale.budget.holes
    on_a, on_b = (np.flatnonzero(broken > limits.broken) for broken in (a.broken, b.broken))
    if min(len(on_a), len(on_b)) < search.fewest:
        return []
    opened = a.broken[nearest_one(even_tree(a.points), a.dense)[1]].astype(np.float32)
    skin = np.setdiff1d(np.arange(len(b.points)), on_b)

    def score(poses: Poses, judges: int, near: float) -> Floats32:
        filled = lying_on(a, poses, some_of(b, on_b, judges), near, opened)
        return filled - lying_on(a, poses, some_of(b, skin, judges), near, np.ones_like(opened))

    poses = _facing(a, b, _spread(a, on_a, search.opened), _spread(b, on_b, search.breaks), search.turns)
    sieve = search.sieve
    found, _ = sifted(a, b, poses, score, sieve, float(sieve.sunk * b.area), search.kept)
    return [found.one(i) for i in range(len(found))]


def _spread(surface: Surface, samples: Ints, count: int) -> Ints:
    """At most `count` of the samples, far from each other."""
    return samples[farthest_points(surface.points[samples], min(count, len(samples)))]


def _facing(a: Surface, b: Surface, i: Ints, j: Ints, count: int) -> Poses:
    """Samples i of a and j of b on each other, each two in so many turns."""
    angle = 2 * np.pi * np.arange(count) / count
    turns = np.zeros((count, 3, 3))
    turns[:, 0, 0] = turns[:, 1, 1] = np.cos(angle)
    turns[:, 1, 0], turns[:, 0, 1], turns[:, 2, 2] = np.sin(angle), -np.sin(angle), 1.0
    R = np.einsum("aij,sjk,blk->sabil", _frames_on(a.normals[i]), turns, _frames_on(-b.normals[j]), optimize=True)
    t = a.points[i][:, None] - np.einsum("sabij,bj->sabi", R, b.points[j])
    return Poses(R.reshape(-1, 3, 3).astype(np.float32), t.reshape(-1, 3).astype(np.float32))


def _frames_on(normals: Array) -> Array:
    """(m, 3, 3) float: rotations whose last columns are the normals."""
    aside = np.where(np.abs(normals[:, :1]) < 0.9, [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]])
    x = normalized(np.cross(aside, normals))
    return np.stack([x, np.cross(normals, x), normals], axis=2)
