"""Groups are matched with what they have left open together."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import cmnet.solving.rematch as rematch
from breaking import fitted
from cmnet.geometry.pose import Pose
from cmnet.pairing.join import Join
from cmnet.pairing.judge.confidence import shares, where_it_belongs
from cmnet.pairing.stages import ALL
from cmnet.solving.groups import Group
from cmnet.solving.rematch import Rematcher


def here(work, count):
    return [work(k) for k in range(count)]


def group(T, *parts):
    return Group({k: T[parts[0]] @ T[k].inverse() for k in parts})


def test_two_halves_find_each_other_by_parts_that_touch(egg):
    surfaces, T = egg
    rematcher = Rematcher(surfaces, {}, ALL, here)
    halves = [group(T, 0, 1), group(T, 2, 3)]
    best = max(rematcher.between(halves), key=lambda join: join.confidence)
    i, j = best.parts
    assert {i, j} in ({0, 2}, {1, 3})  # the diagonal ones meet in an edge only
    assert best.T_i_j.angle_to(T[i] @ T[j].inverse()) < 0.5
    assert best.confidence > 0.9
    assert rematcher.between(halves) == []  # not twice


def test_single_parts_are_left_to_the_first_look(egg):
    surfaces, T = egg
    alone = [group(T, k) for k in range(4)]
    calls = []
    rematcher = Rematcher(surfaces, {}, ALL, lambda work, count: calls.append(count) or [])
    rematcher.between(alone)
    Rematcher(surfaces, {}, ALL, lambda work, count: calls.append(count) or [], singles=True).between(alone)
    assert calls == [0, 6]


def test_parts_of_different_groups_are_matched_one_by_one(egg):
    surfaces, T = egg
    calls = []
    rematcher = Rematcher(surfaces, {}, ALL, lambda work, count: calls.append(count) or here(work, count), singles=True)
    askew = group(T, 0, 1)
    askew = Group({0: askew.T[0], 1: Pose(askew.T[1].R, askew.T[1].t + surfaces[0].unit)})  # 1 is out of place
    found = [join for join in rematcher.across([askew, group(T, 2, 3)]) if join.confidence > 0.9]
    assert calls == [4]
    assert {frozenset(join.parts) for join in found} >= {frozenset((0, 2)), frozenset((1, 3))}
    for join in found:
        i, j = join.parts
        assert join.T_i_j.angle_to(T[i] @ T[j].inverse()) < 0.5
    assert rematcher.across([askew, group(T, 2, 3)]) == []  # not twice


def test_what_only_the_closer_look_finds_is_examined_too(egg, monkeypatch):
    surfaces, T = egg
    rematcher = Rematcher(surfaces, {}, ALL, here, closer=Rematcher(surfaces, {}, ALL, here))
    inner = Rematcher._found
    monkeypatch.setattr(Rematcher, "_found", lambda self, *rest: [] if self is rematcher else inner(self, *rest))
    best = max(rematcher.between([group(T, 0, 1), group(T, 2, 3)]), key=lambda join: join.confidence)
    i, j = best.parts
    assert best.T_i_j.angle_to(T[i] @ T[j].inverse()) < 0.5
    assert best.confidence > 0.9


def test_joins_of_the_first_look_at_two_parts_are_examined_again(egg, monkeypatch):
    surfaces, T = egg
    rematcher = Rematcher(surfaces, {}, ALL, here, singles=True, closer=Rematcher(surfaces, {}, ALL, here))
    monkeypatch.setattr(Rematcher, "_found", lambda self, *rest: [])
    near = T[0] @ T[2].inverse()
    near = Pose(near.R, near.t + 0.005 * surfaces[0].unit)
    alone = [group(T, 0), group(T, 2)]
    (found,) = rematcher.between(alone, [Join((0, 2), near, 0.1, 0.0, 0.0, 0.0)])
    assert found.T_i_j.angle_to(T[0] @ T[2].inverse()) < 0.5
    assert found.confidence > 0.9


def test_the_network_suggests_poses_of_groups(egg):
    surfaces, T = egg
    truth = {(0, 2): [T[0] @ T[2].inverse()], (3, 1): [T[3] @ T[1].inverse()]}
    rematcher = Rematcher(surfaces, truth, ALL, here)
    a, b = group(T, 0, 1), group(T, 2, 3)
    suggested = rematcher._suggestions(a, b)
    assert len(suggested) == 2
    assert all(pose.angle_to(T[0] @ T[2].inverse()) < 1e-4 for pose in suggested)


def test_an_unsure_join_of_two_parts_is_tried_on_their_groups(egg):
    surfaces, T = egg
    alone = replace(ALL, geometric=False)  # there are no hypotheses but those that are given
    halves = [group(T, 0, 1), group(T, 2, 3)]
    assert Rematcher(surfaces, {}, alone, here).between(halves) == []
    near = T[0] @ T[2].inverse()
    near = Pose(near.R, near.t + 0.005 * surfaces[0].unit)
    for parts, pose in (((0, 2), near), ((2, 0), near.inverse())):
        unsure = Join(parts, pose, 0.1, 0.0, 0.0, 0.0)
        best = max(Rematcher(surfaces, {}, alone, here).between(halves, [unsure]), key=lambda join: join.confidence)
        i, j = best.parts
        assert best.T_i_j.angle_to(T[i] @ T[j].inverse()) < 0.5
        assert best.confidence > 0.9


def test_what_is_known_to_belong_is_matched_with_the_largest_of_it_alone(egg):
    """And nothing is with parts that nobody spoke of."""
    surfaces, T = egg
    calls = []
    each = lambda work, count: calls.append(count) or []  # noqa: E731

    def asked(groups, *same):
        Rematcher(surfaces, {}, ALL, each, singles=True, same=same).between(groups)
        return calls.pop()

    everything = range(4)
    assert asked([group(T, 0, 1, 2), group(T, 3)], everything) == 1
    assert asked([group(T, 0, 1, 2), group(T, 3)], (0, 1, 2)) == 0
    assert asked([group(T, k) for k in range(4)], everything) == 3
    assert asked([group(T, k) for k in range(4)], (0, 1, 3)) == 2
    assert asked([group(T, 0), group(T, 1)], (0, 1)) == 1


def test_what_is_left_over_belongs_to_something_larger(egg):
    surfaces, T = egg
    rematcher = Rematcher(surfaces, {}, ALL, here, same=(range(4),))
    groups = [group(T, 0, 1), group(T, 2, 3)]
    smaller = min(groups, key=lambda g: sum(surfaces[k].area for k in g.T))
    assert rematcher.left_over(groups) == [smaller]
    assert rematcher.left_over([group(T, 0, 1, 2), group(T, 3)]) == []
    assert Rematcher(surfaces, {}, ALL, here, same=((0, 1),)).left_over(groups) == []


@dataclass(frozen=True)
class Shown:
    """A pose that two looks have examined."""

    T_i_j: Pose
    logit: float
    confidence: float


def test_of_what_is_known_to_belong_places_are_judged(egg, monkeypatch):
    """What is sought with patience keeps its confidence, unless it is known to be somewhere there."""
    surfaces, T = egg
    surfaces = [replace(part, broken=np.ones(len(part.points)), judgement=fitted()) for part in surfaces]
    monkeypatch.setattr(rematch, "seek", lambda *_: [Shown(T[0] @ T[1].inverse(), -2.0, 0.0)])
    pose = shares(np.array([-2.0]))[0]

    def sure(surfaces, **told):
        closer = Rematcher(surfaces, {}, ALL, here)
        seeking = Rematcher(surfaces, {}, ALL, here, singles=True, closer=closer, same=[(0, 1)], **told)
        (found,) = seeking.between([group(T, 0), group(T, 1)])
        return found.confidence

    assert sure(surfaces) == pose
    assert sure(surfaces, belong=True) == where_it_belongs([-2.0], fitted().belonging)[0] > pose
    assert sure(egg[0], belong=True) == pose  # nobody has fitted a table


def test_the_more_of_all_holds_together_the_more_probably_the_rest_belongs_to_it(egg, monkeypatch):
    surfaces, T = egg
    monkeypatch.setattr(rematch, "seek", lambda *_: [Shown(T[0] @ T[3].inverse(), -1.0, 0.0)])
    areas = [surface.area for surface in surfaces]

    def sure(*largest):
        closer = Rematcher(surfaces, {}, ALL, here)
        seeking = Rematcher(surfaces, {}, ALL, here, singles=True, closer=closer, same=[range(4)])
        (found,) = seeking.between([group(T, *largest), group(T, 3)])
        return found.confidence

    odds = sum(areas[:3]) / (areas[3] + np.mean(areas))
    assert sure(0, 1, 2) == pytest.approx(shares(np.array([-1.0 + np.log(odds)]))[0])
    assert sure(0) == shares(np.array([-1.0]))[0]  # a part alone is no reason to expect another there
    assert sure(0) < sure(0, 1, 2)


def test_what_cannot_be_takes_nothing_from_what_can_and_all_of_two_groups_exclude_each_other(egg, monkeypatch):
    surfaces, T = egg
    halves = sorted(((0, 1), (2, 3)), key=lambda half: -sum(surfaces[k].area for k in half))
    (i, _), (j, _) = halves  # the larger one first
    true = T[i] @ T[j].inverse()
    inside = Pose(true.R, surfaces[i].T_part_surface.t - true.R @ surfaces[j].T_part_surface.t)
    aside = Pose(true.R, true.t + 3 * surfaces[0].unit)
    found = [Shown(inside, 1.0, 0.0), Shown(true, 0.5, 0.0), Shown(aside, -1.0, 0.0)]
    monkeypatch.setattr(rematch, "seek", lambda *_: found)
    closer = Rematcher(surfaces, {}, ALL, here)
    seeking = Rematcher(surfaces, {}, ALL, here, singles=True, closer=closer, same=[range(4)])
    joins = seeking.between([group(T, *half) for half in halves])
    assert [join.confidence for join in joins] == pytest.approx(shares(np.array([0.5, -1.0])))
    assert len({join.parts for join in joins}) == 1
