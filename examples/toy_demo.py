"""Make the paper's toy data, train for a minute, measure on patterns the network has never seen.

python examples/toy_demo.py [--time 60s] [--output out/toy]
"""

import argparse
import shutil
import sys
from pathlib import Path

from cmnet.cli import main


def demo(output: Path, time: str, limit: int) -> int:
    shutil.rmtree(output, ignore_errors=True)
    data, run = str(output / "toy"), str(output / "run")
    small = ["--set", "points=1024", "--set", "accumulate=1", "--set", "validate_every=0", "--set", "warmup=20"]
    schedule = ["--steps", "400", "--max-time", time]
    weights, result = f"{run}/last.safetensors", str(output / "evaluation.json")
    on = ["--split", "test", "--points", "1024", "--limit", str(limit)]
    return (
        main(["dataset", "toy", "-o", data])
        or main(["train", "--data", data, "-o", run, *small, *schedule])
        or main(["evaluate", data, "--weights", weights, "--json", result, *on])
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time", default="60s", help="how long to train (default: %(default)s)")
    parser.add_argument("--limit", type=int, default=60, help="objects to measure on (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=Path("out/toy"), help="default: %(default)s")
    args = parser.parse_args()
    sys.exit(demo(args.output, args.time, args.limit))
