import numpy as np
import pytest

from cmnet.data.fracture import prepare, weakest
from cmnet.data.fracture.engine import draw_shares
from cmnet.data.shapes import make_shape


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
def test_sections_cut_off_about_the_wanted_share(share: float) -> None:
    solid = prepare(make_shape("teapot", np.random.default_rng(0))).solids[0]
    section = weakest.propose(solid, share, np.random.default_rng(1))
    assert section is not None
    cells = np.rint((solid.lattice.points - section.origin) / section.spacing).astype(int)
    within = ((cells >= 0) & (cells < section.values.shape)).all(axis=1)
    inside = np.zeros(len(cells), dtype=bool)
    inside[within] = section.values[tuple(cells[within].T)] < 0
    assert share / 3 < solid.lattice.volumes[inside].sum() < share * 3


def test_shares_add_up_and_respect_the_floor() -> None:
    rng = np.random.default_rng(0)
    for pieces in (2, 8, 50):
        for least in (0.0, 0.3 / pieces):
            shares = draw_shares(pieces, rng, least)
            assert shares.sum() == pytest.approx(1)
            assert shares.min() >= least


def test_median_shares_are_those_of_breaking_bad() -> None:
    """Measured on the sample: two pieces .11, four pieces .75 and .013 for the smaller, the largest, the smallest."""
    rng = np.random.default_rng(0)
    two = np.median([draw_shares(2, rng).min() for _ in range(2000)])
    four = np.array([np.sort(draw_shares(4, rng)) for _ in range(2000)])
    assert two == pytest.approx(0.11, rel=0.5)
    assert np.median(four[:, -1]) == pytest.approx(0.75, rel=0.2)
    assert np.median(four[:, 0]) == pytest.approx(0.013, rel=0.5)
