"""The same work on many items, in several processes."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def as_they_come(work: Callable[[Item], Result], items: Sequence[Item], workers: int) -> Iterator[Result]:
    """What `work` makes of the items, in the order in which it is finished. One thread a process."""
    if not items:
        return
    with (
        _one_thread_each(),
        ProcessPoolExecutor(min(workers, len(items)), multiprocessing.get_context("spawn")) as pool,
    ):
        futures = [pool.submit(work, item) for item in items]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


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
