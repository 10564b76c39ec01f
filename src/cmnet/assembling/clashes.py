"""Parts that run into each other: how much that says against a pose, and where it is worst."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from cmnet.geometry.pose import Pose
from cmnet.geometry.types import Array
from cmnet.pairing.join import Join
from cmnet.pairing.judge.evidence import inside
from cmnet.pairing.propose.creases import sinking
from cmnet.pairing.surface.frames import pose_of_surfaces
from cmnet.pairing.surface.surface import Surface
from cmnet.settings import Acceptance
from cmnet.solving.assembly import Refusal
from cmnet.solving.groups import Against, Group, odds_of


@dataclass(eq=False)
class Clashes:
    """What running into each other says against poses of two parts, as the most lenient of the looks sees it.

    From afar, a crumb is hardly larger than a voxel; closely, a worn join is off by more than parts may overlap.
    looks : surfaces of all parts, at one scale or more; by : how much that weighs; said : before
    """

    looks: Sequence[Mapping[int, Surface]]
    by: Acceptance = Acceptance()
    said: dict[tuple[int, int, bytes], float] = field(default_factory=dict)  # growths that are tried again ask again

    def only(self, parts: Collection[int]) -> Clashes:
        """Of some parts alone."""
        return Clashes([{k: surface for k, surface in look.items() if k in parts} for look in self.looks], self.by)

    def __call__(self, i: int, j: int, T_i_j: Pose) -> float:
        key = (i, j, T_i_j.matrix().tobytes())
        if key not in self.said:
            self.said[key] = np.inf
            for look in self.looks:
                if self.said[key]:  # what one look has nothing against, no other is asked
                    against = self._against(look[i], look[j], T_i_j)
                    self.said[key] = min(self.said[key], against)
        return self.said[key]

    def _against(self, a: Surface, b: Surface, T_i_j: Pose) -> float:
        if np.linalg.norm(T_i_j.apply(b.T_part_surface.t) - a.T_part_surface.t) > a.reach + b.reach:
            return 0.0
        T, by = pose_of_surfaces(a, b, T_i_j), self.by
        # Of two scans of one part, surfaces lie on surfaces: only their volumes are in each other.
        share = max(inside(a, b, T), inside(b, a, T.inverse()))
        return by.per_probe * max(sinking(a, b, T) - by.sunk, 0.0) + by.per_volume * max(share - by.swallowed, 0.0)


def refusals(groups: Sequence[Group], joins: Sequence[Join], clashes: Clashes, least: float) -> list[Refusal]:
    """Of every two groups the surest join that would make parts run into each other, if it is likely by itself.

    groups : all, single parts included; joins : the surest first; least : confidence of a likely one
    """
    home = {k: n for n, group in enumerate(groups) for k in group.T}
    best: dict[frozenset[int], Refusal] = {}
    for join in joins:
        a, b = (home[k] for k in join.parts)
        if a == b or join.sure <= least or frozenset((a, b)) in best:
            continue
        i, j = join.parts
        T_a_b = groups[a].T[i] @ join.T_i_j @ groups[b].T[j].inverse()
        met = list(_between(groups[a], groups[b], T_a_b, clashes))
        _, k, l, T_k_l = max(met, key=lambda clash: clash[0])
        if sum(clash[0] for clash in met) >= odds_of(join.sure):
            best[frozenset((a, b))] = _refusal(join, clashes.looks[0], k, l, T_k_l)
    return list(best.values())


def _between(a: Group, b: Group, T_a_b: Pose, against: Against) -> Iterable[tuple[float, int, int, Pose]]:
    for k, T_a_k in a.T.items():
        for l, T_b_l in b.T.items():
            T_k_l = T_a_k.inverse() @ T_a_b @ T_b_l
            yield against(k, l, T_k_l), k, l, T_k_l


def _refusal(join: Join, surfaces: Mapping[int, Surface], k: int, l: int, T_k_l: Pose) -> Refusal:
    """With the deepest of the samples of either part that lie inside the other."""
    a, b = surfaces[k], surfaces[l]
    T = pose_of_surfaces(a, b, T_k_l)
    (depth_b, of_b), (depth_a, of_a) = _deepest(a, b, T), _deepest(b, a, T.inverse())
    place = of_b if depth_b >= depth_a else T.apply(of_a)
    depth, place = a.unit * max(depth_a, depth_b), a.T_part_surface.apply(a.unit * place)
    return Refusal(join.parts, join.sure, (k, l), depth, place)


def _deepest(a: Surface, b: Surface, T_a_b: Pose) -> tuple[float, Array]:
    """Of b's samples inside a, how far the deepest one lies from a's surface, and where, in a's frame."""
    x = T_a_b.apply(b.points)[a.box.at(a.signed, T_a_b, b.points) < 0]
    if not len(x):
        return 0.0, T_a_b.t
    distance = a.dense_cells.nearest_one(x)[0]
    return float(distance.max()), x[distance.argmax()]
