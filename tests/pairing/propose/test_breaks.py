"""Breaks that lie on each other are found by their faces alone, and poses beside the true one settle into it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cmnet.geometry.pose import Pose
from cmnet.pairing.pair import candidates
from cmnet.pairing.propose.breaks import contact, on_breaks, propose_touching, settled_on_breaks
from cmnet.pairing.propose.creases import poses_of, seeded_poses


def beside(truth, rng, degrees, shift):
    turn, move = rng.standard_normal((2, 3))
    R = Rotation.from_rotvec(np.radians(degrees) * turn / np.linalg.norm(turn)).as_matrix()
    return Pose(R @ truth.R, truth.t + shift * move / np.linalg.norm(move))


def plainly(a, b, T, judges, near):
    """The area of the breaks of b that lies on a, straight from the definition."""
    (x, n), area = on_breaks(b, judges)
    x, n = T.apply(x), T.rotate(n)
    outside = (
        ((x - a.box.origin) / a.box.size < -0.5) | ((x - a.box.origin) / a.box.size > np.array(a.box.shape) - 0.5)
    ).any(axis=1)
    at = np.where(outside, len(a.dense), a.sample_of[a.box.voxel(x)])
    x, n, at = x[at < len(a.dense)], n[at < len(a.dense)], at[at < len(a.dense)]
    cosine = (a.dense_normals[at] * n).sum(axis=1)
    gap = ((x - a.dense[at]) * a.dense_normals[at]).sum(axis=1)
    return area * np.where(cosine < -0.6, -cosine * np.exp(-((gap / near) ** 2)), 0).sum()


def test_contact_is_that_of_the_definition(halves, truth):
    a, b = halves
    rng = np.random.default_rng(0)
    poses = [truth, *(beside(truth, rng, 10.0, shift) for shift in (0.01, 0.03, 0.1, 0.3, 9.0))]
    expected = [plainly(a, b, T, 300, 0.03) for T in poses]
    assert expected[0] > 0
    assert expected[-1] == 0
    # Single precision takes a sample or two into the voxel beside theirs.
    np.testing.assert_allclose(contact(a, b, poses_of(poses), 300, 0.03), expected, atol=0.01 * expected[0])


def test_contact_is_the_area_of_the_break_in_the_true_pose_and_less_beside_it(halves, truth):
    a, b = halves
    poses = [truth, *(beside(truth, np.random.default_rng(k), 25.0, 0.1) for k in range(5))]
    true, *others = contact(a, b, poses_of(poses), 300, 0.01)
    assert true == pytest.approx(b.area * (b.broken > 0).mean(), rel=0.1)
    assert max(others) < 0.5 * true


def test_contact_moves_with_the_parts_that_are_moved(halves, truth):
    """What is compared are the surfaces, wherever the frame of the pose lies."""
    a, b = halves
    turned = replace(b, points=truth.apply(b.points), normals=truth.rotate(b.normals))
    both = contact(a, b, poses_of([truth]), 300, 0.01), contact(a, turned, poses_of([Pose.identity()]), 300, 0.01)
    np.testing.assert_allclose(*both, rtol=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_a_pose_beside_the_true_one_settles_into_it(halves, truth, seed):
    a, b = halves
    start = beside(truth, np.random.default_rng(seed), 4.0, 0.02)
    before = poses_of([start])
    found = settled_on_breaks(a, b, before).one(0)
    assert found.angle_to(truth) < 0.5 * start.angle_to(truth)
    np.testing.assert_array_equal(before.R, poses_of([start]).R)  # what was given stays as it was


def test_the_true_pose_comes_first_and_is_a_candidate(halves, truth):
    a, b = halves
    found = propose_touching(a, b, 24)
    assert 0 < len(found) <= 24
    assert found[0].angle_to(truth) < 3
    np.testing.assert_array_equal(found[0].R, propose_touching(a, b, 24)[0].R)
    assert candidates(a, b)[0].T_a_b.angle_to(truth) < 1


def test_the_poses_settle_away_from_those_that_creases_suggest(halves):
    a, b = halves
    seeds, _ = seeded_poses(a, b)
    assert not np.isclose(seeds.R, propose_touching(a, b, 1)[0].R, atol=1e-6).all(axis=(1, 2)).any()


def test_where_nobody_says_what_is_broken_nothing_is_proposed(bar, halves):
    a, b = halves
    assert propose_touching(*bar, 24) == []
    assert propose_touching(a, b, 0) == []
    assert propose_touching(a, replace(b, broken=np.zeros_like(b.broken)), 24) == []
