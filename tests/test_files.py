import contextlib
import errno
import os
from pathlib import Path

import pytest

from cmnet.errors import InputError
from cmnet.files import NEW, OLD, replacing_folder


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def write(out: Path, text: str, force: bool = False) -> None:
    with replacing_folder(out, force) as folder:
        (folder / "assembly.json").write_text(text)


def test_a_folder_appears_whole_with_ordinary_permissions(tmp_path):
    with replacing_folder(tmp_path / "a/b/out") as folder:
        assert not (tmp_path / "a/b/out").exists()
        (folder / "x").write_text("x")
    assert names(tmp_path / "a/b") == ["out"]
    umask = os.umask(0)
    os.umask(umask)
    assert (tmp_path / "a/b/out").stat().st_mode & 0o777 == 0o777 & ~umask


def test_failure_leaves_nothing_and_what_was_there(tmp_path):
    write(tmp_path / "out", "old")
    stopped = contextlib.suppress(KeyboardInterrupt)
    with stopped, replacing_folder(tmp_path / "out", force=True) as folder:
        (folder / "assembly.json").write_text("new")
        raise KeyboardInterrupt
    assert names(tmp_path) == ["out"]
    assert (tmp_path / "out/assembly.json").read_text() == "old"


def test_what_is_there_is_replaced_only_by_force_and_only_if_ours(tmp_path):
    write(tmp_path / "out", "old")
    with pytest.raises(InputError, match="--force"):
        write(tmp_path / "out", "new")
    write(tmp_path / "out", "new", force=True)
    assert (tmp_path / "out/assembly.json").read_text() == "new"
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos/holiday.jpg").write_text("precious")
    with pytest.raises(InputError, match="not replaced"):
        write(tmp_path / "photos", "new", force=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"):
        write(tmp_path / "file", "new", force=True)
    (tmp_path / "empty").mkdir()
    write(tmp_path / "empty", "new")
    assert names(tmp_path) == ["empty", "file", "out", "photos"]


def test_a_rival_that_finished_first_is_not_overwritten(tmp_path):
    with pytest.raises(InputError, match="there already"), replacing_folder(tmp_path / "out"):
        write(tmp_path / "out", "first")
    assert (tmp_path / "out/assembly.json").read_text() == "first"
    assert names(tmp_path) == ["out"]


def test_leftovers_of_killed_runs_go_but_not_those_at_work(tmp_path):
    (tmp_path / f".out.dead{NEW}/placed").mkdir(parents=True)
    (tmp_path / f".other.dead{NEW}").mkdir()
    with replacing_folder(tmp_path / "out") as at_work:
        with pytest.raises(RuntimeError), replacing_folder(tmp_path / "out"):
            raise RuntimeError
        assert at_work.is_dir()
    assert names(tmp_path) == [f".other.dead{NEW}", "out"]


def test_a_result_that_a_killed_run_was_about_to_replace_comes_back(tmp_path):
    old = tmp_path / f".out.dead{OLD}"
    old.mkdir()
    (old / "assembly.json").write_text("old")
    with pytest.raises(InputError, match="--force"):
        write(tmp_path / "out", "new")
    assert (tmp_path / "out/assembly.json").read_text() == "old"
    assert names(tmp_path) == ["out"]


def test_a_full_disk_is_one_sentence(tmp_path):
    with pytest.raises(InputError, match="No space left") as caught, replacing_folder(tmp_path / "out"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert str(tmp_path / "out") in str(caught.value)
    assert names(tmp_path) == []


def test_a_place_where_nothing_can_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        write(tmp_path / "file/out", "new")
    with pytest.raises(InputError, match="cannot write"):
        write(tmp_path / ("x" * 300), "new")
