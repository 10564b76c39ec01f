import os

import numpy as np
import pytest

from cmnet.data.objects import FolderObjects, sample_object
from cmnet.errors import InputError
from cmnet.geometry.pose import Pose
from cmnet.geometry.sampling import allocate, allocate_as_published

from .conftest import box


def same(a, b):
    return np.array_equal(a.contact, b.contact) and all(
        np.array_equal(p.xyz, q.xyz) and np.array_equal(p.normals, q.normals) and p.area == q.area
        for p, q in zip(a.points, b.points, strict=True)
    )


def test_contact_is_the_area_of_the_joint(bars):
    obj = sample_object("bar", bars, 4000)
    assert obj.contact[0, 1] == pytest.approx(1.0, rel=0.1)
    assert obj.contact[1, 2] == pytest.approx(1.0, rel=0.1)
    assert obj.contact[0, 2] == 0
    assert np.array_equal(obj.contact, obj.contact.T)
    assert not obj.contact.diagonal().any()


def test_contact_moves_and_scales_with_the_object(bars):
    T = Pose.random(np.random.default_rng(3), spread=5.0)
    before = sample_object("bar", bars, 2000)
    after = sample_object("bar", [p.moved(T) for p in bars], 2000)
    assert np.allclose(before.contact, after.contact)
    assert before.unit == pytest.approx(after.unit)


def test_the_far_skins_of_a_thin_wall_do_not_touch():
    # Two halves of a sheet, its wall half as thick as the samples lie apart: only the rim between them mates.
    sheet = [box("a", (0, 0, 0), (1, 1, 0.02)), box("b", (1, 0, 0), (2, 1, 0.02))]
    assert 0 < sample_object("sheet", sheet, 2500).contact[0, 1] < 0.03  # the rim has 0.02


def test_a_folder_gives_its_objects_in_order(bar_root, tmp_path):
    objects = FolderObjects(bar_root, pieces=(2, 3), total_points=800, cache=tmp_path / "cache")
    assert len(objects) == 4
    assert [objects[i].name for i in range(4)] == [f"bars/{k}/fractured_0" for k in range(4)]
    assert [len(objects[i].points) for i in range(4)] == [3, 2, 2, 2]
    assert len(FolderObjects(bar_root, total_points=800, cache=tmp_path / "cache")) == 3


def test_the_cache_changes_nothing_and_the_data_folder_stays_clean(bar_root, tmp_path):
    before = sorted(bar_root.rglob("*"))
    objects = FolderObjects(bar_root, total_points=600, cache=tmp_path / "cache")
    fresh = objects[1]
    (file,) = (tmp_path / "cache").rglob("*.npz")
    stamp = file.stat().st_mtime_ns
    assert same(fresh, objects[1])
    assert same(fresh, FolderObjects(bar_root, total_points=600, cache=tmp_path / "cache")[1])
    assert file.stat().st_mtime_ns == stamp
    assert sorted(bar_root.rglob("*")) == before


def test_the_cache_notices_changed_files_and_settings(bar_root, tmp_path):
    cache = tmp_path / "cache"
    objects = FolderObjects(bar_root, total_points=600, cache=cache)
    first = objects[0]
    assert not same(first, objects.get(0, variant=1))
    assert not same(first, FolderObjects(bar_root, total_points=600, seed=1, cache=cache)[0])
    assert not same(first, FolderObjects(bar_root, total_points=700, cache=cache)[0])
    published = FolderObjects(bar_root, total_points=600, cache=cache, share=allocate_as_published)[0]
    areas = np.array([p.area for p in first.points])
    assert [len(p) for p in first.points] == allocate(areas, 600).tolist()
    assert (
        [len(p) for p in published.points]
        == allocate_as_published(areas, 600).tolist()
        != allocate(areas, 600).tolist()
    )
    file = objects.fractures[0].files[0]
    other = objects.fractures[1].files[0]
    file.write_bytes(other.read_bytes())
    os.utime(file, ns=(1, 1))
    assert not same(first, objects[0])


@pytest.mark.parametrize("damage", [b"", b"rubbish", None])
def test_a_damaged_cache_file_is_rebuilt(bar_root, tmp_path, damage):
    objects = FolderObjects(bar_root, total_points=600, cache=tmp_path / "cache")
    fresh = objects[0]
    (file,) = (tmp_path / "cache").rglob("*.npz")
    good = file.read_bytes()
    flipped = bytearray(good)
    flipped[len(good) // 2] ^= 0xFF
    file.write_bytes(bytes(flipped) if damage is None else damage)
    assert same(fresh, objects[0])
    assert file.read_bytes() == good


def test_a_cache_that_cannot_be_written_is_no_error(bar_root, tmp_path, caplog):
    (tmp_path / "file").write_text("in the way")
    objects = FolderObjects(bar_root, total_points=600, cache=tmp_path / "file")
    assert objects[0].points
    assert "cannot keep" in caplog.text


def test_the_default_cache_is_the_users(bar_root, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    FolderObjects(bar_root, total_points=600)[0]
    assert list((tmp_path / "xdg/cmnet/objects").rglob("*.npz"))


def test_a_bad_piece_is_named(bar_root, tmp_path):
    bad = bar_root / "bars/1/fractured_0/piece_a.ply"
    bad.write_text("not a mesh")
    with pytest.raises(InputError, match=r"bars/1/fractured_0/piece_a\.ply"):
        FolderObjects(bar_root, total_points=600, cache=tmp_path / "cache")[0]
