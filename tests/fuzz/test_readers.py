"""Damaged files, and files that never were right: no crash, no hang, no hunger for memory, no traceback."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cmnet.model.weights import load_network
from cmnet.parts.load import load_parts
from cmnet.solving.constraints import load_constraints
from fuzz.grammar import FORMATS, Dice

WORKER = Path(__file__).parent / "worker.py"


@pytest.mark.parametrize(
    ("kind", "seed", "count"),
    [
        ("bytes", 0, 360),
        ("grammar", 0, 110),
        *(pytest.param("bytes", seed, 1700, marks=pytest.mark.slow) for seed in range(1, 7)),
        *(pytest.param("grammar", seed, 2200, marks=pytest.mark.slow) for seed in range(1, 5)),
    ],
)
def test_files_end_in_parts_or_in_one_sentence(kind, seed, count):
    command = [sys.executable, WORKER, kind, str(seed), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    findings = json.loads(done.stdout)
    assert not findings, "\n".join(f"{f['file']} (seed {f['seed']}, {f['k']}): {f['fault']}" for f in findings)


@pytest.mark.parametrize("name", FORMATS)
def test_where_nothing_goes_wrong_the_grammars_write_what_is_read(name, tmp_path):
    (tmp_path / name).write_bytes(FORMATS[name](Dice(np.random.default_rng(0), rates=[0.0])))
    readers = {"a.json": lambda path: load_constraints(path, ["a", "b", "c"]).join, "a.safetensors": load_network}
    assert readers.get(name, load_parts)(tmp_path / name)
