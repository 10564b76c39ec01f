"""Parts of other objects among those that are judged: right is who leaves them out."""

from dataclasses import replace

import numpy as np
import pytest

from cmnet.evaluation.answers import Answer
from cmnet.evaluation.cases import assembly_case, pair_case
from cmnet.evaluation.judged_joins import SHIFT, TURN, judge_joins
from cmnet.evaluation.predictions import Prediction
from cmnet.evaluation.protocol import measure, score_case
from cmnet.geometry.pose import Pose
from cmnet.pairing.join import Join


@pytest.fixture
def case(make_bar):
    """Four parts; the largest is foreign."""
    return assembly_case(replace(make_bar(pieces=4), foreign=(3,)), 0)


def answer(case, *joins, foreign_pose=np.nan):
    """All own parts in their places, the foreign one where it is said."""
    poses = np.where(np.isfinite(case.truth), case.truth, foreign_pose)
    poses[~case.own] = foreign_pose * np.eye(4)
    given = Answer(poses, joins)
    return Prediction("x", "m", case.parts, case.puzzle.anchor, given.poses, case.centres, 0.0, given.joins)


def join(case, i, j):
    return Join((i, j), Pose.identity(), 0.9, 0.1, 0.0, 0.0, used=True)


def test_the_anchor_and_the_size_are_the_objects_own(case, make_bar):
    (stranger,) = np.flatnonzero(~case.own)
    assert case.parts[stranger] == 3
    assert case.parts[case.puzzle.anchor] == 2
    assert case.pieces == 3
    assert case.size == pytest.approx(0.6, abs=0.01)  # the foreign part is the last 0.4 of the bar
    assert pair_case(replace(make_bar(pieces=4), foreign=(3,)), 0).parts == (1, 2)


def test_who_leaves_it_out_has_everything_right(case):
    s = score_case(case, answer(case))
    assert (s.pa_crd, s.in_place, s.placed, s.unplaced) == (100, 100, 100, 0)
    assert (s.foreign, s.foreign_out) == (1, 1)


def test_who_places_it_or_joins_it_does_not(case):
    (stranger,) = np.flatnonzero(~case.own)
    placed = score_case(case, answer(case, foreign_pose=1.0))
    assert (placed.pa_crd, placed.foreign_out) == (100, 0)
    used = join(case, case.puzzle.anchor, int(stranger))
    (judged,) = judge_joins(case, [used])
    assert not judged.right
    joined = score_case(case, answer(case, used))
    assert (joined.joins, joined.joins_right, joined.foreign_out) == (1, 0, 0)
    considered = score_case(case, answer(case, replace(used, used=False)))
    assert (considered.joins, considered.foreign_out) == (0, 1)


@pytest.mark.parametrize(("share", "right"), [(0.95, 100), (1.05, 50)])
@pytest.mark.parametrize("size", [1.0, 20.0])
def test_in_place_is_within_the_tolerance_of_a_join_at_any_scale(share, right, size):
    rng = np.random.default_rng(0)
    parts = [size * rng.random((30, 3)) for _ in range(2)]
    truth = np.array([np.eye(4), Pose.random(rng, 1).matrix()])
    middle = parts[1].mean(axis=0)
    shift = Pose(np.eye(3), share * SHIFT * size * np.array([0.6, 0, 0.8]))
    angle = np.radians(share * TURN)
    R = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    for off in (shift, Pose(R, middle - R @ middle)):  # a part turned about its own middle does not shift
        poses = truth @ np.array([np.eye(4), off.matrix()])
        assert measure(parts, poses, truth, 0, size).in_place == right
