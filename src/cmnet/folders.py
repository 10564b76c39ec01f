"""Writing whole folders: an interruption leaves the old contents or the new, and nobody else's files are touched.

A folder that is not there yet is written under a hidden name beside its place and renamed. One that is there stays, for
it may be a mount point, the folder somebody works in, or hold files of theirs: the new files are written into a hidden
folder inside it, and when all are there they change places with the old ones. Meanwhile the marker is missing, so that
nobody takes the folder for complete; what is stopped half-way is taken back by the next run.
"""

from __future__ import annotations

import glob
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePath

from cmnet.errors import InputError
from cmnet.files import _in_use, _locked, _umask, cannot_write, sync, write_text
from cmnet.reading import expanded

NEW = ".cmnet-new"  # ending of folders that are being written
MOVING = ".moving"  # in such a folder: the names of its files, from when the first one goes to its place
OLD = ".old"  # beside that: the files whose places they take


@dataclass(frozen=True)
class Contents:
    """What a folder of ours holds.

    marker : the file that is written last; without it a folder is not ours, or not complete
    names  : from the text of the marker to all other files, relative to the folder
    """

    marker: str
    names: Callable[[str], Iterable[str]]

    def of(self, folder: Path) -> list[str]:
        """The files of ours that a folder holds, the marker first; none where that is missing."""
        path = folder / self.marker
        if not path.is_file():
            return []
        try:
            names = list(self.names(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError, LookupError, RecursionError) as error:
            what = "is damaged, so nobody knows which files there may be replaced"
            raise InputError(f"{path} {what}; choose another folder") from error
        return [self.marker, *(name for name in dict.fromkeys(names) if os.path.lexists(folder / name))]


@contextmanager
def replacing_folder(path: Path, contents: Contents, force: bool = False) -> Iterator[Path]:
    """Yield a new hidden folder; what is written there becomes the contents of `path`, all of it or nothing.

    A folder that holds something already is refused. With `force` the files of ours in it are replaced, if it holds the
    marker of `contents`; everything else stays as it is. Where the finished folder cannot be put in place, it is kept
    and the error says where. What killed runs left behind is put right first.
    """
    path = Path(os.path.realpath(expanded(path)))  # as Path.resolve, which fails where links go in circles
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(_nearest(path), wait=True):
            _put_right(path, contents.marker)
            _refuse_if_there(path, contents, force)
        folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=NEW, dir=_nearest(path)))
    except OSError as error:
        raise cannot_write(path, error) from error
    with _locked(folder):
        try:
            yield folder
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
                raise cannot_write(path, error) from error
            raise
        _put_in_place(folder, path, contents, force)


def require_space(folder: Path, wanted: int) -> None:
    """Refuse a folder on a disk with less than so many bytes left."""
    free = shutil.disk_usage(folder).free
    if free < wanted:
        what = f"{free / 1e6:.0f} MB are free, and the result takes about {wanted / 1e6:.0f} MB"
        raise InputError(f"too little space for the result: {what}; make room or choose another disk")


def _nearest(path: Path) -> Path:
    """The folder itself, or where it will be made."""
    return path if path.is_dir() else path.parent


def _refuse_if_there(path: Path, contents: Contents, force: bool) -> None:
    if path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file; choose the name of a new folder")
    if not path.is_dir() or all(entry.name.startswith(".") for entry in path.iterdir()):
        return
    if not contents.of(path):
        raise InputError(
            f"{path} is there already, without {contents.marker}, so it is not replaced; choose another folder"
        )
    if not force:
        raise InputError(f"{path} is there already; choose another folder or add --force to replace it")


def _put_in_place(folder: Path, path: Path, contents: Contents, force: bool) -> None:
    """Make a finished folder, or the files in it, `path`; where that fails, the finished folder is kept."""
    try:
        folder.chmod(0o777 & ~_umask())
        for name in _files(folder):
            sync(folder / name)
        with _locked(_nearest(path), wait=True):
            _refuse_if_there(path, contents, force)  # another run may have finished meanwhile
            if path.is_dir():
                _move_in(folder, path, contents)
            else:
                folder.rename(path)
    except (OSError, InputError) as error:
        why = error if isinstance(error, InputError) else cannot_write(path, error)
        raise InputError(f"{why}. The finished result is in {_kept(folder, path, contents.marker)}") from error
    except BaseException:
        _take_back(folder, path, contents.marker)
        shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)


def _move_in(folder: Path, path: Path, contents: Contents) -> None:
    """Let the files of a finished folder and those of ours in `path` change places, and touch nothing else there."""
    old, new = contents.of(path), _files(folder, last=contents.marker)
    foreign = sorted({name for name in new if os.path.lexists(path / name)} - set(old))
    if foreign:
        raise InputError(f"{path / foreign[0]} was not written by cmnet, so it is not replaced; move it away")
    write_text(folder / MOVING, json.dumps(new))
    for name in old:
        _move(name, path, folder / OLD)
    for name in new:
        _move(name, folder, path)


def _take_back(folder: Path, path: Path, marker: str) -> None:
    """Undo what `_move_in` has begun, if it did not come to its end."""
    moving = folder / MOVING
    if moving.exists() and not (path / marker).exists():
        for name in json.loads(moving.read_text(encoding="utf-8")):
            if os.path.lexists(path / name) and not os.path.lexists(folder / name):
                _move(name, path, folder)
        for name in _files(folder / OLD, last=marker):
            _move(name, folder / OLD, path)
    moving.unlink(missing_ok=True)
    shutil.rmtree(folder / OLD, ignore_errors=True)


def _kept(folder: Path, path: Path, marker: str) -> Path:
    """Where a finished folder stays that cannot be put in place: under a name that can be seen, if possible."""
    with suppress(OSError):
        _take_back(folder, path, marker)
        return folder.rename(folder.with_name(folder.name[1 : -len(NEW)]))
    return folder


def _put_right(path: Path, marker: str) -> None:
    """Take back and clear away what killed runs left beside `path` and in it."""
    for place in (path.parent, path):
        for folder in place.glob(f".{glob.escape(path.name)}.????????{NEW}"):  # as mkdtemp names them
            if not _in_use(folder):
                _take_back(folder, path, marker)
                shutil.rmtree(folder, ignore_errors=True)


def _files(folder: Path, last: str = "") -> list[str]:
    """All files in a folder and below, relative to it, one of them `last`."""
    names = (file.relative_to(folder).as_posix() for file in folder.rglob("*") if not file.is_dir())
    return sorted(names, key=lambda name: (name == last, name))


def _move(name: str, source: Path, target: Path) -> None:
    """Move one file into another folder, and the folders on its way if nothing else is in them."""
    (target / name).parent.mkdir(parents=True, exist_ok=True)
    (source / name).replace(target / name)
    with suppress(OSError):
        for folder in PurePath(name).parents[:-1]:
            (source / folder).rmdir()
