"""What speaks for a merge of two groups of parts: the joins between them, weighed as independent witnesses.

Two wrong joins of different pairs rarely agree on a pose, so the evidence multiplies: a merge weighs as much as the
odds of every join that agrees with it, times 1 / CHANCE for each after the first; no merge at all weighs 1. Groups are
rigid, so the merges that disagree exclude each other, and the probability of one is its weight over the sum of all.
A join too weak to gain by agreeing is left out. For two single parts that gives each join its own confidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cmnet.geometry.pose import turned
from cmnet.geometry.types import Array, Bools, Ints
from cmnet.pairing.join import Join

CHANCE = 0.02  # that two wrong joins imply the same pose
TURN = 5.0  # degrees that agreeing joins may differ by
SURE = 0.98  # no single join counts for more
LEADS = 64  # joins of two groups that are tried as the pose of a merge, the surest ones


@dataclass(frozen=True, eq=False)
class Table:
    """Joins as arrays, the surest first; equally sure ones by what they look like, so that no index decides.

    parts      : (m, 2) int
    R, t       : (m, 3, 3), (m, 3) float, T_i_j
    confidence : (m,) float
    """

    joins: tuple[Join, ...]
    parts: Ints
    R: Array
    t: Array
    confidence: Array

    @staticmethod
    def of(joins: Sequence[Join], touching: frozenset[tuple[int, int]] = frozenset()) -> Table:
        """touching : pairs (i < j) known to touch; one of their joins is right, so their confidences add up to one"""
        sure = np.array([join.sure for join in joins], dtype=np.float64)
        pairs = [join.pair for join in joins]
        for pair in touching.intersection(pairs):
            of_pair = np.flatnonzero([other == pair for other in pairs])
            sure[of_pair] = (sure[of_pair] + 1e-9) / (sure[of_pair] + 1e-9).sum()
        figures = [(join.contact_area or 0.0, join.gap_rms or 0.0, join.penetration or 0.0) for join in joins]
        looks = [(-p, -contact, gap, depth) for p, (contact, gap, depth) in zip(sure, figures)]
        order = sorted(range(len(joins)), key=lambda k: looks[k])
        ranked = tuple(joins[k] for k in order)
        return Table(
            ranked,
            np.array([join.parts for join in ranked], dtype=np.int64).reshape(-1, 2),
            np.array([join.T_i_j.R for join in ranked]).reshape(-1, 3, 3),
            np.array([join.T_i_j.t for join in ranked]).reshape(-1, 3),
            sure[order],
        )


@dataclass(frozen=True, eq=False)
class Ways:
    """Relative poses of two groups, one for each join between them, the surest first.

    R, t             : (k, 3, 3), (k, 3) float, T_a_b
    confidence       : (k,) float
    pair             : (k,) int, which pair of parts each joins
    place_a, place_b : (k, 3) float, the centres of the joined parts, in a and in b
    silent           : (pairs,) float, the confidence in other poses of these pairs, which no merge may rest on
    """

    R: Array
    t: Array
    confidence: Array
    pair: Ints
    place_a: Array
    place_b: Array
    silent: Array

    @cached_property
    def sorted_by_pair(self) -> tuple[Ints, Ints]:
        """An order that puts the ways of each pair side by side, and where each pair begins."""
        order = np.argsort(self.pair, kind="stable")
        return order, np.flatnonzero(np.diff(self.pair[order], prepend=-1))

    def by_pair(self, values: Array) -> Array:
        """(..., pairs) float: sums of (..., k) over the ways of each pair."""
        order, starts = self.sorted_by_pair
        return np.asarray(np.add.reduceat(values[..., order], starts, axis=-1))


def agreeing(ways: Ways, shift: float) -> Bools:
    """(≤ LEADS, k) bool: which ways say the same as each of the surest.

    By the turn, and by the shift where a way is at home: how far the lead puts one of its two parts from where it says
    itself. Parts elsewhere may swing wide on a small turn.
    """
    R, t = ways.R, ways.t
    flat = R.reshape(-1, 9)
    same = flat[:LEADS] @ flat.T >= 1 + 2 * np.cos(np.radians(TURN))  # trace of R_leadᵀ R
    lead, way = np.nonzero(same)
    far_b = np.linalg.norm(turned(R[lead] - R[way], ways.place_b[way]) + t[lead] - t[way], axis=1)
    back, offset = R.swapaxes(1, 2), -turned(R.swapaxes(1, 2), t)
    far_a = np.linalg.norm(turned(back[lead] - back[way], ways.place_a[way]) + offset[lead] - offset[way], axis=1)
    same[lead, way] = np.minimum(far_a, far_b) <= shift
    return same


def log_weights(ways: Ways, same: Bools) -> tuple[Array, Bools]:
    """(leads,) float: of the merge by each lead, against no merge; (leads, pairs) bool: which pairs speak for it.

    same : (leads, k) bool, from `agreeing`
    """
    none = 1 - np.minimum(ways.silent + ways.by_pair(ways.confidence), SURE)
    p = np.clip(ways.by_pair(same * ways.confidence), 1e-12, SURE)
    odds = np.log(p / none)
    gain = np.where(ways.by_pair(same.astype(np.float64)) > 0, odds - np.log(CHANCE), 0.0)
    rows, own = np.arange(len(same)), ways.pair[: len(same)]
    speaks = gain > 0
    gain = np.maximum(gain, 0.0)
    gain[rows, own] = odds[rows, own]  # the first witness: nothing yet to agree with
    speaks[rows, own] = True
    return gain.sum(axis=1), speaks


def log_odds(weights: Array, same: Bools, silent: float, near: Bools | None = None) -> tuple[Array, Array]:
    """(leads,) float twice: weight of the merge by each lead, and its log odds against all that it excludes.

    That is no merge, and those by other leads; leads that agree are one, counted once.
    weights : (leads,) float, from `log_weights`; silent : the weight of all poses that no merge may rest on
    near    : (leads, leads) bool, from `same_place`: it is enough to put a part where the lead does, turned in any way
    """
    agree = same[:, : len(same)] | same[:, : len(same)].T
    alone = np.exp(weights - np.log(agree.sum(axis=1)))
    if near is not None:
        weights, agree = np.log(near @ alone), near
    return weights, np.asarray(weights - np.log(1 + silent + ~agree @ alone))


def same_place(ways: Ways, shift: float, moved: str) -> Bools:
    """(leads, leads) bool: which of the surest ways put a single part, group "a" or "b", within a shift of another."""
    R, t, place = ways.R[:LEADS], ways.t[:LEADS], (ways.place_a if moved == "a" else ways.place_b)[:LEADS]
    if moved == "a":
        R = R.swapaxes(1, 2)
        t = -turned(R, t)
    at = turned(R, place) + t
    return np.asarray(np.linalg.norm(at[:, None] - at[None], axis=2) <= shift)


def witnesses(ways: Ways, same: Bools, speaks: Bools, lead: int) -> list[int]:
    """The ways that a merge by `lead` rests on, the lead first: of each pair that speaks for it the surest."""
    first: dict[int, int] = {int(ways.pair[lead]): lead}
    for k in np.flatnonzero(same[lead] & speaks[lead][ways.pair]):
        first.setdefault(int(ways.pair[k]), int(k))
    return list(first.values())
