import contextlib
import errno
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cmnet.errors import InputError
from cmnet.folders import NEW, Contents, replacing_folder, require_space

RESULT = Contents("assembly.json", lambda text: json.loads(text)["files"])
FOREIGN = {"notes.txt": "mine", ".git/HEAD": "mine", "placed/own.ply": "mine"}


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def contents(folder: Path) -> dict[str, str]:
    """All that can be seen in a folder, and .git."""
    files = (file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
    return {f.as_posix(): (folder / f).read_text() for f in files if f.parts[0] == ".git" or f.parts[0][0] != "."}


def result(mark: str) -> dict[str, str]:
    """The files of a result: some are of every one, some are not."""
    files = {"report.html": mark, "placed/base.ply": mark, f"placed/{mark}.ply": mark}
    return {**files, "assembly.json": json.dumps({"files": list(files)})}


def fill(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def write(out: Path, mark: str, force: bool = False, at_last: Callable[[], None] = lambda: None) -> None:
    with replacing_folder(out, RESULT, force) as folder:
        fill(folder, result(mark))
        at_last()


def test_a_folder_appears_whole_with_ordinary_permissions(tmp_path):
    with replacing_folder(tmp_path / "a/b/out", RESULT) as folder:
        assert not (tmp_path / "a/b/out").exists()
        (folder / "x").write_text("x")
    assert names(tmp_path / "a/b") == ["out"]
    umask = os.umask(0)
    os.umask(umask)
    assert (tmp_path / "a/b/out").stat().st_mode & 0o777 == 0o777 & ~umask


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("there", [False, True])
def test_failure_leaves_nothing_and_what_was_there(tmp_path, there):
    if there:
        write(tmp_path / "out", "old")
    before = contents(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "out", "new", force=True, at_last=interrupt)
    assert contents(tmp_path) == before
    assert names(tmp_path) == ["out"] * there


def test_what_is_there_is_replaced_only_by_force_and_only_if_ours(tmp_path):
    write(tmp_path / "out", "old")
    with pytest.raises(InputError, match="--force"):
        write(tmp_path / "out", "new")
    write(tmp_path / "out", "new", force=True)
    assert contents(tmp_path / "out") == result("new")
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos/holiday.jpg").write_text("precious")
    with pytest.raises(InputError, match="not replaced"):
        write(tmp_path / "photos", "new", force=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"):
        write(tmp_path / "file", "new", force=True)
    (tmp_path / "empty/.git").mkdir(parents=True)
    write(tmp_path / "empty", "new")
    assert names(tmp_path) == ["empty", "file", "out", "photos"]


def test_force_replaces_our_files_and_keeps_all_others(tmp_path):
    write(tmp_path, "old")
    fill(tmp_path, FOREIGN)
    write(tmp_path, "new", force=True)
    assert contents(tmp_path) == {**result("new"), **FOREIGN}  # placed/old.ply is gone
    assert names(tmp_path) == [".git", "assembly.json", "notes.txt", "placed", "report.html"]


def test_a_file_of_somebody_else_in_our_way_stays_and_so_does_the_result(tmp_path):
    out = tmp_path / "out"
    write(out, "old")
    fill(out, {"placed/new.ply": "mine"})
    before = contents(out)
    with pytest.raises(InputError, match=r"placed/new\.ply was not written by cmnet") as caught:
        write(out, "new", force=True)
    kept = Path(str(caught.value).rpartition(" is in ")[2])
    assert contents(kept) == result("new")
    shutil.rmtree(kept)
    assert contents(out) == before


@pytest.mark.parametrize("text", ["", "[1", '{"files": 3}', '{"part": []}', "[" * 100_000])
def test_where_the_list_of_our_files_is_damaged_nothing_is_replaced(tmp_path, text):
    fill(tmp_path, {"assembly.json": text, "report.html": "old"})
    with pytest.raises(InputError, match=r"assembly\.json is damaged"):
        write(tmp_path, "new", force=True)
    assert contents(tmp_path) == {"assembly.json": text, "report.html": "old"}


@pytest.mark.parametrize("old", [{}, result("old")])
def test_a_folder_that_is_there_stays_the_same_one(tmp_path, monkeypatch, old):
    """So it may be a mount point, its parent may be closed to us, and the shell may stand in it."""
    fill(tmp_path, old)
    number = tmp_path.stat().st_ino
    monkeypatch.chdir(tmp_path)
    write(Path(), "new", force=True)
    assert sorted(os.listdir()) == ["assembly.json", "placed", "report.html"]
    assert tmp_path.stat().st_ino == number


def test_a_rival_that_finished_first_is_not_overwritten(tmp_path):
    out = tmp_path / "out"
    with pytest.raises(InputError, match=r"there already.* The finished result is in ") as caught:
        write(out, "second", at_last=lambda: write(out, "first"))
    assert contents(out) == result("first")
    assert contents(Path(str(caught.value).rpartition(" is in ")[2])) == result("second")
    assert len(names(tmp_path)) == 2


def test_two_that_replace_the_same_are_both_whole(tmp_path):
    out = tmp_path / "out"
    write(out, "old")
    write(out, "second", force=True, at_last=lambda: write(out, "first", force=True))
    assert contents(out) == result("second")


@pytest.mark.parametrize("inside", [False, True])
def test_leftovers_of_killed_runs_go_but_not_those_at_work(tmp_path, inside):
    out = tmp_path / "out"
    place = out if inside else tmp_path
    (place / f".out.dead1234{NEW}/placed").mkdir(parents=True)
    (place / f".out.b.dead1234{NEW}").mkdir()
    with replacing_folder(out, RESULT) as at_work:
        with pytest.raises(RuntimeError), replacing_folder(out, RESULT):
            raise RuntimeError
        assert at_work.is_dir()
        fill(at_work, result("new"))
    assert [name for name in names(place) if NEW in name] == [f".out.b.dead1234{NEW}"]
    assert contents(out) == result("new")


def test_a_place_where_nothing_can_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        write(tmp_path / "file/out", "new")
    with pytest.raises(InputError, match="cannot write"):
        write(tmp_path / ("x" * 300), "new")


def test_too_little_space(tmp_path):
    free = shutil.disk_usage(tmp_path).free
    require_space(tmp_path, free // 2)
    with pytest.raises(InputError, match="MB are free, and the result takes about"):
        require_space(tmp_path, free * 2)


# What goes wrong on the way: every single operation on the disk fails.

OPERATIONS = [(os, name) for name in ("mkdir", "open", "chmod", "rename", "replace", "unlink", "rmdir", "fsync")]
OPERATIONS += [(io, "open")]


@contextlib.contextmanager
def trouble(at: int, for_good: bool):
    """The operation `at` fails, as on a full disk; with `for_good` all after it, too. Yields a list of what failed."""
    count, failed, io_open = 0, [], io.open

    def doubted(operation):
        def instead(*words, **options):
            nonlocal count
            count += 1
            if count < at or (count > at and not for_good):
                return operation(*words, **options)
            failed.append(operation)
            if operation is io_open and words[1:2] == ("w",):
                return operation("/dev/full", *words[1:], **options)  # fails when it is written to
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        return instead

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)  # takes long
        for module, name in OPERATIONS:
            patch.setattr(module, name, doubted(getattr(module, name)))
        yield failed


def attempt(out: Path, at: int, for_good: bool) -> tuple[bool, str]:
    """Replace what is there while the operation `at` fails: whether it got so far, and what was said."""
    with trouble(at, for_good) as failed:
        try:
            write(out, "new", force=True)
        except InputError as error:
            return True, str(error)
    return bool(failed), ""


def look_again(out: Path) -> None:
    """The next run puts things right before anything else."""
    with contextlib.suppress(InputError), replacing_folder(out, RESULT):
        raise InputError("only looking")


@pytest.mark.parametrize("for_good", [False, True])
@pytest.mark.parametrize("before", ["nothing", "empty", "result"])
def test_whatever_operation_fails_there_is_the_old_result_or_the_new_one(tmp_path, before, for_good):
    """Failing for good leaves what a killed process leaves: nothing more is done on the disk."""
    old = {**result("old"), **FOREIGN} if before == "result" else {}
    new = {**result("new"), **FOREIGN} if before == "result" else result("new")
    seen, endings = {}, []
    for at in range(1, 1000):
        out = tmp_path / str(at) / "out"
        out.parent.mkdir()
        if before != "nothing":
            out.mkdir()
        fill(out, old)
        failed, said = attempt(out, at, for_good)
        assert "\n" not in said
        if " is in " in said and not for_good:
            kept = Path(said.rpartition(" is in ")[2])
            assert contents(kept) == result("new")
            shutil.rmtree(kept)
        seen = contents(out)
        if for_good:
            complete = "assembly.json" in seen
            if not complete:
                attempt(out, 1 + at % 11, for_good)  # the next one ends in the same way
            look_again(out)
            assert contents(out) == seen or not complete
            seen = contents(out)
        assert seen in (old, new), (at, said)
        endings.append((seen == new, " is in " in said))
        if not failed:
            break
    assert endings[-1] == (True, False)
    assert {(False, False), (False, True)} < set(endings)


MOUNTED = """
import subprocess, sys
from pathlib import Path
sys.path[:0] = {path!r}
from test_folders import contents, fill, result, write, FOREIGN
from cmnet.errors import InputError
out = Path({out!r})
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", out], check=True)
write(out, "old")
fill(out, FOREIGN)
write(out, "new", force=True)
assert contents(out) == {{**result("new"), **FOREIGN}}
try:
    write(out, "x" * 400_000, force=True)
except InputError as error:
    assert "No space left" in str(error) and str(out) in str(error), error
else:
    raise AssertionError("there was room")
assert contents(out) == {{**result("new"), **FOREIGN}}
"""


def test_a_mount_point_and_a_full_disk(tmp_path):
    mount = ["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", tmp_path]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs to be allowed to mount")
    code = MOUNTED.format(path=[str(Path(__file__).parent), *sys.path], out=str(tmp_path))
    done = subprocess.run(
        ["unshare", "-m", sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert not names(tmp_path)
