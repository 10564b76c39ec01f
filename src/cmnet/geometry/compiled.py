"""Loops that are compiled where arrays would be too large or too wasteful."""

from __future__ import annotations

import hashlib
import linecache
import logging
import multiprocessing
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, _CacheLocator
from numba.core.dispatcher import Dispatcher

log = logging.getLogger("cmnet")

SEAL = hashlib.sha256().digest_size  # bytes


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compiled by the first call, and kept on disk for the next process if there is a place for it.

    The place is $NUMBA_CACHE_DIR, the `__pycache__` beside this file, or the user's cache folder. What is kept there is
    run, so a folder in which anybody may write is none.
    """
    kernel: Any = njit(error_model="numpy")(function)
    try:
        kernel._cache = _Cache(function)
    except RuntimeError:
        _tell_no_place()
    return kernel


class _Private(_CacheLocator):
    """Guards one of numba's cache folders: it must not be writable by others, nor lie below a literal `~`."""

    def ensure_cache_path(self) -> None:
        folder = Path(self.get_cache_path())
        if folder.parts[0] == "~":  # who has no home would get a folder of this name wherever they are
            raise FileNotFoundError("no home")
        super().ensure_cache_path()
        if os.name == "posix" and (_open_to_all(folder) or _open_to_all(folder.parent, stat.S_ISVTX)):
            raise PermissionError(f"anybody may write in {folder}")


def _open_to_all(folder: Path, unless: int = 0) -> bool:
    """unless : bits of the mode that make it safe all the same, such as that of /tmp to keep others' files alone"""
    mode = folder.stat().st_mode
    return bool(mode & stat.S_IWOTH) and not mode & unless


class _Place(CompileResultCacheImpl):
    """Numba's choice of a folder, among private ones."""

    _locator_classes = [  # noqa: RUF012
        type(place.__name__, (_Private, place), {}) for place in CompileResultCacheImpl._locator_classes
    ]


class _Files(IndexDataCacheFile):
    """Files with a seal: a flipped bit, or code that a killed process left, could crash this one or change results."""

    def _dump(self, what: Any) -> bytes:
        data = super()._dump(what)
        return data + self._seal(data)

    def _load_data(self, name: str) -> Any:
        content = Path(self._data_path(name)).read_bytes()
        if self._seal(content[:-SEAL]) != content[-SEAL:]:
            raise ValueError(f"{name} is damaged or stale")
        return super()._load_data(name)

    def _seal(self, data: bytes) -> bytes:
        return hashlib.sha256(repr(self._source_stamp).encode() + data).digest()


class _Cache(FunctionCache):
    """Numba's, but kernels are made anew when what they call has changed, and damaged files cost nothing but time."""

    _impl_class = _Place

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp(), _made_of(function.__globals__)
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, *what: Any) -> Any:
        try:
            return super().load_overload(*what)
        except Exception:  # whatever the bytes of a damaged file lead to
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, *what: Any) -> None:
        with suppress(OSError):  # no space left: the next process compiles it again
            super().save_overload(*what)


def _made_of(names: dict[str, Any]) -> str:
    """A hash of a module: of its file, of its constants, and of the modules whose kernels it calls."""
    made = [linecache.getlines(names["__file__"], names)]
    for name, value in sorted(names.items()):
        if name.isupper():
            made.append([name, repr(value)])
        elif isinstance(value, Dispatcher) and value.__module__ != names["__name__"]:
            made.append([name, _made_of(value.py_func.__globals__)])
    return hashlib.sha256(repr(made).encode()).hexdigest()


@cache
def _tell_no_place() -> None:
    if multiprocessing.parent_process() is None:
        log.warning(
            "there is no folder to keep compiled loops in that nobody but you may write to, so every run compiles them "
            "anew, which takes ten seconds or more; set NUMBA_CACHE_DIR to such a folder"
        )
