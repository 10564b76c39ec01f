"""Groups are matched again with their combined surfaces: three small contacts say more than one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from cmnet.geometry.pose import Pose
from cmnet.pairing.candidates import Candidate, candidates
from cmnet.pairing.joins import Join, join_of, pose_of_parts, pose_of_surfaces
from cmnet.pairing.judge.confidence import shares, where_it_belongs
from cmnet.pairing.judge.evidence import verify
from cmnet.pairing.seeking import seek
from cmnet.pairing.stages import Stages
from cmnet.pairing.surface.combined import combine
from cmnet.pairing.surface.surface import Surface
from cmnet.pairing.two_looks import Seen, Twice, examine_twice, of_like_relief, worth_showing
from cmnet.solving.clashes import against_of
from cmnet.solving.groups import Against, Group

WORTH = 0.02  # least confidence of a candidate that is worth keeping
FROM_JOINS = 8  # poses of joins between their parts that are tried for two groups, the surest ones
FROM_PAIR, FROM_GROUPS = 2, 12  # suggestions of the network that are taken from two parts, and for two groups
SHOWN = 0.001  # least confidence of a join of two parts that another look examines
MANY = 300  # pairs of parts of different groups that are matched one by one, at most
CLOSE = 0.03  # probes so near another part count as meeting it, in units

Key = frozenset[int]
Each = Callable[[Callable[[int], Any], int], list[Any]]


@dataclass
class Rematcher:
    """Finds joins between groups; no two groups are looked at twice.

    learned : T_i_j of parts that the network suggests
    singles : whether two single parts are matched too; at the scale of the first look they have been
    each    : does the work for 0 … count − 1
    closer  : looks more closely; what either of the two finds, both examine
    same    : if given, groups of these parts alone are sought, each on the largest of them, with patience
    belong  : these parts are known to belong together: a confidence is that of a place
    """

    surfaces: Sequence[Surface]
    learned: Mapping[tuple[int, int], Sequence[Pose]]
    stages: Stages
    each: Each
    singles: bool = False
    closer: Rematcher | None = None
    same: Sequence[Collection[int]] = ()
    belong: bool = False
    _against: Against = field(init=False)
    _tried: set[frozenset[Key]] = field(default_factory=set)
    _combined: dict[Key, Surface] = field(default_factory=dict)
    _known: dict[tuple[int, int], list[tuple[float, Pose]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._against = against_of(self.surfaces, *([self.closer.surfaces] if self.closer else []))

    def between(self, groups: Sequence[Group], known: Sequence[Join] = ()) -> list[Join]:
        """Joins between any two of the groups that have not been matched before.

        known : joins found so far, sure or not: hypotheses
        """
        pairs = combinations(groups, 2) if not self.same else self._with_largest(groups)
        return self._match([pair for pair in pairs if self._is_new(*pair)], known)

    def across(self, groups: Sequence[Group], known: Sequence[Join] = ()) -> list[Join]:
        """The same between single parts of any two groups: a group with a part out of place fits nowhere as a whole."""
        alone = [[Group({k: Pose.identity()}) for k in group.T] for group in groups]
        pairs = [(i, j) for a, b in combinations(alone, 2) for i in a for j in b]
        return self._match([pair for pair in pairs if self._is_new(*pair)] if len(pairs) <= MANY else [], known)

    def left_over(self, groups: Sequence[Group]) -> list[Group]:
        """Groups of several parts that belong to a larger one."""
        return [group for _, group in self._with_largest(groups) if len(group.T) > 1]

    def _match(self, pairs: Sequence[tuple[Group, Group]], known: Sequence[Join]) -> list[Join]:
        self._prepare([group for pair in pairs for group in pair])
        self._known = {}
        for join in known:
            i, j = join.parts
            self._known.setdefault((i, j), []).append((join.sure, join.T_i_j))
            self._known.setdefault((j, i), []).append((join.sure, join.T_i_j.inverse()))
        return [join for found in self.each(lambda k: self._joins(*pairs[k]), len(pairs)) for join in found]

    def _prepare(self, groups: Sequence[Group]) -> None:
        """Make the surfaces of the groups that are to be matched, and forget those of others."""
        self._combined = {_key(group): self._surface(group) for group in groups}
        if self.closer:
            self.closer._prepare(groups)

    def _is_new(self, a: Group, b: Group) -> bool:
        pair = frozenset((_key(a), _key(b)))
        new = pair not in self._tried and (self.singles or len(a.T) + len(b.T) > 2)
        self._tried.add(pair)
        return new

    def _with_largest(self, groups: Sequence[Group]) -> Iterator[tuple[Group, Group]]:
        """All groups of parts that are known to belong together, each with the largest of them."""
        for parts in self.same:
            areas = [sum(self.surfaces[k].area for k in group.T.keys() & parts) for group in groups]
            largest = int(np.argmax(areas))
            yield from ((groups[largest], g) for k, g in enumerate(groups) if k != largest and areas[k] > 0)

    def _joins(self, a: Group, b: Group) -> list[Join]:
        suggested = self._suggestions(a, b)
        if self.closer is None or not (self.stages.refine and self.stages.verify):
            found = self._found(a, b, suggested)
            sure = [(pose_of_parts(*self._seen(a, b), c.T_a_b), c.confidence) for c in found]
        else:
            seen = self._sought(a, b, suggested) if self.same else self._twice(a, b, suggested)
            sure = [(c.T_i_j, c.confidence) for c in self._shared(a, self._clear(a, b, seen))]
        kept = [(T, confidence) for T, confidence in sure if confidence >= WORTH]
        if not kept:
            return []
        parts = self._meeting(a, b, kept[0][0])
        return [self._join(a, b, parts, T, confidence) for T, confidence in kept]

    def _seen(self, a: Group, b: Group) -> Seen:
        return self._combined[_key(a)], self._combined[_key(b)]

    def _found(self, a: Group, b: Group, suggested: Sequence[Pose]) -> list[Candidate]:
        """What this look finds between two groups."""
        seen = self._seen(a, b)
        return candidates(*seen, [pose_of_surfaces(*seen, T) for T in suggested], self.stages)

    def _twice(self, a: Group, b: Group, suggested: Sequence[Pose]) -> list[Twice]:
        """What this look and the closer one find, as both see it."""
        assert self.closer is not None
        far, close = self._seen(a, b), self.closer._seen(a, b)
        found = self._found(a, b, suggested)
        poses = [pose_of_parts(*far, c.T_a_b) for c in found if worth_showing(c.evidence)]
        if len(a.T) + len(b.T) == 2:  # the first look has been at it
            ((i, T_a_i),), ((j, T_b_j),) = a.T.items(), b.T.items()
            poses += [T_a_i @ T @ T_b_j.inverse() for sure, T in self._known.get((i, j), ()) if sure >= SHOWN]
        else:
            again = self.closer._found(a, b, suggested)
            poses += [pose_of_parts(*close, c.T_a_b) for c in again if worth_showing(c.evidence)]
        if self.stages.geometric:
            poses += of_like_relief(*close)
        return examine_twice(close, far, poses)

    def _sought(self, a: Group, b: Group, suggested: Sequence[Pose]) -> list[Twice]:
        """The same with patience."""
        assert self.closer is not None
        return seek(self.closer._seen(a, b), self._seen(a, b), suggested, self.stages)

    def _clear(self, a: Group, b: Group, found: Sequence[Twice]) -> list[Twice]:
        """Those for which more speaks than parts that run into each other speak against them."""

        def clear(c: Twice) -> bool:
            against = sum(self._against(i, j, a.T[i].inverse() @ c.T_i_j @ b.T[j]) for i in a.T for j in b.T)
            return against == 0 or against < c.logit

        return [c for c in found if clear(c)]

    def _shared(self, a: Group, found: Sequence[Twice]) -> list[Twice]:
        """With the probability of every pose on group a; of two that are known to belong together, of every place."""
        logits = [c.logit for c in found]
        known = self.belong and self.surfaces[0].broken is not None  # that table was fitted with the network
        sure = where_it_belongs(logits) if known else shares(np.array(logits) + self._leaning(a)).tolist()
        return [replace(c, confidence=p) for c, p in zip(found, sure)]

    def _leaning(self, largest: Group) -> float:
        """Log odds that what is left belongs to the largest group, before it is looked at: by how much that holds.

        Where the pairs were tried that confidence is fitted on, every other one belonged together. One part more, of
        mean size, is thought to lie elsewhere: two parts say nothing of a third.
        """
        if not self.same:
            return 0.0
        areas = np.array([surface.area for surface in self.surfaces])
        held = float(areas[list(largest.T)].sum())
        return max(float(np.log(held / (areas.sum() + areas.mean() - held))), 0.0)

    def _suggestions(self, a: Group, b: Group) -> list[Pose]:
        """T_a_b as joins between two parts imply it, and as the network suggests it: those believed in most."""
        implied: list[tuple[float, Pose]] = []
        learned: list[Pose] = []
        for i, j in ((i, j) for i in a.T for j in b.T):
            poses = self.learned.get((i, j)) or [T.inverse() for T in self.learned.get((j, i), ())]
            learned += [a.T[i] @ T_i_j @ b.T[j].inverse() for T_i_j in poses[:FROM_PAIR]]
            joined = self._known.get((i, j), ())
            implied += [(sure, a.T[i] @ T_i_j @ b.T[j].inverse()) for sure, T_i_j in joined]
        implied.sort(key=lambda pose: -pose[0])
        return [*(T for _, T in implied[:FROM_JOINS]), *learned[:FROM_GROUPS]]

    def _surface(self, group: Group) -> Surface:
        """The surface of a group, in whose `T_part_surface` the part is the group."""
        if len(group.T) == 1:
            ((k, T_group_part),) = group.T.items()
            alone = self.surfaces[k]
            return replace(alone, T_part_surface=T_group_part @ alone.T_part_surface)
        known = self._combined.get(_key(group))
        return known or combine([self.surfaces[k] for k in group.T], list(group.T.values()))

    def _join(self, a: Group, b: Group, parts: tuple[int, int], T_a_b: Pose, confidence: float) -> Join:
        """The same between two parts of theirs."""
        i, j = parts
        s_i, s_j = self.surfaces[i], self.surfaces[j]
        pose = pose_of_surfaces(s_i, s_j, a.T[i].inverse() @ T_a_b @ b.T[j])
        return join_of(s_i, s_j, (i, j), Candidate(pose, verify(s_i, s_j, pose), confidence))

    def _meeting(self, a: Group, b: Group, T_a_b: Pose) -> tuple[int, int]:
        """The two parts that meet most. All poses of two groups are said of them: these exclude each other."""

        def met(pair: tuple[int, int]) -> float:
            s_i, s_j = self.surfaces[pair[0]], self.surfaces[pair[1]]
            T = pose_of_surfaces(s_i, s_j, a.T[pair[0]].inverse() @ T_a_b @ b.T[pair[1]])
            return s_j.area * float((np.abs(s_i.box.at(s_i.signed, T, s_j.points)) < CLOSE).mean())

        return max(((i, j) for i in a.T for j in b.T), key=met)


def _key(group: Group) -> Key:
    return frozenset(group.T)
