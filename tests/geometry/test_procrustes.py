import numpy as np
import pytest

from cmnet.geometry.pose import Pose
from cmnet.geometry.procrustes import procrustes, robust_procrustes


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [3, 4, 50])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("offset", [0.0, 100.0])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_recovers_exact_motions(dtype, count, weighted, flat, offset, size):
    rng = np.random.default_rng(count)
    for _ in range(5):
        a = rng.standard_normal((count, 3)) * size * ([1, 1, 0] if flat else [1, 1, 1]) + offset * size
        T = Pose.random(rng, spread=size)
        b = T.apply(a)
        weights = rng.uniform(0.1, 1, count).astype(dtype) if weighted else None
        found = procrustes(a.astype(dtype), b.astype(dtype), weights)
        tolerance = (1e-2 if offset else 1e-4) if dtype == np.float32 else 1e-8
        assert np.abs(found.apply(a) - b).max() < tolerance * size
        assert np.isclose(np.linalg.det(found.R), 1)


def test_never_a_reflection():
    a = np.random.default_rng(0).standard_normal((20, 3))
    found = procrustes(a, a * [1, 1, -1])
    assert np.isclose(np.linalg.det(found.R), 1)


def test_weights_of_zero_silence_outliers():
    rng = np.random.default_rng(0)
    a = rng.standard_normal((20, 3))
    T = Pose.random(rng, spread=1.0)
    b = T.apply(a)
    b[5:] += 10
    weights = np.r_[np.ones(5), np.zeros(15)]
    assert np.allclose(procrustes(a, b, weights).matrix(), T.matrix())


@pytest.mark.parametrize("count", [0, 1, 2])
def test_too_few_points_still_give_a_rotation(count):
    rng = np.random.default_rng(0)
    a = rng.standard_normal((count, 3))
    T = Pose.random(rng, spread=1.0)
    found = procrustes(a, T.apply(a))
    assert np.isclose(np.linalg.det(found.R), 1)
    assert np.allclose(found.apply(a), T.apply(a))


def test_coincident_points_collinear_points_and_no_weight():
    same, line = np.ones((6, 3)), np.outer(np.arange(6.0), [1, 2, 3])
    assert np.allclose(procrustes(same, same + 1).matrix()[:3, 3], 1)
    T = Pose.random(np.random.default_rng(1), spread=1.0)
    assert np.allclose(procrustes(line, T.apply(line)).apply(line), T.apply(line))
    assert np.allclose(procrustes(line, T.apply(line), np.zeros(6)).apply(line), T.apply(line))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_refuses_what_is_not_finite(bad):
    a = np.zeros((3, 3))
    a[0, 0] = bad
    with pytest.raises(ValueError, match="finite"):
        procrustes(a, np.zeros((3, 3)))


def test_inlier_rounds_forget_outliers():
    rng = np.random.default_rng(0)
    a = rng.standard_normal((100, 3))
    T = Pose.random(rng, spread=1.0)
    b = T.apply(a)
    b[:15] += 0.5
    plain, robust = procrustes(a, b), robust_procrustes(a, b, np.ones(100), radius=0.3)
    assert plain.angle_to(T) > 0.5
    assert np.allclose(robust.matrix(), T.matrix(), atol=1e-9)
