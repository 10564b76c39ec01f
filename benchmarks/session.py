"""How soon a session answers: a first solve, then random decisions, each solved again by what is known.

    python benchmarks/session.py [--pieces 20] [--decisions 20] [--json benchmarks/results/session.json]

Decisions add up: of joins in use, drawn at random, one is accepted, the next rejected, and so on. *Same*: in the end
all lies where a fresh run with these decisions as constraints puts it, up to 0.1° and a thousandth of the size.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import cmnet
from cmnet.model.weights import DEFAULT
from cmnet.session import Session
from cmnet.solving.assembly import Assembly
from reporting import show, write_result
from speed import broken

TURN, SHIFT = 0.1, 1e-3  # degrees, and of the size of a part


def timed(work: Any) -> tuple[Any, float]:
    begin = perf_counter()
    return work(), perf_counter() - begin


def same(a: Assembly, b: Assembly, size: float) -> bool:
    poses = [[cmnet.Pose.from_matrix(M) for M in assembly.poses] for assembly in (a, b)]
    return a.groups == b.groups and all(T.is_near(other, TURN, SHIFT * size) for T, other in zip(*poses))


def decide(session: Session, count: int, rng: np.random.Generator) -> list[float]:
    """Seconds of every solve after a decision."""
    seconds = []
    for n in range(count):
        used = [join for join in session.assembly.joins if join.used and join.number >= 0]
        join = used[rng.integers(len(used))]
        (session.reject if n % 2 else session.accept)(join)
        seconds.append(timed(session.solve)[1])
    return seconds


def measure(pieces: int, shape: str, weights: str, decisions: int, seed: int) -> dict[str, float]:
    parts = broken(shape, pieces, seed)
    session = Session(parts, weights)
    row = {"pieces": float(len(parts)), "propose, s": timed(session.propose)[1]}
    seconds = decide(session, decisions, np.random.default_rng(seed))
    row |= {"solve: median, s": float(np.median(seconds)), "solve: slowest, s": max(seconds)}
    with tempfile.TemporaryDirectory() as folder:
        row["save, s"] = timed(lambda: session.save(folder))[1]
        again, row["load, s"] = timed(lambda: Session.load(folder))
        size = float(np.ptp(parts[0].vertices, axis=0).max())
        row["loaded: same"] = float(same(again.solve(), session.solve(), size))
    row["propose again, s"] = timed(session.propose)[1]
    fresh, row["fresh, s"] = timed(lambda: cmnet.assemble(parts, weights=weights, constraints=session.constraints))
    return row | {"fresh: same": float(same(session.assembly, fresh, size))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pieces", type=int, default=20)
    parser.add_argument("--shape", default="amphora", help="what is broken (default: %(default)s)")
    parser.add_argument("--decisions", type=int, default=20)
    parser.add_argument("--weights", default=DEFAULT, help="none: geometry alone (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="write the figures there")
    args = parser.parse_args()
    row = measure(args.pieces, args.shape, args.weights, args.decisions, args.seed)
    show({f"{args.pieces} pieces": row})
    if args.json:
        write_result(args.json, {"shape": args.shape, "decisions": args.decisions, "row": row})


if __name__ == "__main__":
    main()
