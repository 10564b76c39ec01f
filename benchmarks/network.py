"""How fast the network is, as a ratio to a plain CMNet written straight from the equations, in the same run.

    python benchmarks/network.py [--points 2500] [--repeat 5] [--reference SCRIPT]

Times one pair (two descriptions, attention, cost, transport, matches, pose) with both presets, and the descriptions
of more and more parts. Runs alternate, as many of each kind, and their median counts, so that a busy machine hurts both
alike.
SCRIPT is any other implementation: `SCRIPT pair N` prints the seconds of a pair of N points each.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import plain
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

from cmnet.model.network import CMNet

RESULT = Path(__file__).parent / "results" / "network.json"


def sphere(count: int, seed: int) -> tuple[Tensor, Tensor]:
    """Points on a sphere of diameter one, and its normals."""
    normals = torch.nn.functional.normalize(torch.randn(count, 3, generator=torch.Generator().manual_seed(seed)), dim=1)
    return normals / 2, normals


def seconds(action: Callable[[], Any]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def pair(net: CMNet, p: tuple[Tensor, Tensor], q: tuple[Tensor, Tensor]) -> None:
    net.pose(net.describe(*p), net.describe(*q))


def time_pairs(points: int, repeat: int, script: str | None) -> dict[str, float]:
    """Median seconds of each way to do one pair, in alternation, the same number of runs of each."""
    torch.manual_seed(0)
    nets = {name: CMNet.from_preset(name).eval() for name in ("paper", "cmnet-base")}
    p, q = sphere(points, 1), sphere(points, 2)
    ways: dict[str, Callable[[], float]] = {
        name: lambda net=net: seconds(lambda: pair(net, p, q)) for name, net in nets.items()
    }
    ways["plain"] = lambda: seconds(lambda: plain.assignment(nets["paper"], p, q))
    if script:
        command = [sys.executable, script, "pair", str(points)]
        ways["reference"] = lambda: float(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    for net in nets.values():
        pair(net, p, q)  # warm up
    times: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(repeat):
        for way, run in ways.items():
            times[way].append(run())
    return {way: median(values) for way, values in times.items()}


def time_descriptions(points: int, repeat: int) -> dict[str, float]:
    """Fastest seconds to describe 1, 2, 4, 8 parts of `points` points each: n parts cost n descriptions."""
    net = CMNet.from_preset("cmnet-base").eval()
    parts = [sphere(points, i) for i in range(8)]
    return {
        str(n): min(seconds(lambda n=n: [net.describe(*part) for part in parts[:n]]) for _ in range(repeat))
        for n in (1, 2, 4, 8)
    }


@torch.inference_mode()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=2500, help="of each part (default: %(default)s)")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each kind (default: %(default)s)")
    parser.add_argument("--reference", metavar="SCRIPT", help="another implementation to compare with")
    args = parser.parse_args()
    pairs = time_pairs(args.points, args.repeat, args.reference)
    baselines = [way for way in ("plain", "reference") if way in pairs]
    title = f"one pair of 2 × {args.points} points"
    table = Table("way", "seconds", *(f"times faster than {way}" for way in baselines), title=title)
    for way, value in pairs.items():
        table.add_row(way, f"{value:.3f}", *(f"{pairs[base] / value:.1f}" for base in baselines))
    describe = time_descriptions(args.points, args.repeat)
    for n, value in describe.items():
        table.add_row(f"describe {n} part(s)", f"{value:.3f}", f"{value / describe['1']:.1f} × one part")
    Console().print(table)
    result = {
        "command": "python benchmarks/network.py" + (" --reference SCRIPT" if args.reference else ""),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "points": args.points,
        "pair_seconds": pairs,
        "times_faster": {
            base: {way: pairs[base] / pairs[way] for way in ("paper", "cmnet-base")} for base in baselines
        },
        "describe_seconds": describe,
    }
    RESULT.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
