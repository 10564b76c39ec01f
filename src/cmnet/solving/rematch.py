"""Groups are matched again with their combined surfaces: three small contacts say more than one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from cmnet.geometry.pose import Pose
from cmnet.pairing.candidates import Candidate, candidates
from cmnet.pairing.combined import combine
from cmnet.pairing.joins import Join, join_of, pose_of_parts, pose_of_surfaces
from cmnet.pairing.stages import ALL, Stages
from cmnet.pairing.surface import Surface
from cmnet.pairing.verify import verify
from cmnet.solving.groups import Group

WORTH = 0.05  # least confidence of a candidate that is worth keeping
CLOSE = 0.03  # probes so near another part count as meeting it, in units

Key = frozenset[int]


@dataclass
class Rematcher:
    """Finds joins between groups; no two groups are looked at twice.

    stages : applies to the matching of groups as to that of parts
    """

    surfaces: Sequence[Surface]
    stages: Stages = ALL
    _tried: set[frozenset[Key]] = field(default_factory=set)
    _combined: dict[Key, Surface] = field(default_factory=dict)

    def between(self, groups: Sequence[Group]) -> list[Join]:
        """Joins between any two of the groups that have not been matched before; two single parts have."""
        self._combined = {key: s for key, s in self._combined.items() if key in map(_key, groups)}
        return [join for a, b in combinations(groups, 2) if self._is_new(a, b) for join in self._joins(a, b)]

    def _is_new(self, a: Group, b: Group) -> bool:
        pair = frozenset((_key(a), _key(b)))
        new = len(a.T) + len(b.T) > 2 and pair not in self._tried
        self._tried.add(pair)
        return new

    def _joins(self, a: Group, b: Group) -> list[Join]:
        first, second = self._surface(a), self._surface(b)
        found = [c for c in candidates(first, second, (), self.stages) if c.confidence >= WORTH]
        return [self._join(a, b, pose_of_parts(first, second, c.T_a_b), c.confidence) for c in found]

    def _surface(self, group: Group) -> Surface:
        """The surface of a group, in whose `T_part_surface` the part is the group."""
        key = _key(group)
        if key not in self._combined:
            members = [self.surfaces[k] for k in group.T]
            self._combined[key] = combine(members, list(group.T.values()))
        return self._combined[key]

    def _join(self, a: Group, b: Group, T_a_b: Pose, confidence: float) -> Join:
        """The same between the two parts that meet most."""
        i, j = max(((i, j) for i in a.T for j in b.T), key=lambda pair: self._meeting(a, b, T_a_b, pair))
        s_i, s_j = self.surfaces[i], self.surfaces[j]
        pose = pose_of_surfaces(s_i, s_j, a.T[i].inverse() @ T_a_b @ b.T[j])
        return join_of(s_i, s_j, (i, j), Candidate(pose, verify(s_i, s_j, pose), confidence))

    def _meeting(self, a: Group, b: Group, T_a_b: Pose, pair: tuple[int, int]) -> float:
        """Area of part j that lies near part i."""
        s_i, s_j = self.surfaces[pair[0]], self.surfaces[pair[1]]
        T = pose_of_surfaces(s_i, s_j, a.T[pair[0]].inverse() @ T_a_b @ b.T[pair[1]])
        depth = s_i.signed[s_i.box.voxel(T.apply(s_j.points).astype(np.float32))]
        return s_j.area * float((np.abs(depth) < CLOSE).mean())


def _key(group: Group) -> Key:
    return frozenset(group.T)
