import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np  # noqa: F401 (its linear algebra has threads)
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from cmnet.processes import as_they_come, cores, forked

PARENT = """
import os, sys, time
import cmnet.processes as processes

def work(item):
    os.write(1, f"{os.getpid()}\\n".encode())
    time.sleep(300)

if __name__ == "__main__":
    if sys.argv[2] == "portable":
        processes.ctypes = None  # without help of the system
    list(getattr(processes, sys.argv[1])(work, [1, 2], 2))
"""


def test_all_items_are_done_once() -> None:
    assert sorted(as_they_come(abs, [-3, 1, -2], 2)) == [1, 2, 3]
    assert list(as_they_come(abs, [], 2)) == []


def test_one_thread_each_and_the_environment_as_it_was(monkeypatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    (seen,) = as_they_come(os.getenv, ["OMP_NUM_THREADS"], 1)
    assert seen == "1"
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ


def test_an_error_comes_through() -> None:
    with pytest.raises(ValueError):
        list(as_they_come(int, ["x"], 1))


@pytest.mark.parametrize("workers", [1, 2])
def test_forked_work_sees_what_it_refers_to(workers) -> None:
    table = {k: k * k for k in range(5)}
    assert dict(forked(lambda k: table[k], range(5), workers)) == table
    assert dict(forked(lambda k: k, [], workers)) == {}
    with pytest.raises(KeyError):
        list(forked(lambda k: table[k + 9], range(5), workers))


@pytest.mark.parametrize("workers", [1, 2])
def test_forked_work_has_one_thread_each_and_nobody_else_is_held_to_it(workers) -> None:
    with threadpool_limits(3, "blas"):
        before = blas_threads()
        assert all(seen == {1} for _, seen in forked(lambda k: blas_threads(), range(3), workers))
        assert blas_threads() == before


def blas_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def squares(name: str, workers: int = 2) -> dict[int, tuple[str, int]]:
    return dict(forked(lambda k: (name, k * k), range(3), workers))


def test_threads_that_share_work_out_at_once_get_their_own_answers() -> None:
    names = [f"thread {k}" for k in range(16)]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(squares, names)) == [{k: (name, k * k) for k in range(3)} for name in names]


def test_who_stops_early_waits_for_nobody() -> None:
    answers = forked(lambda k: time.sleep(3000 * k), range(2), 2)
    assert next(answers) == (0, None)
    answers.close()
    assert not multiprocessing.active_children()


def both_ways() -> tuple[list[int], dict[int, tuple[str, int]]]:
    return sorted(as_they_come(abs, [-3, 1, -2], 2)), squares("daemon")


def test_daemons_and_pools_do_the_work_in_one_process() -> None:
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    with context.Pool(1) as pool:
        assert pool.apply(both_ways) == both_ways()
    daemon = context.Process(target=both_ways, daemon=True)
    daemon.start()
    daemon.join()
    assert daemon.exitcode == 0


def test_there_is_a_core() -> None:
    assert cores() >= 1


def lives(pid: int) -> bool:
    """Whether a process runs; one that ended but was not yet fetched does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize(("way", "means"), [("forked", "system"), ("forked", "portable"), ("as_they_come", "system")])
def test_workers_end_when_their_parent_is_killed(tmp_path, way, means) -> None:
    (tmp_path / "parent.py").write_text(PARENT)
    with subprocess.Popen([sys.executable, tmp_path / "parent.py", way, means], stdout=subprocess.PIPE) as parent:
        workers = [int(parent.stdout.readline()) for _ in range(2)]
        assert all(lives(pid) for pid in workers)
        parent.send_signal(signal.SIGKILL)
    try:
        limit = time.monotonic() + 10
        while any(lives(pid) for pid in workers) and time.monotonic() < limit:
            time.sleep(0.02)
        assert not any(lives(pid) for pid in workers)
    finally:
        for pid in filter(lives, workers):
            os.kill(pid, signal.SIGKILL)
