"""Poses in which a part lies in what a group has left open: crumbs have breaks on most sides, and hardly any edge.

Every sample of a break against every one of the other part's, in some turns about their normals, is a pose. Break on
break speaks for it, skin on anything against it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cmnet.geometry.neighbors import farthest_points
from cmnet.geometry.pose import Pose
from cmnet.geometry.trees import even_tree, nearest_one
from cmnet.geometry.types import Array, Floats32, Ints
from cmnet.pairing.propose.breaks import BROKEN, lying_on, settled, some_of
from cmnet.pairing.propose.creases import Poses, distinct, highest, overlap
from cmnet.pairing.surface.surface import Surface

SIEVE, SETTLED = (60, 0.03), (300, 0.012)  # samples that judge poses, and how far they may be off, in units
SUNK = 0.004  # of b's area: what one probe inside the other part outweighs
FEWEST = 10  # samples on breaks, of either part


@dataclass(frozen=True)
class Search:
    """How many poses are tried.

    opened, breaks : samples of a's breaks and of b's, spread out
    turns          : about their normals
    sifted, probed : poses that remain before and after probing for overlap; these settle
    kept           : in the end
    """

    opened: int
    breaks: int
    turns: int
    sifted: int
    probed: int
    kept: int


AFAR = Search(opened=100, breaks=15, turns=12, sifted=1500, probed=500, kept=16)
CLOSELY = Search(opened=300, breaks=24, turns=16, sifted=4000, probed=1500, kept=24)


def propose_in_holes(a: Surface, b: Surface, search: Search) -> list[Pose]:
    """The most promising poses of b in a's frame, best first; none where nobody says what is broken."""
    if a.broken is None or b.broken is None:
        return []
    if a.area < b.area:
        return [T.inverse() for T in propose_in_holes(b, a, search)]
    on_a, on_b = (np.flatnonzero(broken > BROKEN) for broken in (a.broken, b.broken))
    if min(len(on_a), len(on_b)) < FEWEST:
        return []
    opened = a.broken[nearest_one(even_tree(a.points), a.dense)[1]].astype(np.float32)
    skin = np.setdiff1d(np.arange(len(b.points)), on_b)

    def score(poses: Poses, judges: int, near: float) -> Floats32:
        filled = lying_on(a, poses, some_of(b, on_b, judges), near, opened)
        return filled - lying_on(a, poses, some_of(b, skin, judges), near, np.ones_like(opened))

    def sunk(poses: Poses) -> Floats32:
        return np.float32(SUNK * b.area) * overlap(a, b, poses)

    poses = _facing(a, b, _spread(a, on_a, search.opened), _spread(b, on_b, search.breaks), search.turns)
    fill = score(poses, *SIEVE)
    first = highest(fill, search.sifted)
    poses, fill = poses[first], fill[first]
    poses = settled(a, b, poses[highest(fill - sunk(poses), search.probed)])
    chosen = distinct(poses, score(poses, *SETTLED) - sunk(poses), search.kept)
    return [poses.one(i) for i in chosen]


def _spread(surface: Surface, samples: Ints, count: int) -> Ints:
    """At most `count` of the samples, far from each other."""
    return samples[farthest_points(surface.points[samples], min(count, len(samples)))]


def _facing(a: Surface, b: Surface, i: Ints, j: Ints, count: int) -> Poses:
    """Samples i of a and j of b on each other, each two in so many turns."""
    angle = 2 * np.pi * np.arange(count) / count
    turns = np.zeros((count, 3, 3))
    turns[:, 0, 0] = turns[:, 1, 1] = np.cos(angle)
    turns[:, 1, 0], turns[:, 0, 1], turns[:, 2, 2] = np.sin(angle), -np.sin(angle), 1.0
    R = np.einsum("aij,sjk,blk->sabil", _frames(a.normals[i]), turns, _frames(-b.normals[j]), optimize=True)
    t = a.points[i][:, None] - np.einsum("sabij,bj->sabi", R, b.points[j])
    return Poses(R.reshape(-1, 3, 3).astype(np.float32), t.reshape(-1, 3).astype(np.float32))


def _frames(normals: Array) -> Array:
    """(m, 3, 3) float: rotations whose last columns are the normals."""
    aside = np.where(np.abs(normals[:, :1]) < 0.9, [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]])
    x = np.cross(aside, normals)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return np.stack([x, np.cross(normals, x), normals], axis=2)
