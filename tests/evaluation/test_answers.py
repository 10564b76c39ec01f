import numpy as np
import pytest

from cmnet.evaluation.answers import DOUBTFUL, answer_of
from cmnet.geometry.pose import Pose
from cmnet.pairing.join import Join
from cmnet.solving.assembly import Assembly


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def assembly_of(poses, groups, joins=()):
    placed = {k for group in groups for k in group}
    matrices = np.array([T.matrix() for T in poses])
    return Assembly(matrices, groups, [k for k in range(len(poses)) if k not in placed], list(joins))


def test_poses_are_told_in_the_frame_of_the_anchor_wherever_the_group_stands(rng) -> None:
    poses, given = ([Pose.random(rng, 1) for _ in range(3)] for _ in range(2))
    here = answer_of(assembly_of(poses, [[0, 1, 2]]), range(3), 1, given)
    T = Pose.random(rng, 1)
    there = answer_of(assembly_of([T @ pose for pose in poses], [[0, 1, 2]]), range(3), 1, given)
    np.testing.assert_allclose(here.poses, there.poses, atol=1e-12)
    np.testing.assert_array_equal(here.poses[1], np.eye(4))
    expected = (poses[1] @ given[1]).inverse() @ poses[0] @ given[0]
    np.testing.assert_allclose(here.poses[0], expected.matrix(), atol=1e-12)


def test_only_the_group_of_the_anchor_is_placed(rng) -> None:
    poses, given = ([Pose.random(rng, 1) for _ in range(5)] for _ in range(2))
    answer = answer_of(assembly_of(poses, [[0, 3], [1, 2]]), range(5), 2, given)
    assert np.isfinite(answer.poses).all(axis=(1, 2)).tolist() == [False, True, True, False, False]


def test_an_anchor_alone_is_placed_by_itself(rng) -> None:
    poses, given = ([Pose.random(rng, 1) for _ in range(3)] for _ in range(2))
    answer = answer_of(assembly_of(poses, [[1, 2]]), range(3), 0, given)
    assert np.isfinite(answer.poses).all(axis=(1, 2)).tolist() == [True, False, False]
    np.testing.assert_array_equal(answer.poses[0], np.eye(4))


def test_joins_are_told_in_the_coordinates_and_numbers_of_the_puzzle(rng) -> None:
    """A join that agrees with the poses of the assembly agrees with those of the answer."""
    poses, given = [Pose.random(rng, 1) for _ in range(4)], [Pose.random(rng, 1) for _ in range(2)]
    join = Join((3, 1), poses[3].inverse() @ poses[1], 0.7, 0, 0, 0, used=True)
    outside = Join((0, 1), Pose.identity(), 0.7, 0, 0, 0, used=True)
    answer = answer_of(assembly_of(poses, [[0, 1, 2, 3]], [outside, join]), [1, 3], 0, given)
    (told,) = answer.joins
    assert told.parts == (1, 0)
    placed = [Pose.from_matrix(pose) for pose in answer.poses]
    np.testing.assert_allclose(told.T_i_j.matrix(), (placed[1].inverse() @ placed[0]).matrix(), atol=1e-12)


def test_doubtful_joins_are_kept_only_where_they_are_used() -> None:
    same = Pose.identity()
    claims = [(DOUBTFUL / 2, False), (DOUBTFUL / 2, True), (0.1, False)]
    joins = [Join((0, 1), same, confidence, 0, 0, 0, used) for confidence, used in claims]
    answer = answer_of(assembly_of([same, same], [[0, 1]], joins), [0, 1], 0, [same, same])
    assert [(join.confidence, join.used) for join in answer.joins] == claims[1:]
