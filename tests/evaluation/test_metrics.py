import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from cmnet.evaluation.metrics import (
    crd,
    geodesic_rotation,
    part_accuracy,
    rmse_rotation,
    rmse_translation,
)
from cmnet.geometry.pose import Pose

FOUR = np.array([[1.0, 0, 0], [0, 1, 0], [-1, 0, 0], [0, 0, 1]])
SEEDS = st.integers(0, 2**32 - 1)


def turn(axis: str, degrees: float) -> Pose:
    return Pose(Rotation.from_euler(axis, degrees, degrees=True).as_matrix(), np.zeros(3))


def shift(*t: float) -> Pose:
    return Pose(np.eye(3), np.array(t))


def test_crd_of_a_shift_is_its_length() -> None:
    assert crd(FOUR, shift(0, 3, 4), Pose.identity()) == pytest.approx(5)


def test_crd_of_a_half_turn_on_hand_made_points() -> None:
    """About z the points on x and y go to the other side (2 away), the one on z stays."""
    assert crd(FOUR, turn("z", 180), Pose.identity()) == pytest.approx(6 / 4)


def test_rmse_translation_is_over_the_three_coordinates() -> None:
    assert rmse_translation(shift(0, 3, 4), Pose.identity()) == pytest.approx(5 / np.sqrt(3))


def test_rmse_rotation_is_over_the_three_angles() -> None:
    assert rmse_rotation(turn("x", 30), Pose.identity()) == pytest.approx(30 / np.sqrt(3))
    assert rmse_rotation(turn("xyz", [10, 20, 30]), Pose.identity()) == pytest.approx(np.sqrt((100 + 400 + 900) / 3))


def test_rmse_rotation_wraps_at_half_a_turn() -> None:
    assert rmse_rotation(turn("z", 179), turn("z", -179)) == pytest.approx(2 / np.sqrt(3))


def test_gimbal_lock_makes_close_rotations_look_far_apart() -> None:
    a, b = turn("xyz", [0, 89.9, 0]), turn("xyz", [60, 89.9, 60])
    assert geodesic_rotation(a, b) < 1
    assert rmse_rotation(a, b) > 45


@pytest.mark.parametrize("angle", [0, 1e-6, 1, 90, 179.999999, 180])
def test_geodesic_of_a_turn_is_its_angle(angle: float) -> None:
    assert geodesic_rotation(turn("y", angle), Pose.identity()) == pytest.approx(angle, abs=1e-9)


def test_part_accuracy_counts_errors_below_the_threshold() -> None:
    assert part_accuracy([0.0, 0.05, 0.1, 2.0], 0.1) == 0.5
    assert part_accuracy([0.0], 0.1) == 1
    assert part_accuracy([np.nan], 0.1) == 0


@given(SEEDS)
def test_a_perfect_prediction_has_no_error(seed: int) -> None:
    T = Pose.random(np.random.default_rng(seed), 1.0)
    assert crd(FOUR, T, T) == rmse_rotation(T, T) == rmse_translation(T, T) == 0
    assert geodesic_rotation(T, T) < 1e-12


@given(SEEDS)
def test_another_world_frame_changes_nothing_but_the_euler_error(seed: int) -> None:
    rng = np.random.default_rng(seed)
    T_pred, T_true, T_new_old = (Pose.random(rng, 1.0) for _ in range(3))
    moved = T_new_old @ T_pred, T_new_old @ T_true
    assert crd(FOUR, *moved) == pytest.approx(crd(FOUR, T_pred, T_true))
    assert geodesic_rotation(*moved) == pytest.approx(geodesic_rotation(T_pred, T_true))
    assert rmse_translation(*moved) == pytest.approx(rmse_translation(T_pred, T_true))


def test_the_euler_error_depends_on_the_frame() -> None:
    T_pred, T_true, T_new_old = turn("z", 40), Pose.identity(), turn("y", 60)
    assert abs(rmse_rotation(T_new_old @ T_pred, T_new_old @ T_true) - rmse_rotation(T_pred, T_true)) > 1


def test_random_rotations_give_the_known_levels_of_chance() -> None:
    rng = np.random.default_rng(0)
    pairs = [(Pose.random(rng), Pose.random(rng)) for _ in range(4000)]
    assert np.mean([geodesic_rotation(*p) for p in pairs]) == pytest.approx(126.5, abs=1.5)
    assert np.mean([rmse_rotation(*p) for p in pairs]) == pytest.approx(86.2, abs=1.5)
    assert np.mean([rmse_rotation(p, Pose.identity()) for p, _ in pairs]) == pytest.approx(83.1, abs=1.5)
