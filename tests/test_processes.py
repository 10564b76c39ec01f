import os

import pytest

from cmnet.processes import as_they_come, cores, forked


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


def test_there_is_a_core() -> None:
    assert cores() >= 1
