"""Prepared arrays on disk, under a key that notices a changed file or setting."""

import hashlib
import logging
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cmnet.errors import InputError
from cmnet.files import replacing

log = logging.getLogger("cmnet")


def default_cache() -> Path:
    """The user's cache folder: $XDG_CACHE_HOME/cmnet, or ~/.cache/cmnet."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "cmnet"


def key_of(files: Sequence[Path], root: Path, *settings: str | int) -> str:
    """A hash of every file's relative name, size and time of change, and of the settings."""
    digest = hashlib.sha256(repr(settings).encode())
    for file in files:
        try:
            status = file.stat()
        except OSError as error:
            raise InputError(f"cannot read {file}: {error.strerror}; was it moved or deleted meanwhile?") from error
        digest.update(f"\n{file.relative_to(root).as_posix()} {status.st_size} {status.st_mtime_ns}".encode())
    return digest.hexdigest()[:40]


def read_arrays(file: Path) -> dict[str, NDArray] | None:
    """The arrays of a cache file, or None where there is none or it is damaged."""
    try:
        with np.load(file, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile):
        log.info("rebuilding the damaged cache file %s", file)
        return None


def write_arrays(file: Path, arrays: dict[str, NDArray]) -> None:
    """Keep arrays for later. A cache that cannot be written is a pity, not an error."""
    try:
        with replacing(file) as temporary:
            np.savez(temporary, allow_pickle=False, **arrays)
    except (OSError, InputError) as error:
        log.warning("cannot keep prepared samples in %s: %s", file.parent, error)
