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

from numba.core.compiler_lock import global_compiler_lock
from threadpoolctl import threadpool_limits

Item = TypeVar("Item")
Result = TypeVar("Result")

_work: Callable[[Any], Any] | None = None  # in a worker: what is made of the items; never set in its parent
PR_SET_PDEATHSIG = 1  # Linux: the signal a process gets when the one that started it ends
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def as_they_come(work: Callable[[Item], Result], items: Sequence[Item], workers: int) -> Iterator[Result]:
    """What `work` makes of the items, in the order in which it is finished. One thread a process."""
    with _one_thread_each():
        alone = not items or _childless()
        answers = forked(work, items, 1) if alone else _spread(work, items, workers, "spawn")
        yield from (answer for _, answer in answers)


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def forked(work: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[tuple[Item, Result]]:
    """The items with what `work` makes of them, as they are finished.

    The processes are forked: they see all that `work` refers to without a copy, and scripts need no guard around
    their main part. Where the system cannot fork, in processes that may have no children, or if one worker is asked
    for, the work is done here. One thread a process in either case.
    """
    waiting = list(items)
    with threadpool_limits(1, "blas"):
        if min(workers, len(waiting)) < 2 or sys.platform != "linux" or _childless():
            yield from ((item, work(item)) for item in waiting)
        else:
            yield from _spread(work, waiting, workers, "fork")


def _childless() -> bool:
    """Whether this process may start no others: a daemon, such as a worker of multiprocessing.Pool or of Celery."""
    return multiprocessing.current_process().daemon


def _spread(
    work: Callable[[Item], Result], items: Sequence[Item], workers: int, method: str
) -> Iterator[tuple[Item, Result]]:
    """method : how processes are started. fork does not pickle `work`, spawn does"""
    context = multiprocessing.get_context(method)
    pool = ProcessPoolExecutor(min(workers, len(items)), context, initializer=_begin, initargs=(work,))
    try:
        # The lock: what is forked while another thread compiles would wait for that thread, which it has not, for ever
        with global_compiler_lock, _deaf():
            futures = {pool.submit(_do, item): item for item in items}
        for future in as_completed(futures):
            yield futures[future], future.result()
    except BaseException:  # nobody waits for the rest, and idle workers would wait for ever
        for worker in list(pool._processes.values()):
            worker.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _deaf() -> Iterator[None]:
    """Processes that are started meanwhile do not hear Ctrl-C, which is for their parent; not even as they begin."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(work: Callable[[Any], Any]) -> None:
    """Called first in a worker, which ends as its parent wants it, and is handed the work of this pool alone."""
    global _work
    _work = work
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _end_with_parent()


def _do(item: Any) -> Any:
    assert _work is not None
    return _work(item)


def _end_with_parent() -> None:
    """A worker does not outlive the process that started it, not even if that is killed."""
    threading.Thread(target=_end_after_parent, name="end with parent", daemon=True).start()
    if sys.platform == "linux":  # at once, and even where the worker never lets go of the interpreter
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _end_after_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


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
