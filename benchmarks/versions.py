"""How much faster this code puts objects together than that of an earlier commit, and whether it says the same.

    python benchmarks/versions.py REVISION DATA [--limit N] [--json benchmarks/results/versions.json]

Both assemble the same fractures through `cmnet evaluate`, in turns, each in processes of its own; of a few rounds the
fastest counts, so that compiling does not. *Same*: the poses of all parts are equal to the last bit.
"""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import numpy as np

from cmnet.evaluation.predictions import Prediction, read_with_settings
from cmnet.model.weights import DEFAULT
from reporting import show, write_result

ROOT = Path(__file__).parents[1]
ROUNDS = 2
Answers = dict[str, Prediction]  # by the name of the fracture


def sources_of(revision: str, folder: Path) -> Path:
    """Where the sources of that commit have been unpacked."""
    packed = subprocess.run(["git", "archive", revision, "src"], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


def answers(sources: Path, asked: list[str], file: Path) -> Answers:
    """What these sources say to the fractures that are asked for."""
    environment = {**os.environ, "PYTHONPATH": str(sources)}
    command = [sys.executable, "-m", "cmnet.cli", "evaluate", *asked, "--predictions", str(file), "--overwrite"]
    subprocess.run([*command, "--task", "assembly", "--quiet"], env=environment, check=True)
    return {p.name: p for p in read_with_settings(file)[1] if p.method == "cmnet"}


def line(before: list[Prediction], now: list[Prediction]) -> dict[str, float]:
    seconds = [min(p.seconds for p in rounds) for rounds in (before, now)]
    same = all(np.array_equal(p.poses, before[0].poses, equal_nan=True) for p in [*before, *now])
    return {
        "pieces": len(now[0].parts),
        "before, s": seconds[0],
        "now, s": seconds[1],
        "ratio": seconds[0] / seconds[1],
        "same": int(same),
    }


def summary(rows: dict[str, dict[str, float]]) -> dict[str, float]:
    whole = {name: sum(row[name] for row in rows.values()) for name in ("pieces", "before, s", "now, s")}
    return {**whole, "ratio": whole["before, s"] / whole["now, s"], "same": min(row["same"] for row in rows.values())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", help="of the earlier code, as git names it")
    parser.add_argument("data", type=Path, help="folder in Breaking Bad's layout")
    parser.add_argument("--subset", help="only this subset (default: all)")
    parser.add_argument("--limit", type=int, default=6, help="fractures, evenly spaced (default: %(default)s)")
    parser.add_argument("--weights", default=DEFAULT, help="none: geometry alone (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="write the figures there")
    args = parser.parse_args()
    asked = [str(args.data), "--limit", str(args.limit), "--weights", args.weights]
    asked += ["--subset", args.subset] if args.subset else []
    with tempfile.TemporaryDirectory() as folder:
        trees = sources_of(args.revision, Path(folder)), ROOT / "src"
        file = Path(folder) / "predictions.jsonl"
        rounds = [[answers(sources, asked, file) for sources in trees] for _ in range(ROUNDS)]
    names = sorted(rounds[0][0])
    rows = {name: line(*([answered[k][name] for answered in rounds] for k in (0, 1))) for name in names}
    rows["all"] = summary(rows)
    show(rows)
    if args.json:
        write_result(args.json, {"revision": args.revision, "rounds": ROUNDS, "rows": rows})


if __name__ == "__main__":
    main()
