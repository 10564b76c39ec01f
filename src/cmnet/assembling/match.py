"""Groups are compared by their combined surfaces: three small contacts say more than one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from cmnet.assembling.clashes import Clashes
from cmnet.assembling.memo import Key, Two, question
from cmnet.assembling.passes import Judge, Pass
from cmnet.assembling.state import State
from cmnet.geometry.pose import Pose
from cmnet.geometry.types import Array
from cmnet.pairing.join import Join
from cmnet.pairing.judge.confidence import shares, where_it_belongs
from cmnet.pairing.judge.evidence import verify
from cmnet.pairing.pair import Candidate, candidates, join_of, joins, suggestions
from cmnet.pairing.surface.combined import combine
from cmnet.pairing.surface.frames import pose_of_parts, pose_of_surfaces
from cmnet.pairing.surface.surface import Surface
from cmnet.pairing.two_looks import Seen, Twice, examine_twice, of_like_relief, seek, worth_showing
from cmnet.settings import Acceptance
from cmnet.solving.groups import Group, Pair

K = TypeVar("K")
V = TypeVar("V")


def matched(state: State, step: Pass) -> list[Join]:
    """New joins of all those that the pass has to match and that were not compared in this way before."""
    assert step.who is not None
    pairs = [pair for pair in step.who(state) if _is_new(state, step, pair)]
    centres, memo = state.centres, state.memo
    found = {n: memo.find(step.kind, pair, centres, state.unit) for n, pair in enumerate(pairs)}
    todo = [n for n, known in found.items() if known is None] if state.looking else []
    for n, new in zip(todo, _compared(state, step, [pairs[n] for n in todo])):
        found[n] = memo.keep(step.kind, pairs[n], new)
    return [join for some in found.values() for join in some or ()]


def _is_new(state: State, step: Pass, pair: Two) -> bool:
    asked = question(step.kind, pair)
    new = asked not in state.tried
    state.tried.add(asked)
    return new


def _compared(state: State, step: Pass, pairs: Sequence[Two]) -> list[list[Join]]:
    """The joins of each of the pairs."""
    if not pairs:
        state.views |= {_view_name(step, name): {} for name in step.scales}  # what nobody compares is forgotten
        return []
    if step.judge is not Judge.PAIR:
        return state.each("second look", _work(state, step, pairs), range(len(pairs)))
    surfaces, two = dict(enumerate(state.parts)), [(min(a.T), min(b.T)) for a, b in pairs]
    coarse = dict(enumerate(state.surfaces("coarse"))) if len(pairs) <= state.acceptance.few_pairs else {}
    return state.each("joins", PairWork(surfaces, coarse, state.learned, state.acceptance.from_creases), two)


@dataclass(frozen=True, eq=False)
class PairWork:
    """Joins of parts (i, j) by their surfaces; what the coarse ones suggest, if there are any, is tried on them, too.

    learned : T_i_j that the network suggests; kept : of the others, so many
    """

    surfaces: Mapping[int, Surface]
    coarse: Mapping[int, Surface]
    learned: Mapping[Pair, Sequence[Pose]]
    kept: int

    def __call__(self, pair: Pair) -> list[Join]:
        i, j = pair
        suggested = [*self.learned.get(pair, ())]
        if self.coarse:
            suggested += suggestions(self.coarse[i], self.coarse[j], self.kept)
        return joins(self.surfaces[i], self.surfaces[j], pair, suggested)

    def only(self, items: Sequence[Pair]) -> PairWork:
        """With no more than these pairs need."""
        parts = {k for pair in items for k in pair}
        learned = {pair: self.learned[pair] for pair in items if pair in self.learned}
        return PairWork(_some(self.surfaces, parts), _some(self.coarse, parts), learned, self.kept)


@dataclass(frozen=True, eq=False)
class View:
    """Parts at one scale, and the groups that are compared. The part of a group's surface is the group."""

    parts: Mapping[int, Surface]
    groups: Mapping[Key, Surface]

    def of(self, a: Group, b: Group) -> Seen:
        return self.groups[_key(a)], self.groups[_key(b)]

    def only(self, groups: Sequence[Group]) -> View:
        keys = {_key(group) for group in groups}
        return View(_some(self.parts, {k for key in keys for k in key}), _some(self.groups, keys))


@dataclass(frozen=True, eq=False)
class GroupWork:
    """Joins of the pairs of groups.

    view, closer : what is seen of them at the scales of the pass
    learned      : T_i_j of parts that the network suggests; known : joins found so far, sure or not, both ways
    areas        : (n,) float, of all parts; belonging : see `Judgement`
    """

    pairs: Mapping[int, Two]
    judge: Judge
    view: View
    closer: View | None
    learned: Mapping[Pair, Sequence[Pose]]
    known: Mapping[Pair, Sequence[tuple[float, Pose]]]
    clashes: Clashes
    areas: Array
    belonging: Mapping[str, float] | None
    acceptance: Acceptance

    def only(self, items: Sequence[int]) -> GroupWork:
        """With no more than these pairs need."""
        some = {k: self.pairs[k] for k in items}
        groups = [group for pair in some.values() for group in pair]
        parts = {k for group in groups for k in group.T}
        near = lambda known: {pair: said for pair, said in known.items() if {*pair} <= parts}  # noqa: E731
        return replace(
            self,
            pairs=some,
            view=self.view.only(groups),
            closer=self.closer and self.closer.only(groups),
            learned=near(self.learned),
            known=near(self.known),
            clashes=self.clashes.only(parts),
        )

    def __call__(self, k: int) -> list[Join]:
        a, b = self.pairs[k]
        suggested = self._suggestions(a, b)
        if self.closer is None:
            found = _found(self.view.of(a, b), suggested)
            sure = [(pose_of_parts(*self.view.of(a, b), c.T_a_b), c.confidence) for c in found]
        else:
            seen = self._twice(a, b, suggested) if self.judge is Judge.TWO else self._sought(a, b, suggested)
            sure = [(c.T_i_j, c.confidence) for c in self._shared(a, self._clear(a, b, seen))]
        kept = [(T, confidence) for T, confidence in sure if confidence >= self.acceptance.keep]
        if not kept:
            return []
        parts = self._meeting(a, b, kept[0][0])
        return [self._join(a, b, parts, T, confidence) for T, confidence in kept]

    def _twice(self, a: Group, b: Group, suggested: Sequence[Pose]) -> list[Twice]:
        """What both looks find, as both see it."""
        assert self.closer is not None
        far, close = self.view.of(a, b), self.closer.of(a, b)
        poses = _worth_showing(far, suggested)
        if len(a.T) + len(b.T) == 2:  # the first look has been at it
            ((i, T_a_i),), ((j, T_b_j),) = a.T.items(), b.T.items()
            joined = self.known.get((i, j), ())
            poses += [T_a_i @ T @ T_b_j.inverse() for sure, T in joined if sure >= self.acceptance.shown]
        else:
            poses += _worth_showing(close, suggested)
        return examine_twice(close, far, [*poses, *of_like_relief(*close)])

    def _sought(self, a: Group, b: Group, suggested: Sequence[Pose]) -> list[Twice]:
        """The same with patience."""
        assert self.closer is not None
        return seek(self.closer.of(a, b), self.view.of(a, b), suggested)

    def _clear(self, a: Group, b: Group, found: Sequence[Twice]) -> list[Twice]:
        """Those for which more speaks than parts that run into each other speak against them."""

        def clear(c: Twice) -> bool:
            against = sum(self.clashes(i, j, a.T[i].inverse() @ c.T_i_j @ b.T[j]) for i in a.T for j in b.T)
            return against == 0 or against < c.logit

        return [c for c in found if clear(c)]

    def _shared(self, a: Group, found: Sequence[Twice]) -> list[Twice]:
        """With the probability of every pose on group a; of two that are known to belong together, of every place."""
        logits = [c.logit for c in found]
        known = self.belonging if self.judge is Judge.BELONGING else None
        sure = where_it_belongs(logits, known) if known else shares(np.array(logits) + self._leaning(a)).tolist()
        return [replace(c, confidence=p) for c, p in zip(found, sure)]

    def _leaning(self, largest: Group) -> float:
        """Log odds that what is left belongs to the largest group, before it is looked at: by how much that holds.

        Where the pairs were tried that confidence is fitted on, every other one belonged together. One part more, of
        mean size, is thought to lie elsewhere: two parts say nothing of a third.
        """
        if self.judge is Judge.TWO:
            return 0.0
        held = float(self.areas[list(largest.T)].sum())
        return max(float(np.log(held / (self.areas.sum() + self.areas.mean() - held))), 0.0)

    def _suggestions(self, a: Group, b: Group) -> list[Pose]:
        """T_a_b as joins between two parts imply it, and as the network suggests it: those believed in most."""
        implied: list[tuple[float, Pose]] = []
        learned: list[Pose] = []
        for i, j in ((i, j) for i in a.T for j in b.T):
            poses = self.learned.get((i, j)) or [T.inverse() for T in self.learned.get((j, i), ())]
            learned += [a.T[i] @ T_i_j @ b.T[j].inverse() for T_i_j in poses[: self.acceptance.from_pair]]
            implied += [(sure, a.T[i] @ T_i_j @ b.T[j].inverse()) for sure, T_i_j in self.known.get((i, j), ())]
        implied.sort(key=lambda pose: -pose[0])
        return [*(T for _, T in implied[: self.acceptance.from_joins]), *learned[: self.acceptance.from_groups]]

    def _join(self, a: Group, b: Group, parts: Pair, T_a_b: Pose, confidence: float) -> Join:
        """The same between two parts of theirs."""
        i, j = parts
        seen = self.view.parts[i], self.view.parts[j]
        pose = pose_of_surfaces(*seen, a.T[i].inverse() @ T_a_b @ b.T[j])
        return join_of(*seen, parts, Candidate(pose, verify(*seen, pose), confidence))

    def _meeting(self, a: Group, b: Group, T_a_b: Pose) -> Pair:
        """The two parts that meet most. All poses of two groups are said of them: these exclude each other."""

        def met(pair: Pair) -> float:
            s_i, s_j = (self.view.parts[k] for k in pair)
            T = pose_of_surfaces(s_i, s_j, a.T[pair[0]].inverse() @ T_a_b @ b.T[pair[1]])
            return s_j.area * float((np.abs(s_i.box.at(s_i.signed, T, s_j.points)) < self.acceptance.meeting).mean())

        return max(((i, j) for i in a.T for j in b.T), key=met)


def _work(state: State, step: Pass, pairs: Sequence[Two]) -> GroupWork:
    known: dict[Pair, list[tuple[float, Pose]]] = {}
    for join in state.joins:
        i, j = join.parts
        known.setdefault((i, j), []).append((join.sure, join.T_i_j))
        known.setdefault((j, i), []).append((join.sure, join.T_i_j.inverse()))
    groups = [group for pair in pairs for group in pair]
    views = [_view(state, name, groups, _view_name(step, name)) for name in step.scales]
    return GroupWork(
        dict(enumerate(pairs)),
        step.judge,
        views[0],
        views[1] if len(views) > 1 else None,
        state.learned,
        known,
        state.clashes(step.solid),
        np.array([surface.area for surface in views[0].parts.values()]),
        state.parts[0].judgement.belonging,
        state.acceptance,
    )


def _view_name(step: Pass, scale: str) -> str:
    """Names the views at a scale: those at the first one are the same in all passes."""
    return scale if scale == "first" else step.kind


def _view(state: State, scale: str, groups: Iterable[Group], kind: str) -> View:
    parts, made = state.surfaces(scale), state.views.get(kind, {})
    state.views[kind] = {_key(group): _surface(parts, group, made) for group in groups}
    return View(dict(enumerate(parts)), state.views[kind])


def _surface(parts: Sequence[Surface], group: Group, made: Mapping[Key, Surface]) -> Surface:
    """The surface of a group, in whose `T_part_surface` the part is the group."""
    if len(group.T) == 1:
        ((k, T_group_part),) = group.T.items()
        return replace(parts[k], T_part_surface=T_group_part @ parts[k].T_part_surface)
    return made.get(_key(group)) or combine([parts[k] for k in group.T], list(group.T.values()))


def _found(seen: Seen, suggested: Sequence[Pose]) -> list[Candidate]:
    """What one look finds between two groups."""
    return candidates(*seen, [pose_of_surfaces(*seen, T) for T in suggested])


def _worth_showing(seen: Seen, suggested: Sequence[Pose]) -> list[Pose]:
    """What one look finds that is worth being examined by the other."""
    return [
        pose_of_parts(*seen, c.T_a_b) for c in _found(seen, suggested) if worth_showing(c.evidence, seen[0].judgement)
    ]


def _some(table: Mapping[K, V], keys: Collection[K]) -> dict[K, V]:
    return {key: value for key, value in table.items() if key in keys}


def _key(group: Group) -> Key:
    return frozenset(group.T)
