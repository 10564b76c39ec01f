"""The same work on many items, in several processes."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

Item = TypeVar("Item")
Result = TypeVar("Result")

_work: Callable[[Any], Any] | None = None  # of `forked`, inherited by the processes it starts
PR_SET_PDEATHSIG = 1  # Linux: the signal a process gets when the one that started it ends
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def as_they_come(work: Callable[[Item], Result], items: Sequence[Item], workers: int) -> Iterator[Result]:
    """What `work` makes of the items, in the order in which it is finished. One thread a process."""
    if not items:
        return
    with (
        _one_thread_each(),
        _pool(min(workers, len(items)), "spawn") as pool,
    ):
        futures = [pool.submit(work, item) for item in items]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def forked(work: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[tuple[Item, Result]]:
    """The items with what `work` makes of them, as they are finished.

    The processes are forked: they see all that `work` refers to without a copy, and scripts need no guard around
    their main part. Where the system cannot fork, or one worker is asked for, the work is done here. One thread a
    process in either case.
    """
    global _work
    waiting = list(items)
    if min(workers, len(waiting)) < 2 or sys.platform != "linux":
        with threadpool_limits(1, "blas"):
            yield from ((item, work(item)) for item in waiting)
        return
    _work = work
    with threadpool_limits(1, "blas"), _pool(min(workers, len(waiting)), "fork") as pool:
        futures = {pool.submit(_inherited, item): item for item in waiting}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            _work = None
            pool.shutdown(wait=False, cancel_futures=True)


def _pool(workers: int, method: str) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, multiprocessing.get_context(method), initializer=end_with_parent)


def end_with_parent() -> None:
    """Called in a worker: it does not outlive the process that started it, not even if that is killed."""
    threading.Thread(target=_end_after_parent, name="end with parent", daemon=True).start()
    if sys.platform == "linux":  # at once, and even where the worker never lets go of the interpreter
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _end_after_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _inherited(item: Any) -> Any:
    assert _work is not None
    return _work(item)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    # More threads would only fight for the cores, and sums in another order are other bits.
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
