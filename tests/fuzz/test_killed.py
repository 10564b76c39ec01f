"""Killed at any moment, a run leaves no half-written folder, and loses no earlier result."""

import subprocess
import sys
from pathlib import Path

import pytest

KILLER = Path(__file__).parent / "killer.py"


@pytest.mark.parametrize("rounds", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_killed_at_random_moments(tmp_path, rounds):
    done = subprocess.run(
        [sys.executable, KILLER, tmp_path, str(rounds), "0"], capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, done.stderr
