import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmnet.geometry.pose import Pose

seeds = st.integers(0, 2**32 - 1)


def random(seed):
    return Pose.random(np.random.default_rng(seed), spread=2.0)


@given(seeds, seeds, seeds)
def test_group_laws(a, b, c):
    A, B, C = random(a), random(b), random(c)
    assert np.allclose(((A @ B) @ C).matrix(), (A @ (B @ C)).matrix())
    assert np.allclose((A @ A.inverse()).matrix(), np.eye(4))
    assert np.allclose((A @ Pose.identity()).matrix(), A.matrix())
    assert np.allclose((A @ B).inverse().matrix(), (B.inverse() @ A.inverse()).matrix())
    assert np.allclose((A @ B).matrix(), A.matrix() @ B.matrix())


@given(seeds, seeds)
def test_applying_composes(a, b):
    A, B = random(a), random(b)
    x = np.random.default_rng(a).standard_normal((5, 3))
    assert np.allclose((A @ B).apply(x), A.apply(B.apply(x)))
    assert np.allclose(A.rotate(x - x[0]), A.apply(x) - A.apply(x[0]))


@given(seeds)
def test_random_rotations_are_rotations(seed):
    R = random(seed).R
    assert np.allclose(R @ R.T, np.eye(3))
    assert np.isclose(np.linalg.det(R), 1)


@given(seeds, st.floats(0, 180))
def test_angle(seed, angle):
    A = random(seed)
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    turn = Pose(np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]), np.zeros(3))
    B = A @ random(seed + 1) @ turn @ random(seed + 1).inverse()
    assert np.isclose(A.angle_to(B), angle, atol=1e-6)
    assert np.isclose(A.angle_to(B), B.angle_to(A), atol=1e-6)


def test_matrix_round_trip_and_bad_shapes():
    A = random(1)
    assert np.array_equal(Pose.from_matrix(A.matrix()).matrix(), A.matrix())
    for bad in (np.eye(3), np.ones((4, 4))):
        with pytest.raises(ValueError):
            Pose.from_matrix(bad)
    with pytest.raises(ValueError):
        Pose(np.eye(2), np.zeros(3))
