import shutil
from pathlib import Path

import numpy as np
import pytest

from cmnet.data.breaking_bad import FractureFolder
from cmnet.errors import InputError
from cmnet.evaluation.predictions import Settings
from cmnet.evaluation.selection import HALVES, drawn, half_of, loader, select, spread
from cmnet.parts.save import save_part


@pytest.fixture
def root(tmp_path, make_bricks):
    for k in range(8):
        for pieces in (2, 3):
            for part in make_bricks(pieces, "piece"):
                save_part(part, tmp_path / f"set/Bar/{k}/fractured_{pieces}/{part.name}.ply")
    return tmp_path


def test_all_fractures_of_an_object_fall_on_one_side(root) -> None:
    sides = {half: {f.object_id for f in select(Settings(str(root), half=half)).fractures} for half in HALVES}
    assert all(sides.values())
    assert not sides["development"] & sides["held-out"]
    assert set.union(*sides.values()) == {str(k) for k in range(8)}


def test_the_halves_are_where_they_always_were() -> None:
    """Figures of either half stay comparable from version to version."""
    folders = [FractureFolder(Path(), "", (), "everyday", "Vase", str(k)) for k in range(6)]
    assert [k for k, folder in enumerate(folders) if half_of(folder) == "held-out"] == [1, 4, 5]


def test_a_half_without_objects_is_an_error(root) -> None:
    for f in select(Settings(str(root), half="held-out")).fractures:
        shutil.rmtree(f.path.parent, ignore_errors=True)
    with pytest.raises(InputError, match="held-out"):
        select(Settings(str(root), half="held-out"))


def test_pieces_and_limit(root) -> None:
    assert {len(f.files) for f in select(Settings(str(root), pieces="3")).fractures} == {3}
    assert len(select(Settings(str(root), pieces="2-3", limit=5))) == 5


def test_draws_are_balanced_and_do_not_change(root) -> None:
    found = drawn(root, None, None, 3)
    assert sorted(len(f.files) for f in found) == [2, 2, 2, 3, 3, 3]
    assert [f.name for f in found] == [f.name for f in drawn(root, None, [2, 3], 3)]
    assert {half_of(f) for f in drawn(root, "held-out", None, None)} == {"held-out"}
    assert drawn(root, None, [7], None) == []


def test_the_loader_gives_the_parts_in_their_places(root, make_bricks) -> None:
    objects = select(Settings(str(root)))
    parts = loader(objects)("set/Bar/3/fractured_3")
    for part, brick in zip(parts, make_bricks(3), strict=True):
        np.testing.assert_allclose(part.vertices.min(axis=0), brick.vertices.min(axis=0), atol=1e-6)


@pytest.mark.parametrize("count", [1, 5, 12, 100])
@pytest.mark.parametrize("limit", [None, 1, 4, 7])
def test_a_limit_spreads_over_all(count, limit) -> None:
    chosen = spread(count, limit)
    assert len(set(chosen)) == len(chosen) == min(count, limit or count)
    assert sorted(chosen) == chosen
    assert all(0 <= k < count for k in chosen)
    gaps = np.diff([*chosen, count])
    assert gaps.max() - gaps.min() <= 1
