"""Writing files so that an interruption leaves either the old one or the new one, never half of one."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from cmnet.errors import InputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; on success it is renamed over `path`, on failure removed."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.stem}.", suffix=path.suffix, dir=path.parent)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}; choose a folder you may write to") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())  # mkstemp makes private files; results are ordinary ones
        sync(temporary)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path` atomically, as UTF-8."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def sync(file: Path) -> None:
    """Wait until the file is on the disk, so that a loss of power cannot empty it once it has replaced another."""
    handle = os.open(file, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def cannot_write(path: Path, error: OSError) -> InputError:
    """One sentence for a full disk, a folder without permission and the like."""
    what = error.strerror or str(error)
    return InputError(f"cannot write {path}: {what}; choose a folder with enough space that you may write to")


@contextmanager
def _locked(folder: Path, wait: bool = False) -> Iterator[bool]:
    """Hold a lock on a folder that ends with this process, however it ends. False where it cannot be had."""
    if fcntl is None:
        yield False
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        yield False
        return
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError:  # held by another process, or a file system without locks
            yield False
        else:
            yield True
    finally:
        os.close(handle)


def _in_use(folder: Path) -> bool:
    """Whether another process works in a folder, or that cannot be told."""
    with _locked(folder) as free:
        return not free


@cache
def _umask() -> int:
    """Which permissions new files lack. To read it is to change it for a moment, for all threads: once, at import."""
    umask = os.umask(0)
    os.umask(umask)
    return umask


_umask()
