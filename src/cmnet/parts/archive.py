"""Zip files of fragments, unpacked with suspicion."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path, PurePosixPath

from cmnet.errors import InputError
from cmnet.files import _in_use, _locked

MOST_FILES = 5000
MOST_BYTES = 16 * 2**30  # unpacked, of all files together
RATIO = 200  # of unpacked to packed size; meshes pack to a tenth at best, text full of zeros to a fiftieth
SMALL = 2**26  # up to so many bytes no ratio is suspicious
BLOCK = 2**20
PREFIX = "cmnet-zip-"  # of the folders that zips are unpacked to
FRESH = 60  # seconds for which a folder may be there without its lock
LOCAL = 30  # bytes in front of every file of a zip, at least


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """A temporary folder with the files of a zip; nothing is written outside it."""
    _clear_leftovers()
    with tempfile.TemporaryDirectory(prefix=PREFIX) as name, _locked(Path(name)):
        folder = Path(name)
        try:
            with zipfile.ZipFile(path) as archive:
                for entry in _checked(path, archive):
                    _extract(path, archive, entry, folder)
        except InputError:
            raise
        except OSError as error:
            raise InputError(f"{path} cannot be unpacked: {error.strerror or error}; unpack it yourself") from error
        except Exception as error:  # zipfile and the unpackers below it raise whatever they stumble over
            if isinstance(error, RuntimeError) and "password" in str(error):
                raise InputError(f"{path} is protected by a password; unpack it and give the folder") from error
            raise _damaged(path) from error
        yield folder


def _clear_leftovers() -> None:
    """Remove what killed runs of the same user left unpacked."""
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            facts = left.stat(follow_symlinks=False)
            mine = stat.S_ISDIR(facts.st_mode) and facts.st_uid == getattr(os, "getuid", lambda: 0)()
            if mine and time.time() - facts.st_mtime > FRESH and not _in_use(left):
                shutil.rmtree(left, ignore_errors=True)


def _damaged(path: Path) -> InputError:
    return InputError(f"{path} is damaged or not a zip file; pack it again")


def _checked(path: Path, archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """The files to unpack; InputError where their names or sizes are not to be trusted."""
    for entry in archive.infolist():
        name = entry.filename.replace("\\", "/")
        if name.startswith("/") or ".." in PurePosixPath(name).parts or ":" in name.split("/")[0] or "\0" in name:
            raise InputError(f"{path} holds a file {entry.filename!r} that leads out of the folder; it is not trusted")
    _refuse_overlaps(path, archive)
    entries = [e for e in archive.infolist() if not e.is_dir() and not _is_hidden(e.filename)]
    total = sum(entry.file_size for entry in entries)
    if len(entries) > MOST_FILES:
        raise InputError(f"{path} holds {len(entries)} files; at most {MOST_FILES} are unpacked, make a smaller zip")
    if total > MOST_BYTES:
        raise InputError(
            f"{path} would unpack to {total / 2**30:.0f} GB; at most {MOST_BYTES // 2**30} GB are unpacked"
        )
    if total > max(SMALL, RATIO * path.stat().st_size):
        raise InputError(f"{path} would unpack to {total / 2**20:.0f} MB, far more than it holds; it is not trusted")
    free = shutil.disk_usage(tempfile.gettempdir()).free
    if total > free:
        raise InputError(
            f"{path} would unpack to {total / 2**20:.0f} MB, but {tempfile.gettempdir()} has room for "
            f"{free / 2**20:.0f} MB; set TMPDIR to a folder with more, or unpack it yourself"
        )
    return entries


def _refuse_overlaps(path: Path, archive: zipfile.ZipFile) -> None:
    """Entries that share their bytes unpack to any size."""
    spans = sorted((e.header_offset, e.header_offset + LOCAL + e.compress_size) for e in archive.infolist())
    if any(end > start for (_, end), (start, _) in pairwise(spans)):
        raise InputError(f"{path} holds files that overlap; it is not trusted, pack it again")


def _is_hidden(name: str) -> bool:
    """Files that systems add on their own: .DS_Store, __MACOSX/..."""
    return any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(name.replace("\\", "/")).parts)


def _extract(path: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, folder: Path) -> None:
    """Write one file, and no more of it than it is declared to hold."""
    target = folder / entry.filename.replace("\\", "/")
    target.parent.mkdir(parents=True, exist_ok=True)
    left = entry.file_size
    with archive.open(entry) as source, target.open("wb") as sink:
        while block := source.read(BLOCK):
            left -= len(block)
            if left < 0:
                raise _damaged(path)
            sink.write(block)
