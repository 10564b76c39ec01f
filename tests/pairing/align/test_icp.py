"""The sums that a pose is refined by: what they say does not depend on the frame they are added up in."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cmnet.geometry.pose import Pose
from cmnet.pairing.align.icp import Samples, _add_up, _Asked


def planes(rng, count=40):
    points, normals = rng.standard_normal((2, count, 3))
    return points, normals / np.linalg.norm(normals, axis=1, keepdims=True)


def asked(samples, points, normals, radius=1.0):
    found = _Asked(np.zeros((7, 7)), np.zeros(5))
    index = np.arange(len(points))
    _add_up(samples.x, samples.n, index, points, normals, radius, -0.6, 1.0, found.products, found.places)
    return found


def little(rng, size):
    turn, shift = size * rng.standard_normal((2, 3))
    return Pose(Rotation.from_rotvec(turn).as_matrix(), shift)


@pytest.mark.parametrize("seed", range(5))
def test_a_small_motion_is_undone(seed):
    rng = np.random.default_rng(seed)
    points, normals = planes(rng)
    motion = little(rng, 1e-3)
    step = asked(Samples(points, -normals).moved(motion), points, normals).solution(1e-3)
    left = (step @ motion).apply(points) - points
    assert np.abs(left).max() < 0.02 * np.abs(motion.apply(points) - points).max()


@pytest.mark.parametrize("seed", range(5))
def test_the_opposite_motion_is_asked_of_the_other_part(seed):
    rng = np.random.default_rng(seed)
    points, normals = planes(rng)
    samples, T_a_b = Samples(points, -normals).moved(little(rng, 0.1)), Pose.random(rng, 1.0)
    here = asked(samples, points, normals).turned(T_a_b)
    gap = ((samples.x - points) * normals).sum(axis=1)
    x, n = T_a_b.apply(samples.x), -T_a_b.rotate(normals)
    rows = np.column_stack([np.cross(x, n), n, gap])
    weight = (1 - gap**2) ** 2
    np.testing.assert_allclose(here.products, (weight[:, None] * rows).T @ rows, atol=1e-9)
    np.testing.assert_allclose(here.places, [len(x), *x.sum(axis=0), (x**2).sum()], atol=1e-9)


def test_samples_that_look_the_same_way_ask_for_nothing():
    points, normals = planes(np.random.default_rng(0))
    assert asked(Samples(points, normals), points, normals).solution(1e-3) is None


def test_samples_beyond_the_radius_ask_for_nothing():
    points, normals = planes(np.random.default_rng(0))
    assert asked(Samples(points + 2.0, -normals), points, normals).solution(1e-3) is None
