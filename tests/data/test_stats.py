from pathlib import Path

import numpy as np
import pytest
import trimesh

from cmnet.data.stats import TITLES, find_fractures, measure, quantile_table
from cmnet.errors import InputError


def two_boxes() -> list[trimesh.Trimesh]:
    """A 2 × 1 × 1 block cut in unequal parts: 1.5 and 0.5 long."""
    return [
        trimesh.creation.box(bounds=[[0, 0, 0], [1.5, 1, 1]]),
        trimesh.creation.box(bounds=[[1.5, 0, 0], [2, 1, 1]]),
    ]


def test_known_blocks() -> None:
    stats = measure(two_boxes(), np.random.default_rng(0))
    assert stats.largest == pytest.approx([0.75])
    assert stats.smallest == pytest.approx([0.25])
    assert stats.contact == pytest.approx([1 / 8, 1 / 4], rel=0.05)
    assert stats.pair == pytest.approx([1 / 4], rel=0.05)
    assert stats.wall == pytest.approx([2 * 2 / 10 / 2], rel=0.02)
    assert stats.roughness == pytest.approx([0.0], abs=1e-6)
    assert len(stats.touching) == 0


def test_pieces_that_do_not_touch() -> None:
    far = [*two_boxes(), trimesh.creation.box(bounds=[[5, 0, 0], [6, 1, 1]])]
    stats = measure(far, np.random.default_rng(0))
    assert stats.touching == pytest.approx([1 / 3])
    assert stats.contact[2] == 0


def test_the_unit_does_not_matter() -> None:
    small, large = (
        measure([m.copy().apply_scale(s) for m in two_boxes()], np.random.default_rng(0)) for s in (1, 1000)
    )
    assert small.wall == pytest.approx(large.wall)
    assert small.pair == pytest.approx(large.pair)


def test_the_table_has_five_quantiles_a_row() -> None:
    table = quantile_table([measure(two_boxes(), np.random.default_rng(0))] * 3)
    assert set(table) == set(TITLES)
    assert table["largest"] == pytest.approx([0.75] * 5)
    assert all(len(row) == 5 for row in table.values())


def test_folders_without_pieces_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        find_fractures(tmp_path / "nowhere")
    with pytest.raises(InputError, match="two or more"):
        find_fractures(tmp_path)
