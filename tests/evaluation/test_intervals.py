import numpy as np
import pytest

from cmnet.evaluation.intervals import interval


def test_the_mean_lies_within() -> None:
    values = np.random.default_rng(0).random(50)
    low, high = interval(values, [str(k) for k in range(50)], np.random.default_rng(0))
    assert low < values.mean() < high


def test_one_object_or_equal_values_leave_no_room() -> None:
    assert interval([30, 60], ["a", "a"], np.random.default_rng(0)) == (45, 45)
    assert interval([7.0] * 9, list("abcdefghi"), np.random.default_rng(0)) == (7, 7)


def test_width_is_that_of_the_normal_theory_and_covers_the_truth() -> None:
    rng = np.random.default_rng(1)
    covered, widths = 0, []
    for _ in range(300):
        low, high = interval(rng.standard_normal(60), [str(k) for k in range(60)], rng, 400)
        covered += low < 0 < high
        widths.append(high - low)
    assert covered / 300 == pytest.approx(0.94, abs=0.04)
    assert np.mean(widths) == pytest.approx(2 * 1.96 / np.sqrt(60), rel=0.08)


def test_fractures_of_one_object_are_no_independent_witnesses() -> None:
    values = np.repeat(np.random.default_rng(0).random(12), 10)
    alone = interval(values, [str(k) for k in range(120)], np.random.default_rng(0))
    together = interval(values, [str(k // 10) for k in range(120)], np.random.default_rng(0))
    assert np.ptp(together) > 2 * np.ptp(alone)


def test_the_same_seed_gives_the_same_interval() -> None:
    values, names = [1.0, 5.0, 2.0, 8.0], list("abcd")
    assert interval(values, names, np.random.default_rng(3)) == interval(values, names, np.random.default_rng(3))
