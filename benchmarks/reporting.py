"""What the benchmarks share: tables in the terminal, and results that say how they were made."""

from __future__ import annotations

import json
import os
import platform
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cmnet.evaluation.tables import finite
from cmnet.files import write_text

Line = Mapping[str, float | None]


def show(lines: Mapping[str, Line]) -> None:
    """One line a row, its name first; None and what is not a number are left empty."""
    width = max(map(len, lines), default=0) + 2
    print(" " * width + "".join(f"{name:>12}" for name in next(iter(lines.values()))))
    for name, line in lines.items():
        print(f"{name:{width}}" + "".join(_cell(value) for value in line.values()))


def _cell(value: float | None) -> str:
    if value is None or value != value:
        return f"{'':12}"
    return f"{value:12d}" if isinstance(value, int) else f"{value:12.3f}"


def command(argv: Sequence[str]) -> str:
    """The command as anyone would give it: folders of this machine by their last name only."""
    words = [Path(word).name if Path(word).is_absolute() else word for word in argv[1:]]
    return shlex.join(["python", f"benchmarks/{Path(argv[0]).name}", *words])


def machine() -> dict[str, Any]:
    """What the seconds depend on."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def write_result(path: Path, content: Mapping[str, Any]) -> None:
    """Write the figures with the command and the machine that made them. What is not a number becomes null."""
    told = {"format": "cmnet.benchmark/1", "command": command(sys.argv), "machine": machine(), **content}
    write_text(path, json.dumps(finite(told), indent=1, allow_nan=False) + "\n")
