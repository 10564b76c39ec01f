import os
import signal
import socket
import sys
import time
from dataclasses import dataclass, replace
from importlib.resources import files

import numpy as np
import pytest

import cmnet
import cmnet.cluster
from cmnet.cli import main
from cmnet.cluster import executor_of
from cmnet.errors import InputError
from cmnet.processes import each

distributed = pytest.importorskip("distributed")


def cluster_of(workers: int):
    """A scheduler with worker processes of two threads each."""
    where = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    return distributed.LocalCluster(n_workers=workers, threads_per_worker=2, processes=True, **where)


@pytest.fixture(scope="module")
def running():
    with cluster_of(2) as cluster:
        yield cluster


@pytest.fixture
def address(running):
    return running.scheduler_address.replace("tcp://", "dask://")


@dataclass(frozen=True)
class SingularValues:
    matrices: dict[int, np.ndarray]

    def __call__(self, k: int) -> np.ndarray:
        time.sleep(0.03)
        return np.linalg.svd(self.matrices[k] @ self.matrices[k].T, compute_uv=False)

    def only(self, items):
        return replace(self, matrices={k: self.matrices[k] for k in items})


def kill_one(running) -> None:
    os.kill(running.workers[0].pid, signal.SIGKILL)


def test_a_worker_is_killed_in_the_middle_and_the_result_is_the_same_to_the_last_bit(running, address):
    rng = np.random.default_rng(0)
    work, there = SingularValues({k: rng.standard_normal((120, 120)) for k in range(40)}), {}
    here = dict(each(work, range(40), 1))
    with executor_of(address) as executor:
        assert executor.workers == 4
        for k, values in each(work, range(40), 1, executor):
            there[k] = values
            if len(there) == 12:
                kill_one(running)
    assert here.keys() == there.keys()
    assert all(np.array_equal(here[k], there[k]) for k in here)


def test_what_fails_there_comes_back_as_itself(address):
    with executor_of(address) as executor, pytest.raises(ZeroDivisionError, match="modulo"):
        list(each(divmod_of_ten, [2, 1, 0], 1, executor))


def divmod_of_ten(k: int) -> tuple[int, int]:
    return divmod(10, k)


@pytest.mark.slow
def test_an_assembly_is_the_same_while_a_worker_is_killed(running, address):
    example, killed = files("cmnet") / "assets" / "example", []

    def progress(stage: str, done: int, total: int) -> None:
        if stage == "joins" and done == total // 2:
            killed.append(kill_one(running))

    here = cmnet.Assembler().assemble(example)
    with executor_of(address) as executor:
        there = cmnet.Assembler(workers=1, executor=executor).assemble(example, progress)
    assert len(killed) == 1
    assert np.array_equal(here.poses, there.poses, equal_nan=True)
    assert [(join.parts, join.confidence) for join in here.joins] == [
        (join.parts, join.confidence) for join in there.joins
    ]


@pytest.mark.parametrize("text", ["10.0.0.7:8786", "dask://", "dask://host", "dask://host:door", "dask://host:99999"])
def test_what_is_no_address_is_said_on_the_command_line(text, tmp_path, capsys):
    assert main(["assemble", "nowhere", "-o", str(tmp_path / "out"), "--executor", text]) == 2
    expected = f"'{text}' is no executor; write dask://HOST:PORT, the address of a Dask scheduler"
    assert expected in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("text", ["tcp://host:1", "dask://host:1/", "dask://me@host:1", "dask://host:1?x", "dask://:1"])
def test_an_address_is_a_host_and_a_port(text):
    with pytest.raises(InputError, match="is no executor"), executor_of(text):
        pass


def refusal(address: str) -> str:
    with pytest.raises(InputError) as caught, executor_of(address):
        pass
    return str(caught.value)


@pytest.mark.parametrize("backlog", [None, 5])
def test_nobody_answers(backlog, monkeypatch):
    monkeypatch.setattr(cmnet.cluster, "PATIENCE", 0.5)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        if backlog:  # who takes calls, but is no scheduler
            other.listen(backlog)
        address = f"dask://127.0.0.1:{other.getsockname()[1]}"
        assert refusal(address) == f"no Dask scheduler answers at {address}; check the address and that it runs"


def test_a_cluster_without_workers():
    with cluster_of(0) as cluster:
        address = cluster.scheduler_address.replace("tcp://", "dask://")
        assert refusal(address) == f"the Dask cluster at {address} has no workers; start some with dask worker"


def test_a_scheduler_that_is_lost_in_the_middle(monkeypatch):
    monkeypatch.setattr(cmnet.cluster, "PATIENCE", 2)
    work = SingularValues({k: np.eye(9) for k in range(40)})
    with cluster_of(1) as cluster:
        address = cluster.scheduler_address.replace("tcp://", "dask://")
        with pytest.raises(InputError) as caught, executor_of(address) as executor:
            consume(each(work, range(40), 1, executor), then=cluster.close)
    assert str(caught.value) == f"the Dask scheduler at {address} was lost; start again when it runs"


def consume(answers, then) -> None:
    for _ in answers:
        then()


def test_another_version_on_the_workers(address, monkeypatch):
    monkeypatch.setattr(cmnet.cluster, "__version__", "99")
    told = refusal(address)
    assert told.endswith(f"of {address} has cmnet {cmnet.__version__}, and here is 99; install the same everywhere")


def test_dask_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert refusal("dask://host:1").endswith("is not installed; run pip install 'cmnet[dask]'")
