import importlib
import logging
import sys

import numba
import numpy as np
import pytest

from cmnet.geometry import compiled as place

TOOLS = """
from cmnet.geometry.compiled import compiled
FACTOR = {factor}
@compiled
def scaled(x):
    return FACTOR * x {more}
"""
TOTAL = """
from cmnet.geometry.compiled import compiled
from tools import scaled
@compiled
def total(x):
    return scaled(x[0]) + scaled(x[1])
"""
X = np.array([1.0, 2.0])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where modules with kernels lie, and what is kept of them."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    place._tell_no_place.cache_clear()
    yield tmp_path
    forget()


def forget():
    for name in ("tools", "total"):
        sys.modules.pop(name, None)
    importlib.invalidate_caches()
    place.linecache.clearcache()


def written(folder, factor=2.0, more=""):
    """The kernel `total`, as a new process sees it."""
    (folder / "tools.py").write_text(TOOLS.format(factor=factor, more=more))
    (folder / "total.py").write_text(TOTAL)
    forget()
    return importlib.import_module("total").total


def hits(kernel):
    return sum(kernel.stats.cache_hits.values())


def kept(folder, ending):
    return sorted(folder.glob(f"__pycache__/total.total*.{ending}"))


def test_what_is_compiled_is_kept_until_anything_it_is_made_of_changes(folder):
    assert written(folder)(X) == 6
    again = written(folder)
    assert again(X) == 6
    assert hits(again) == 1
    assert written(folder, factor=3.0)(X) == 9  # a constant of another file
    assert written(folder, factor=3.0, more="+ 1")(X) == 11  # a kernel of another file


def test_code_left_behind_under_a_newer_index_is_not_run(folder):
    assert written(folder)(X) == 6
    (code,) = kept(folder, "nbc")
    left = code.read_bytes()
    assert written(folder, factor=3.0)(X) == 9
    code.write_bytes(left)
    assert written(folder, factor=3.0)(X) == 9


def cut(content):
    return content[: len(content) // 2]


def flipped(content):
    return content[:-200] + bytes([content[-200] ^ 1]) + content[-199:]


def scribbled(content):
    return b"x" + content


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", [cut, flipped, scribbled])
def test_a_damaged_file_is_made_anew(folder, ending, damage):
    assert written(folder)(X) == 6
    (file,) = kept(folder, ending)
    file.write_bytes(damage(file.read_bytes()))
    damaged = written(folder)
    assert damaged(X) == 6
    assert hits(damaged) == 0
    healed = written(folder)
    assert healed(X) == 6
    assert hits(healed) == 1


def test_a_folder_in_the_place_of_a_file_costs_only_time(folder):
    assert written(folder)(X) == 6
    (file,) = kept(folder, "nbi")
    file.unlink()
    file.mkdir()
    assert written(folder)(X) == 6


def test_nothing_is_read_from_a_folder_in_which_anybody_may_write(folder):
    assert written(folder)(X) == 6
    (folder / "__pycache__").chmod(0o777)
    elsewhere = written(folder)
    assert elsewhere(X) == 6
    assert hits(elsewhere) == 0
    assert elsewhere._cache.cache_path.startswith(str(folder / "cache"))


def test_it_is_said_once_where_there_is_no_place(folder, caplog, monkeypatch):
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__").chmod(0o777)
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "~")  # as for a user whom the system does not know
    monkeypatch.chdir(folder)
    with caplog.at_level(logging.WARNING, "cmnet"):
        assert written(folder)(X) == 6
    assert ["NUMBA_CACHE_DIR" in record.message for record in caplog.records] == [True]
    assert not (folder / "~").exists()
