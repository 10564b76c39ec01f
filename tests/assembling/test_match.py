"""Groups are matched with what they have left open together."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import cmnet.assembling.match as match
from breaking import fitted
from cmnet.assembling.passes import Judge, Pass
from cmnet.assembling.steps import any_groups, parts_across
from cmnet.geometry.pose import Pose
from cmnet.pairing.join import Join
from cmnet.pairing.judge.confidence import shares, where_it_belongs
from cmnet.solving.groups import Group
from states import state_of, with_breaks

CLOSELY, TWICE = Pass("one look", any_groups, ("first",), Judge.ONE, 0.5), ("coarse", "first")


def group(T, *parts):
    return Group({k: T[parts[0]] @ T[k].inverse() for k in parts})


def matched(state, step, *groups):
    """Joins of two groups, in that order."""
    return match.matched(state, replace(step, who=lambda _: [groups])) if groups else match.matched(state, step)


@pytest.fixture
def halves(egg):
    return group(egg[1], 0, 1), group(egg[1], 2, 3)


def assert_found(joins, T):
    best = max(joins, key=lambda join: join.confidence)
    i, j = best.parts
    assert best.T_i_j.angle_to(T[i] @ T[j].inverse()) < 0.5
    assert best.confidence > 0.9
    return best


def beside(egg, i, j):
    """A join of two parts nearly in their places."""
    true = egg[1][i] @ egg[1][j].inverse()
    return Join((i, j), Pose(true.R, true.t + 0.005 * egg[0][0].unit), 0.1, 0.0, 0.0, 0.0)


def test_two_halves_find_each_other_by_parts_that_touch(egg, halves):
    surfaces, T = egg
    state = state_of(surfaces)
    joins = matched(state, CLOSELY, *halves)
    assert {*assert_found(joins, T).parts} in ({0, 2}, {1, 3})  # the diagonal ones meet in an edge only
    assert len({join.number for join in joins}) == len(joins)
    assert matched(state, CLOSELY, *halves) == []  # not twice


def test_what_one_kind_of_pass_has_compared_another_kind_compares_anew(egg, halves):
    calls = []
    state = state_of(egg[0], each=lambda stage, work, items: calls.append(len(items)) or [[] for _ in items])
    for scales, judge in ((("first",), Judge.ONE), (TWICE, Judge.TWO), (TWICE, Judge.PATIENT), (TWICE, Judge.TWO)):
        matched(state, Pass("any name", None, scales, judge, 0.5), *halves)
    assert calls == [1, 1, 1]


def test_parts_of_different_groups_are_matched_one_by_one(egg, halves):
    """A group with a part out of place fits nowhere as a whole."""
    surfaces, T = egg
    askew = Group({**halves[0].T, 1: Pose(halves[0].T[1].R, halves[0].T[1].t + surfaces[0].unit)})
    state = state_of(surfaces)
    state.groups = [askew, halves[1]]
    step = Pass("across", parts_across, ("first",), Judge.ONE, 0.5)
    found = [join for join in matched(state, step) if join.confidence > 0.9]
    assert {frozenset(join.parts) for join in found} >= {frozenset((0, 2)), frozenset((1, 3))}
    for join in found:
        assert_found([join], T)
    assert matched(state, step) == []  # not twice


def test_what_only_the_closer_look_finds_is_examined_too(egg, halves, monkeypatch):
    surfaces, T = egg
    inner, calls = match._found, []
    seen = lambda pair, suggested: calls.append(pair) or (inner(pair, suggested) if len(calls) > 1 else [])  # noqa: E731
    monkeypatch.setattr(match, "_found", seen)  # the first call is the view from afar
    monkeypatch.setattr(match, "of_like_relief", lambda a, b: [])
    assert_found(matched(state_of(surfaces), Pass("coarse", None, TWICE, Judge.TWO, 0.5), *halves), T)
    assert len(calls) == 2


def test_joins_of_the_first_look_at_two_parts_are_examined_again(egg, monkeypatch):
    surfaces, T = egg
    monkeypatch.setattr(match, "_found", lambda seen, suggested: [])
    state = state_of(surfaces, [beside(egg, 0, 2)])
    step = Pass("coarse", None, TWICE, Judge.TWO, 0.5)
    assert_found(matched(state, step, group(T, 0), group(T, 2)), T)


@pytest.fixture
def blind(monkeypatch):
    """There are no hypotheses but those that are given."""
    for name in ("propose", "propose_touching"):
        monkeypatch.setattr(f"cmnet.pairing.pair.{name}", lambda *_: [])


@pytest.mark.parametrize("pair", [(0, 2), (2, 0)])
def test_an_unsure_join_of_two_parts_is_tried_on_their_groups(egg, halves, blind, pair):
    surfaces, T = egg
    assert matched(state_of(surfaces), CLOSELY, *halves) == []
    assert_found(matched(state_of(surfaces, [beside(egg, *pair)]), CLOSELY, *halves), T)


@pytest.mark.parametrize("pair", [(0, 2), (3, 1)])
def test_the_network_suggests_poses_of_groups(egg, halves, blind, pair):
    surfaces, T = egg
    learned = {pair: [beside(egg, *pair).T_i_j]}
    assert_found(matched(state_of(surfaces, learned=learned), CLOSELY, *halves), T)


@dataclass(frozen=True)
class Shown:
    """A pose that two looks have examined."""

    T_i_j: Pose
    logit: float
    confidence: float = 0.0


@pytest.fixture
def sought(egg, monkeypatch):
    """Joins of two groups that are sought with patience, by the log odds of poses of the second in the first."""

    def found(judge, a, b, shown, surfaces=egg[0]):
        monkeypatch.setattr(match, "seek", lambda *_: [Shown(*pose) for pose in shown])
        return matched(
            state_of(surfaces), Pass("sought", None, TWICE, judge, 0.5), group(egg[1], *a), group(egg[1], *b)
        )

    return found


def test_of_what_is_known_to_belong_places_are_judged(egg, sought):
    """What is sought with patience keeps its confidence, unless it is known to be somewhere there."""
    surfaces, T = egg
    pose = shares(np.array([-2.0]))[0]

    def sure(judge, surfaces):
        (found,) = sought(judge, (0,), (1,), [(T[0] @ T[1].inverse(), -2.0)], surfaces)
        return found.confidence

    assert sure(Judge.PATIENT, with_breaks(surfaces)) == pose
    assert sure(Judge.BELONGING, with_breaks(surfaces)) == where_it_belongs([-2.0], fitted().belonging)[0] > pose
    assert sure(Judge.BELONGING, surfaces) == pose  # nobody says what is broken


def test_the_more_of_all_holds_together_the_more_probably_the_rest_belongs_to_it(egg, sought):
    surfaces, T = egg
    areas = [surface.area for surface in surfaces]

    def sure(*largest):
        (found,) = sought(Judge.PATIENT, largest, (3,), [(T[0] @ T[3].inverse(), -1.0)])
        return found.confidence

    odds = sum(areas[:3]) / (areas[3] + np.mean(areas))
    assert sure(0, 1, 2) == pytest.approx(shares(np.array([-1.0 + np.log(odds)]))[0])
    assert sure(0) == shares(np.array([-1.0]))[0]  # a part alone is no reason to expect another there
    assert sure(0) < sure(0, 1, 2)


def test_what_cannot_be_takes_nothing_from_what_can_and_all_of_two_groups_exclude_each_other(egg, sought):
    surfaces, T = egg
    halves = sorted(((0, 1), (2, 3)), key=lambda half: -sum(surfaces[k].area for k in half))
    (i, _), (j, _) = halves  # the larger one first
    true = T[i] @ T[j].inverse()
    inside = Pose(true.R, surfaces[i].T_part_surface.t - true.R @ surfaces[j].T_part_surface.t)
    aside = Pose(true.R, true.t + 3 * surfaces[0].unit)
    joins = sought(Judge.PATIENT, *halves, [(inside, 1.0), (true, 0.5), (aside, -1.0)])
    assert [join.confidence for join in joins] == pytest.approx(shares(np.array([0.5, -1.0])))
    assert len({join.parts for join in joins}) == 1
