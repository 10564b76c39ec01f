"""Matches of which half are wrong still give the pose; a single right one does too."""

import numpy as np
import pytest

from cmnet.geometry.pose import Pose
from cmnet.pairing.propose.matches import Correspondences, poses_from_matches


def oracle(rng, count=128, wrong=0.5, unit=1.0, tilt=0.0):
    """True matches of a rough patch seen from both sides, a share of them replaced by random ones, and T_q_p."""
    truth = Pose.random(rng, 2.0 * unit)
    x_p = rng.uniform(-0.2, 0.2, (count, 3)) * [1, 1, 0.2] * unit
    n_p = np.array([0, 0, 1]) + rng.normal(0, 0.3, (count, 3))
    n_p /= np.linalg.norm(n_p, axis=1, keepdims=True)
    F_p = np.stack([Pose.random(rng).R for _ in range(count)])
    x_q, n_q = truth.apply(x_p), -truth.rotate(n_p)
    F_q = np.stack([F @ truth.R.T for F in F_p])
    if tilt:
        F_q = np.stack([F @ small_turn(rng, tilt) for F in F_q])
    lost = rng.permutation(count)[: int(wrong * count)]
    x_q[lost] = rng.uniform(-0.5, 0.5, (len(lost), 3)) * unit + x_q.mean(axis=0)
    F_q[lost] = np.array([Pose.random(rng).R for _ in lost]).reshape(-1, 3, 3)
    return Correspondences(x_p, x_q, n_p, n_q, F_p, F_q, rng.uniform(0.2, 1, count), unit), truth


def small_turn(rng, degrees):
    from scipy.spatial.transform import Rotation

    return Rotation.from_rotvec(rng.normal(0, np.radians(degrees), 3)).as_matrix()


def error(poses, truth, matches):
    middle = matches.x_p.mean(axis=0)
    return min(T.angle_to(truth) + np.linalg.norm(T.apply(middle) - truth.apply(middle)) / matches.unit for T in poses)


def test_true_matches_and_as_many_random_ones_give_the_pose_first():
    cases = [oracle(np.random.default_rng([7, k]), tilt=8.0) for k in range(100)]
    right = [error(poses_from_matches(matches, 6)[:1], truth, matches) < 0.5 for matches, truth in cases]
    assert np.mean(right) >= 0.99


def test_two_matches_that_fit_give_the_pose_where_frames_say_nothing():
    cases = [oracle(np.random.default_rng([8, k]), wrong=0.75, tilt=90.0) for k in range(25)]
    right = [error(poses_from_matches(matches, 6)[:1], truth, matches) < 1.0 for matches, truth in cases]
    assert np.mean(right) >= 0.96


@pytest.mark.parametrize("unit", [0.01, 1.0, 1000.0])
def test_the_unit_of_the_coordinates_does_not_matter(unit):
    matches, truth = oracle(np.random.default_rng(3), unit=unit)
    assert error(poses_from_matches(matches, 6)[:1], truth, matches) < 1e-6


def test_one_right_match_among_wrong_ones_is_enough_for_a_hypothesis():
    matches, truth = oracle(np.random.default_rng(4), count=16, wrong=15 / 16)
    assert error(poses_from_matches(matches, 100), truth, matches) < 1e-6


def test_the_weighted_svd_is_always_among_them_and_nothing_comes_of_nothing():
    rng = np.random.default_rng(5)
    matches, truth = oracle(rng, wrong=0.0)
    turned = np.stack([Pose.random(rng).R for _ in range(128)])  # frames that say nothing
    useless = Correspondences(
        matches.x_p, matches.x_q, matches.n_p, matches.n_q, matches.F_p, turned, matches.weights, 1.0
    )
    assert error(poses_from_matches(useless, 4), truth, matches) < 1e-6
    empty = Correspondences(*(np.zeros((0, 3)),) * 4, *(np.zeros((0, 3, 3)),) * 2, np.zeros(0), 1.0)
    assert poses_from_matches(empty, 4) == []
