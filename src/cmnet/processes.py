"""The same work on many items: here, in several processes, or wherever an executor takes it."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ProcessPoolExecutor, as_completed, wait
from contextlib import contextmanager, nullcontext, suppress
from itertools import islice
from types import ModuleType
from typing import Any, Protocol, TypeVar

from numba.core.compiler_lock import global_compiler_lock
from threadpoolctl import threadpool_limits

from cmnet.errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")
Work = Callable[[Item], Result]

START = "fork" if sys.platform == "linux" else "spawn"  # how processes are started; fork is unsafe or missing elsewhere
WORTH = {"fork": 2, "spawn": 16}  # items at least that are worth processes: spawned ones import everything first
MOST = 61  # processes: no pool on Windows has more
BLOCK = 4  # items sent at once, at most: one takes about a second
SHARES = 4  # blocks for each worker, at least, if there are items enough: none waits long for the last to be done
AHEAD = 2  # blocks that a worker has at a time: one at work and one that waits; more would only fill memories
MANY = 16  # workers that an executor is supposed to have, if it does not say

_work: Callable[[Any], Any] | None = None  # in a worker: what is made of the items; never set in its parent
PR_SET_PDEATHSIG = 1  # Linux: the signal a process gets when the one that started it ends
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Executor(Protocol):
    """Runs functions somewhere, as those of `concurrent.futures` do."""

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Future[Any]: ...


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def each(
    work: Work[Item, Result],
    items: Iterable[Item],
    workers: int,
    executor: Executor | None = None,
    start: str | None = None,
) -> Iterator[tuple[Item, Result]]:
    """The items with what `work` makes of them, as they are finished.

    Linear algebra has one thread meanwhile: more would only fight for the cores, and sums in another order are other
    bits. In the processes of an executor it stays so.

    work     : what is pickled to run elsewhere. If it has a method `only(items)`, this gives the same work with no
               more data than these items need. Closures and what a script defines cannot be pickled: closures run on
               this machine alone, and in this process where processes are not forked
    workers  : processes; the work is done here if one is asked for, if there are few items, and in processes that
               may have no children
    executor : takes the work instead, in blocks of a few items
    start    : how processes are started, and that there is one at least. "fork": they see all that `work` refers to
               without a copy; "spawn": they import what they need. None: as suits the system
    """
    waiting, local = list(items), _is_closure(work)
    with threadpool_limits(1, "blas"):
        if executor is not None and len(waiting) > 1 and not local:
            yield from _sent(work, waiting, executor)
        elif _is_done_here(waiting, workers, start) or (local and (start or START) == "spawn"):
            yield from ((item, work(item)) for item in waiting)
        else:
            yield from _spread(work, waiting, workers, start or START)


def _is_done_here(waiting: Sequence[Any], workers: int, start: str | None) -> bool:
    few = workers < 2 or len(waiting) < WORTH[START] if start is None else not waiting
    return few or multiprocessing.current_process().daemon  # such as a worker of multiprocessing.Pool or of Celery


def _is_closure(work: Callable[..., Any]) -> bool:
    return "<" in getattr(work, "__qualname__", "")  # <lambda>, <locals>


def _sent(work: Work[Item, Result], items: Sequence[Item], executor: Executor) -> Iterator[tuple[Item, Result]]:
    """The work of an executor, which is handed blocks of items with the data that they need, a few at a time."""
    workers: int = getattr(executor, "workers", None) or getattr(executor, "_max_workers", None) or MANY
    size = min(max(len(items) // (SHARES * workers), 1), BLOCK)
    blocks = (items[k : k + size] for k in range(0, len(items), size))
    only: Callable[[Sequence[Item]], Work[Item, Result]] = getattr(work, "only", lambda block: work)
    sent: dict[Future[list[Result]], Sequence[Item]] = {}
    try:
        while True:
            for block in islice(blocks, AHEAD * workers - len(sent)):
                sent[executor.submit(_do_block, only(block), block)] = block
            if not sent:
                return
            for future in wait(sent, return_when=FIRST_COMPLETED).done:
                yield from zip(sent.pop(future), future.result(), strict=True)
    except CancelledError as error:
        raise InputError("the executor gave up the work; see whether its workers still run, and start again") from error
    finally:
        for future in sent:
            future.cancel()


def _do_block(work: Work[Item, Result], items: Sequence[Item]) -> list[Result]:
    threadpool_limits(1, "blas")  # for good: given back here, it would be taken from the other threads of this process
    return [work(item) for item in items]


def _spread(work: Work[Item, Result], items: Sequence[Item], workers: int, start: str) -> Iterator[tuple[Item, Result]]:
    context = multiprocessing.get_context(start)
    pool = ProcessPoolExecutor(min(workers, len(items), MOST), context, initializer=_begin, initargs=(work,))
    try:
        # The lock: what is forked while another thread compiles would wait for that thread, which it has not, for ever
        with global_compiler_lock, _deaf(), _bare() if start == "spawn" else nullcontext():
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
    threadpool_limits(1, "blas")
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
def _bare() -> Iterator[None]:
    """Processes that are spawned meanwhile have one thread each, and leave the user's script alone.

    So the script needs no guard around its main part.
    """
    before, script = {name: os.environ.get(name) for name in THREADS}, sys.modules["__main__"]
    os.environ.update(dict.fromkeys(THREADS, "1"))
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
