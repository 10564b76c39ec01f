"""How long it takes to put 8, 20 and 50 pieces together, stage by stage, and how much memory.

    python benchmarks/speed.py [--weights W] [--json benchmarks/results/speed.json]

Every number of pieces has a process of its own, so that its peak of memory is its own; pieces are broken off generated
shapes beforehand. Seconds are of the clock on the wall: run it on an idle machine. Memory is the highest size up to
the end of a stage, in MB, of the process and all its workers; pages they share count once. The interpreter and its
libraries (row `start`) are included. It is read from /proc: Linux only.
"""

from __future__ import annotations

import argparse
import multiprocessing
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cmnet.assembler import Assembler
from cmnet.data.fracture import fracture, prepare
from cmnet.data.shapes import make_shape
from cmnet.geometry.pose import Pose
from cmnet.model.weights import DEFAULT
from cmnet.parts.part import Part
from reporting import show, write_result

PIECES = (8, 20, 50)
LIMITS = {8: 30.0, 20: 120.0, 50: 600.0}  # seconds on two cores that are aimed at
MEGABYTES = 4000.0  # likewise
START = "start"
EVERY = 0.1  # seconds between two looks at the memory


class Watch(threading.Thread):
    """Looks at the memory now and then. peak: the highest so far, in MB."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak = memory()
        self.start()

    def run(self) -> None:
        while True:
            self.peak = max(self.peak, memory())
            time.sleep(EVERY)


def memory() -> float:
    """Of this process and its workers, in MB; pages that several of them share count once."""
    own, workers, total = Path("/proc/self"), [], 0
    for thread in (own / "task").iterdir():
        with suppress(OSError):  # a thread that has just ended
            workers += (thread / "children").read_text().split()
    for process in (own, *(Path("/proc") / worker for worker in workers)):
        with suppress(OSError):  # a worker that has just ended
            lines = (process / "smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1e3


@dataclass
class Clock:
    """Listens to the progress of an assembly. What comes after a report belongs to the stage it names."""

    watch: Watch = field(default_factory=Watch)
    seconds: dict[str, float] = field(default_factory=dict)
    megabytes: dict[str, float] = field(default_factory=dict)
    stage: str = START
    since: float = field(default_factory=time.perf_counter)

    def __call__(self, stage: str, done: int = 0, total: int = 0) -> None:
        now = time.perf_counter()
        self.seconds[self.stage] = self.seconds.get(self.stage, 0.0) + now - self.since
        self.megabytes[self.stage] = self.watch.peak
        self.stage, self.since = stage, now


def broken(shape: str, pieces: int, seed: int) -> list[Part]:
    """The pieces of a generated object, each somewhere in space."""
    rng = np.random.default_rng([seed, pieces])
    parts = fracture(prepare(make_shape(shape, rng), check_crossings=False), pieces, rng).parts
    return [part.moved(Pose.random(rng, 1.0)) for part in parts]


def measure(weights: str, seed: int, parts: list[Part]) -> dict[str, Any]:
    """Put the parts together once, in this process."""
    assembler = Assembler(weights, solver="robust", seed=seed)
    clock = Clock()
    start = time.perf_counter()
    assembly = assembler.assemble(parts, progress=clock)
    seconds = time.perf_counter() - start
    clock("end")
    return {
        "pieces": len(parts),
        "faces": sum(0 if part.faces is None else len(part.faces) for part in parts),
        "seconds": seconds,
        "megabytes": clock.watch.peak,
        "placed": max((len(group) for group in assembly.groups), default=1),
        "stages": {name: {"seconds": s, "megabytes": clock.megabytes[name]} for name, s in clock.seconds.items()},
    }


def lines(row: dict[str, Any]) -> dict[str, dict[str, float | None]]:
    pieces = row["pieces"]
    aims = {"at most s": LIMITS.get(pieces), "at most MB": MEGABYTES}
    whole = {"seconds": row["seconds"], "MB": row["megabytes"], **aims, "placed": row["placed"]}
    stages = {
        f"  {name}": {"seconds": figures["seconds"], "MB": figures["megabytes"]}
        for name, figures in row["stages"].items()
    }
    return {f"{pieces} pieces": whole, **{f"{pieces:3d}{name}": figures for name, figures in stages.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pieces", type=int, nargs="+", default=PIECES, help="default: 8 20 50")
    parser.add_argument("--shape", default="vase", help="what is broken (default: %(default)s)")
    parser.add_argument("--weights", default=DEFAULT, help="none: geometry alone (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="write the figures there")
    args = parser.parse_args()
    heaps = [broken(args.shape, pieces, args.seed) for pieces in args.pieces]
    alone = {"mp_context": multiprocessing.get_context("spawn"), "max_tasks_per_child": 1}
    with ProcessPoolExecutor(1, **alone) as pool:
        rows = list(pool.map(partial(measure, args.weights, args.seed), heaps))
    show({name: line for row in rows for name, line in lines(row).items()})
    if args.json:
        write_result(args.json, {"shape": args.shape, "weights": args.weights, "rows": rows})


if __name__ == "__main__":
    main()
