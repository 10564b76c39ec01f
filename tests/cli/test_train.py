"""What `cmnet train` sees to before it trains; training itself is tested in tests/training."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

KERNELS = """
from cmnet.cli import main
assert main(["train", "--preset", "breaking-bad", "-o", "run"]) == 2  # it asks for --data, when all is loaded
from threadpoolctl import threadpool_info
print(*sorted({library["architecture"] for library in threadpool_info() if library["internal_api"] == "openblas"}))
"""


def kernels(tmp_path, **environment):
    clean = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}
    run = [sys.executable, "-c", KERNELS]
    ended = subprocess.run(run, cwd=tmp_path, env=clean | environment, capture_output=True, text=True, check=True)
    return ended.stdout.split()


@pytest.mark.skipif(
    not Path("/proc/cpuinfo").exists() or " avx2 " not in Path("/proc/cpuinfo").read_text(encoding="utf-8"),
    reason="this processor has no such kernels",
)
def test_linear_algebra_rounds_alike_on_every_processor_unless_somebody_chooses(tmp_path):
    assert kernels(tmp_path) == ["Haswell"]
    assert kernels(tmp_path, OPENBLAS_CORETYPE="Sandybridge") == ["Sandybridge"]
