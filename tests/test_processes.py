import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import cmnet.processes
from cmnet.errors import InputError
from cmnet.processes import BLOCK, WORTH, cores, each

PARENT = """
import os, sys, time
import cmnet.processes as processes

def work(item):
    os.write(1, f"{os.getpid()}\\n".encode())
    time.sleep(300)

if __name__ == "__main__":
    from parent import work  # as spawned processes know it
    if sys.argv[2] == "portable":
        processes.ctypes = None  # without help of the system
    list(processes.each(work, [1, 2], 2, start=sys.argv[1]))
"""
UNGUARDED = """
from concurrent.futures import ThreadPoolExecutor
import cmnet.processes as processes

print("once")
with ThreadPoolExecutor(1) as threads:
    print(threads.submit(lambda: sorted(processes.each(abs, [-3, 1, -2], 2, start="spawn"))).result())
"""


@dataclass(frozen=True)
class Squares:
    """Of k: its square, from a table that holds no more than what `only` was asked for."""

    table: dict[int, int]
    most: int = 100  # entries of the table, or it fails

    def __call__(self, k: int) -> tuple[int, bool]:
        if len(self.table) > self.most:
            raise AssertionError(f"{len(self.table)} entries for one block")
        return self.table[k], blas_threads() == {1}

    def only(self, items) -> "Squares":
        return replace(self, table={k: self.table[k] for k in items if k in self.table})


SQUARES = Squares({k: k * k for k in range(30)})
EXPECTED = {k: (k * k, True) for k in range(30)}


def blas_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@contextmanager
def two_threads():
    with ThreadPoolExecutor(2) as executor:
        yield {"executor": executor}


@contextmanager
def two_processes():
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        yield {"executor": executor}


@pytest.fixture(params=["here", "fork", "spawn", two_threads, two_processes])
def ways(request):
    """The further arguments of `each`, one way after the other."""
    if request.param == "fork" and sys.platform != "linux":
        pytest.skip("cannot fork")
    if not callable(request.param):
        yield {} if request.param == "here" else {"start": request.param}
    else:
        with request.param() as settings:
            yield settings


def test_every_way_does_all_items_once_with_one_thread_each(ways) -> None:
    workers = 2 if ways else 1
    with threadpool_limits(3, "blas"):
        before = blas_threads()
        answers = list(each(SQUARES, range(30), workers, **ways))
        assert blas_threads() == before
    assert len(answers) == 30
    assert dict(answers) == EXPECTED
    assert list(each(SQUARES, [], workers, **ways)) == []
    with pytest.raises(KeyError, match="99"):
        list(each(SQUARES, [*range(12), 99], workers, **ways))


def process_of(item: int) -> int:
    return os.getpid()


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_many_items_go_to_processes_by_default_and_few_do_not(start, monkeypatch) -> None:
    if start == "fork" and sys.platform != "linux":
        pytest.skip("cannot fork")
    monkeypatch.setattr(cmnet.processes, "START", start)
    few = WORTH[start] - 1
    assert {process for _, process in each(process_of, range(few), 2)} == {os.getpid()}
    assert os.getpid() not in {process for _, process in each(process_of, range(few + 1), 2)}


def test_an_executor_is_sent_no_more_than_a_block_needs() -> None:
    frugal = replace(SQUARES, most=BLOCK)
    with two_threads() as settings:
        assert dict(each(frugal, range(30), 1, **settings)) == EXPECTED
    with pytest.raises(AssertionError, match="30 entries for one block"):
        list(each(frugal, range(30), 1))


class Stuck:
    """An executor of two workers that gets nothing done. outcome : what becomes of the futures after each call"""

    workers = 2

    def __init__(self, outcome) -> None:
        self.sent, self.outcome = [], outcome

    def submit(self, function, *arguments):
        future = Future()
        self.sent.append(future)
        self.outcome(self.sent)
        return future


def test_an_executor_has_few_blocks_at_a_time_and_they_are_cancelled_when_one_fails() -> None:
    executor = Stuck(lambda sent: len(sent) == 4 and sent[1].set_exception(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        list(each(SQUARES, range(30), 1, executor))
    assert [future.cancelled() for future in executor.sent] == [True, False, True, True]


def test_work_that_an_executor_gives_up_is_one_sentence() -> None:
    executor = Stuck(lambda sent: sent[-1].cancel() and sent[-1].set_running_or_notify_cancel())
    with pytest.raises(InputError, match="gave up the work") as caught:
        list(each(SQUARES, range(30), 1, executor))
    assert isinstance(caught.value.__cause__, CancelledError)


def test_spawned_processes_have_one_thread_and_the_environment_is_as_it_was(monkeypatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    assert list(each(os.getenv, ["OMP_NUM_THREADS"], 1, start="spawn")) == [("OMP_NUM_THREADS", "1")]
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ


def test_scripts_need_no_guard_around_their_main_part_not_even_in_threads(tmp_path) -> None:
    (tmp_path / "script.py").write_text(UNGUARDED)
    told = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True, check=True)
    assert told.stdout == "once\n[(-3, 3), (-2, 2), (1, 1)]\n"
    assert told.stderr == ""


@pytest.mark.parametrize("workers", [1, 2])
def test_closures_see_what_they_refer_to(workers, monkeypatch) -> None:
    table = {k: k * k for k in range(5)}
    with two_processes() as settings:
        assert dict(each(lambda k: table[k], range(5), workers, **settings)) == table
    assert dict(each(lambda k: table[k], range(5), workers)) == table
    with pytest.raises(KeyError):
        list(each(lambda k: table[k + 9], range(5), workers))
    monkeypatch.setattr(cmnet.processes, "START", "spawn")
    assert dict(each(lambda k: table[k], range(5), workers)) == table


def squares(name: str, workers: int = 2) -> dict[int, tuple[str, int]]:
    return dict(each(lambda k: (name, k * k), range(3), workers))


def test_threads_that_share_work_out_at_once_get_their_own_answers() -> None:
    names = [f"thread {k}" for k in range(16)]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(squares, names)) == [{k: (name, k * k) for k in range(3)} for name in names]


@pytest.mark.skipif(sys.platform != "linux", reason="closures stay in this process where none is forked")
def test_who_stops_early_waits_for_nobody() -> None:
    answers = each(lambda k: time.sleep(3000 * k), range(2), 2)
    assert next(answers) == (0, None)
    answers.close()
    assert not multiprocessing.active_children()


def both_ways() -> tuple[dict[int, int], dict[int, tuple[str, int]]]:
    return dict(each(abs, [-3, 1, -2], 2, start="spawn")), squares("daemon")


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
@pytest.mark.parametrize(("start", "means"), [("fork", "system"), ("fork", "portable"), ("spawn", "system")])
def test_workers_end_when_their_parent_is_killed(tmp_path, start, means) -> None:
    (tmp_path / "parent.py").write_text(PARENT)
    with subprocess.Popen([sys.executable, tmp_path / "parent.py", start, means], stdout=subprocess.PIPE) as parent:
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
