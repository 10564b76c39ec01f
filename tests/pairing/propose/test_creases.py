"""The true pose is among the first, and poses are scored as geometry says."""

import numpy as np
import pytest

from cmnet.geometry.pose import Pose
from cmnet.geometry.poses import Poses
from cmnet.pairing.propose.creases import distinct, propose, sinking
from cmnet.pairing.surface.frames import pose_of_surfaces
from cmnet.settings import Tolerances


@pytest.mark.parametrize("name", ["egg", "bowl"])
def test_the_true_pose_is_among_the_hypotheses(name, request):
    """Not of a bar: its straight edges suggest thousands of equally good poses, of which the last digit chooses."""
    a, b = request.getfixturevalue(name)
    truth = pose_of_surfaces(a, b, Pose.identity())
    found = propose(a, b, 24)
    near = [h.T_a_b.angle_to(truth) < 8 and np.linalg.norm(h.T_a_b.t - truth.t) < 0.03 for h in found]
    assert any(near)
    scores = [h.score for h in found]
    assert scores == sorted(scores, reverse=True)


def test_many_poses_move_points_as_one_does():
    rng = np.random.default_rng(0)
    several = [Pose.random(rng, 1.0) for _ in range(5)]
    R, t = np.stack([T.R for T in several]), np.stack([T.t for T in several])
    batch = Poses(R.astype(np.float32), t.astype(np.float32))
    points = rng.standard_normal((7, 3)).astype(np.float32)
    np.testing.assert_allclose(batch.apply(points), np.stack([T.apply(points) for T in several]), atol=1e-5)


def test_parts_pushed_into_each_other_sink_and_mates_do_not(bar):
    a, b = bar
    truth = pose_of_surfaces(a, b, Pose.identity())
    assert sinking(a, b, truth) < 1
    assert sinking(a, b, Pose(truth.R, truth.t / 2)) > 20


def test_of_equal_poses_the_best_is_kept():
    R = np.repeat(np.eye(3, dtype=np.float32)[None], 3, axis=0)
    poses = Poses(R, np.array([[0, 0, 0], [0.001, 0, 0], [1, 0, 0]], dtype=np.float32))
    np.testing.assert_array_equal(distinct(poses, np.array([1, 3, 2], dtype=np.float32), 10, Tolerances()), [1, 2])
