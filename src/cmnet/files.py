"""Writing files and folders so that an interruption leaves either the old one or the new one, never half of one."""

import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from cmnet.errors import InputError
from cmnet.reading import expanded

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

NEW, OLD = ".cmnet-new", ".cmnet-old"  # endings of folders on their way in and out


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
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path` atomically, as UTF-8."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextmanager
def replacing_folder(path: Path, force: bool = False, marker: str = "assembly.json") -> Iterator[Path]:
    """Yield a new hidden folder beside `path`; on success it becomes `path` by renaming, on failure it is removed.

    A folder that is there already is refused. With `force` it is replaced, but only if it holds `marker`, the sign that
    it was written by us, and not before the new one is complete. What a killed run left behind is cleared away first.
    """
    path = Path(os.path.realpath(expanded(path)))  # as Path.resolve, which fails where links go in circles
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _clear_leftovers(path)
        _refuse_if_there(path, force, marker)
        folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=NEW, dir=path.parent))
    except OSError as error:
        raise cannot_write(path, error) from error
    with _locked(folder):
        try:
            yield folder
            folder.chmod(0o777 & ~_umask())
            _refuse_if_there(path, force, marker)  # another run may have finished meanwhile
            _swap(folder, path)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise cannot_write(path, error) from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def cannot_write(path: Path, error: OSError) -> InputError:
    """One sentence for a full disk, a folder without permission and the like."""
    what = error.strerror or str(error)
    return InputError(f"cannot write {path}: {what}; choose a folder with enough space that you may write to")


def _refuse_if_there(path: Path, force: bool, marker: str) -> None:
    if path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file; choose the name of a new folder")
    if not path.is_dir() or not any(path.iterdir()):
        return
    if not (path / marker).is_file():
        raise InputError(f"{path} is there already, without {marker}, so it is not replaced; choose another folder")
    if not force:
        raise InputError(f"{path} is there already; choose another folder or add --force to replace it")


def _swap(folder: Path, path: Path) -> None:
    """Put a finished folder in place; what was there goes only afterwards."""
    if not path.exists() or not any(path.iterdir()):
        folder.rename(path)
        return
    with _locked(path):
        old = folder.with_suffix(OLD)
        path.rename(old)
        try:
            folder.rename(path)
        except OSError:
            old.rename(path)
            raise
        shutil.rmtree(old, ignore_errors=True)


def _clear_leftovers(path: Path) -> None:
    """Remove what killed runs left beside `path`; a result that one of them was about to replace is put back."""
    for old in path.parent.glob(f".{glob.escape(path.name)}.*{OLD}"):
        if not _in_use(old) and not path.exists():
            old.rename(path)
    for suffix in (NEW, OLD):
        for left in path.parent.glob(f".{glob.escape(path.name)}.*{suffix}"):
            if not _in_use(left):
                shutil.rmtree(left, ignore_errors=True)


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Hold a lock on a folder that ends with this process, however it ends. False where it cannot be had."""
    if fcntl is None:
        yield False
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
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
