import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmnet.geometry.distances import chamfer_distance
from cmnet.geometry.pose import Pose

SEEDS = st.integers(0, 2**32 - 1)


def test_hand_made_points() -> None:
    a = np.array([[0.0, 0, 0], [1, 0, 0]])
    b = np.array([[0.0, 0, 2]])
    assert chamfer_distance(a, b) == pytest.approx((4 + 5) / 2 + 4)


def test_it_forgives_what_looks_the_same() -> None:
    """A part turned onto itself has no Chamfer distance: the trap of PA_CD."""
    square = np.array([[1.0, 1, 0], [1, -1, 0], [-1, 1, 0], [-1, -1, 0]])
    assert chamfer_distance(square, -square) == 0


@given(SEEDS)
def test_symmetric_and_blind_to_order_and_common_motion(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b, T = rng.standard_normal((30, 3)), rng.standard_normal((20, 3)), Pose.random(rng, 1.0)
    expected = chamfer_distance(a, b)
    assert chamfer_distance(b, a) == pytest.approx(expected)
    assert chamfer_distance(rng.permutation(a), b) == pytest.approx(expected)
    assert chamfer_distance(T.apply(a), T.apply(b)) == pytest.approx(expected)


@given(SEEDS)
def test_agrees_with_all_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((12, 3)), rng.standard_normal((7, 3))
    squared = ((a[:, None] - b) ** 2).sum(-1)
    assert chamfer_distance(a, b) == pytest.approx(squared.min(0).mean() + squared.min(1).mean())


def test_empty_sets_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one point"):
        chamfer_distance(np.zeros((0, 3)), np.zeros((1, 3)))
