"""Poses that two looks examine."""

from dataclasses import replace

import numpy as np
import pytest

import cmnet.pairing.two_looks as module
from breaking import broken, fitted, prepared, solid_egg
from cmnet.geometry.pose import Pose
from cmnet.pairing.judge.confidence import logit, logit_twice
from cmnet.pairing.judge.evidence import verify
from cmnet.pairing.surface.frames import pose_of_surfaces
from cmnet.pairing.two_looks import examine_twice, of_like_relief, seek
from cmnet.settings import COARSE


@pytest.fixture(scope="module")
def looks(egg):
    """The halves of the egg, closely and from afar, in their places."""
    return tuple(egg), tuple(prepared(broken(solid_egg(), np.random.default_rng(1)), COARSE))


def beside(units, egg):
    return Pose(np.eye(3), np.full(3, units * egg[0].unit / np.sqrt(3)))


def off(T, surface):
    """Units by which a pose puts the middle of a part beside its place."""
    middle = surface.T_part_surface.t
    return np.linalg.norm(T.apply(middle) - middle) / surface.unit


def test_a_pose_nearby_settles_and_is_sure(looks):
    close, far = looks
    (found,) = examine_twice(close, far, [beside(0.01, close)])
    assert off(found.T_i_j, close[1]) < 0.002
    assert found.confidence > 0.9


def test_a_pose_that_nothing_holds_stays_and_is_not_believed(looks):
    close, far = looks
    away = beside(5.0, close)
    (found,) = examine_twice(close, far, [away])
    np.testing.assert_allclose(found.T_i_j.matrix(), away.matrix(), atol=1e-9)
    assert found.confidence < 0.01


def test_poses_that_come_together_are_one_and_the_surest_comes_first(looks):
    close, far = looks
    found = examine_twice(close, far, [beside(5.0, close), beside(0.01, close), beside(0.005, close)])
    assert len(found) == 2
    assert off(found[0].T_i_j, close[1]) < 0.002
    assert found[0].confidence > 0.9 > 0.01 > found[1].confidence
    assert examine_twice(close, far, []) == []


def test_the_order_of_the_two_parts_does_not_matter(looks):
    close, far = looks
    near = beside(0.01, close)
    (one,) = examine_twice(close, far, [near])
    (other,) = examine_twice(close[::-1], far[::-1], [near.inverse()])
    np.testing.assert_allclose(other.T_i_j.inverse().matrix(), one.T_i_j.matrix(), atol=1e-9)
    assert other.confidence == pytest.approx(one.confidence)


def test_breaks_of_like_relief_suggest_the_place(halves):
    found = of_like_relief(*halves)
    assert 0 < len(found) <= COARSE.budget.like_kept
    assert off(found[0], halves[1]) < 0.03
    turned = [T.inverse() for T in of_like_relief(*halves[::-1])]
    for one, other in zip(found, turned, strict=True):
        np.testing.assert_allclose(other.matrix(), one.matrix(), atol=1e-9)


def test_where_nobody_says_what_is_broken_relief_suggests_nothing(egg):
    assert of_like_relief(*egg) == []


def test_a_pose_settles_where_the_skin_goes_on_but_does_not_slip_away(halves):
    seen = tuple(halves)
    (near,) = examine_twice(seen, seen, [beside(0.01, halves)])
    assert off(near.T_i_j, halves[1]) < 0.003
    assert near.relief > 100
    (away,) = examine_twice(seen, seen, [beside(5.0, halves)])
    assert off(away.T_i_j, halves[1]) == pytest.approx(5.0, abs=1e-6)
    assert away.relief == 0.0


def test_what_speaks_for_a_pose_counts_in_either_look(egg):
    said = replace(verify(*egg, pose_of_surfaces(*egg, Pose.identity())), broken=0.9)
    for weaker in (replace(said, closure=said.closure / 2), replace(said, gap=2 * said.gap), replace(said, broken=0.1)):
        assert logit_twice(weaker, weaker, 10.0, fitted()) < logit_twice(said, said, 10.0, fitted())
    blind = replace(said, rim=0.0, closure=0.0, broken=0.0)
    one, other = logit_twice(said, blind, 10.0, fitted()), logit_twice(blind, said, 10.0, fitted())
    assert logit_twice(blind, blind, 10.0, fitted()) < one == other  # the look that is surer counts
    unsaid = replace(said, broken=None)
    assert (
        logit_twice(said, unsaid, 10.0, fitted())
        == logit_twice(unsaid, unsaid, 0.0, fitted())
        == logit(unsaid, fitted())
    )


def test_the_larger_a_contact_is_the_more_its_relief_must_say(egg):
    said = replace(verify(*egg, pose_of_surfaces(*egg, Pose.identity())), broken=0.9, contact=0.1)
    assert logit_twice(said, said, 50.0, fitted()) < logit_twice(said, said, 500.0, fitted())
    assert logit_twice(said, said, 50.0, fitted()) < logit_twice(replace(said, contact=0.01), said, 50.0, fitted())


PROPOSERS = ("candidates", "propose_in_holes", "of_like_relief")


@pytest.fixture
def silent(monkeypatch):
    """Leave out what suggests poses of what is left over, but some of it."""

    def leave_out(*but):
        for name in {*PROPOSERS} - {*but}:
            monkeypatch.setattr(module, name, lambda *_: [])

    return leave_out


@pytest.mark.parametrize("proposer", [*PROPOSERS, None])
def test_each_that_suggests_a_pose_with_patience_finds_the_place_alone(halves, silent, proposer):
    seen = tuple(halves)
    silent(proposer)
    found = seek(seen, seen, [] if proposer else [Pose.identity()])
    assert off(found[0].T_i_j, halves[1]) < 0.003
    assert found[0].confidence > 0.9
    assert sum(pose.confidence for pose in found) <= 1


def test_where_nothing_suggests_a_pose_none_is_found(halves, silent):
    silent()
    assert seek(tuple(halves), tuple(halves)) == []


def test_patience_never_makes_a_pose_less_sure(halves):
    seen, rng = tuple(halves), np.random.default_rng(0)
    for _ in range(4):
        T = Pose(np.eye(3), 0.02 * halves[0].unit * rng.normal(size=3))
        (hasty,), (patient,) = (examine_twice(seen, seen, [T], patient) for patient in (False, True))
        assert patient.logit >= hasty.logit
