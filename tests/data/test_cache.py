import os

import numpy as np
import pytest

from cmnet.data.cache import default_cache, key_of, read_arrays, write_arrays
from cmnet.errors import InputError


def test_arrays_come_back(tmp_path):
    arrays = {"a": np.arange(6).reshape(2, 3), "b": np.array([0.1])}
    write_arrays(tmp_path / "deep/x.npz", arrays)
    back = read_arrays(tmp_path / "deep/x.npz")
    assert back.keys() == arrays.keys()
    assert all(np.array_equal(back[k], arrays[k]) for k in arrays)
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["x.npz"]


def test_nothing_there_is_none_and_pickles_are_never_read(tmp_path):
    assert read_arrays(tmp_path / "x.npz") is None
    np.savez(tmp_path / "x.npz", a=np.array([{"an": "object"}], dtype=object))
    assert read_arrays(tmp_path / "x.npz") is None


def test_the_key_does_not_depend_on_where_the_data_lie(tmp_path):
    keys = []
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f").write_text("same")
        stamp = (tmp_path / "here/f").stat().st_mtime_ns
        os.utime(tmp_path / name / "f", ns=(stamp, stamp))
        keys.append(key_of([tmp_path / name / "f"], tmp_path / name, "v1", 3))
    assert keys[0] == keys[1] != key_of([tmp_path / "here/f"], tmp_path / "here", "v1", 4)
    with pytest.raises(InputError, match="gone"):
        key_of([tmp_path / "gone"], tmp_path, "v1")


def test_without_a_setting_the_cache_lies_in_the_home_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_cache() == tmp_path / ".cache/cmnet"
