from pathlib import Path

import numpy as np
import pytest
import trimesh

from cmnet.data.stats import TITLES, measure, measure_folder, quantile_table
from cmnet.errors import InputError
from cmnet.parts.part import Part


def box(low: float, high: float, scale: float = 1.0) -> Part:
    mesh = trimesh.creation.box(bounds=[[low, 0, 0], [high, 1, 1]])
    return Part("box", scale * np.asarray(mesh.vertices), np.asarray(mesh.faces))


def two_boxes(scale: float = 1.0) -> list[Part]:
    """A 2 × 1 × 1 block cut in unequal parts: 1.5 and 0.5 long."""
    return [box(0, 1.5, scale), box(1.5, 2, scale)]


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
    far = [*two_boxes(), box(5, 6)]
    stats = measure(far, np.random.default_rng(0))
    assert stats.touching == pytest.approx([1 / 3])
    assert stats.contact[2] == 0


def test_the_unit_does_not_matter() -> None:
    small, large = (measure(two_boxes(scale), np.random.default_rng(0)) for scale in (1, 1000))
    assert small.wall == pytest.approx(large.wall)
    assert small.pair == pytest.approx(large.pair)


def test_the_table_has_five_quantiles_a_row() -> None:
    table = quantile_table([measure(two_boxes(), np.random.default_rng(0))] * 3)
    assert set(table) == set(TITLES)
    assert table["largest"] == pytest.approx([0.75] * 5)
    assert all(len(row) == 5 for row in table.values())


def test_folders_without_pieces_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        list(measure_folder(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="no fracture in"):
        list(measure_folder(tmp_path))
