"""Damaged files of every kind: no crash, no hang, no hunger for memory, no traceback."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

WORKER = Path(__file__).parent / "worker.py"


@pytest.mark.parametrize(
    ("seed", "count"), [(0, 360), *(pytest.param(seed, 1700, marks=pytest.mark.slow) for seed in range(1, 7))]
)
def test_damaged_files_end_in_parts_or_in_one_sentence(seed, count):
    done = subprocess.run([sys.executable, WORKER, str(seed), str(count)], capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    findings = json.loads(done.stdout)
    assert not findings, "\n".join(f"{f['file']} (seed {f['seed']}, {f['k']}): {f['fault']}" for f in findings)
