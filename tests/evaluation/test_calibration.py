import numpy as np
import pytest

from cmnet.evaluation.calibration import calibration_error, reliability, wilson


def test_an_honest_confidence_has_next_to_no_error() -> None:
    rng = np.random.default_rng(0)
    claimed = rng.random(20_000)
    bins = reliability(claimed, rng.random(20_000) < claimed)
    assert len(bins) == 10
    assert calibration_error(bins) < 0.02
    assert sum(b.right_low <= b.claimed <= b.right_high for b in bins) >= 8


def test_boasting_is_measured() -> None:
    bins = reliability([0.95] * 100, [True] * 45 + [False] * 55)
    assert calibration_error(bins) == pytest.approx(0.5)


def test_every_join_falls_into_one_bin_and_certainty_into_the_last() -> None:
    claimed = np.linspace(0, 1, 41)
    bins = reliability(claimed, claimed > 0.5)
    assert sum(b.n for b in bins) == 41
    assert bins[-1].high == 1
    assert bins[-1].right == 1


def test_empty_bins_are_left_out() -> None:
    assert [b.low for b in reliability([0.05, 0.55], [False, True])] == [0.0, 0.5]
    assert reliability([], []) == []
    assert np.isnan(calibration_error([]))


def test_wilson_stays_within_0_and_1_and_narrows() -> None:
    for share in (0.0, 0.3, 1.0):
        few, many = wilson(share, 5), wilson(share, 500)
        assert 0 <= few[0] <= share + 1e-12
        assert share - 1e-12 <= few[1] <= 1
        assert np.ptp(many) < np.ptp(few)
