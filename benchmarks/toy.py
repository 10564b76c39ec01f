"""The paper's toy experiment (supplement A.2): does occupancy tell what shape cannot?

    python benchmarks/toy.py WORK --json benchmarks/results/toy.json

Networks are trained on patterns 1 to 3 and tested on 4 to 6, points only as in the paper: the full one and the one
without the occupancy branch, two seeds each, with the same budget. WORK receives the data and the runs; given again,
the command goes on where it stopped. Patterns 1 to 3 (objects of the validation list) stand beside the test: a
network that fails on both has not learned, one that fails on the test alone has not generalised.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from cmnet.cli import main as cmnet
from cmnet.data.toy import ToySizes, build_toy

VARIANTS = {"full": "true", "shape only": "false"}  # occupancy_branch
FIGURES = ("crd", "cd", "rmse_r", "rmse_t", "geodesic_r", "within_10")
PUBLISHED = {  # on the authors' own patterns
    "CMNet": {"crd": 9.24, "cd": 2.07, "rmse_r": 55.29, "rmse_t": 13.40},
    "CMNet, shape only": {"crd": 11.95, "cd": 3.92, "rmse_r": 66.90, "rmse_t": 17.06},
    "PMTR": {"crd": 16.01, "cd": 6.01, "rmse_r": 70.13, "rmse_t": 15.70},
    "Jigsaw": {"crd": 17.64, "cd": 6.95, "rmse_r": 84.98, "rmse_t": 24.81},
}
# The network of the shipped weights, but on bare points in the unit of the files, and one plain pair an object.
SETTINGS = {
    "normals": "false",
    "positions": "true",
    "focus": 0,
    "break_head": "false",
    "break_gate": "false",
    "scale": "given",
    "pairs": 1,
    "apart": 0,
    "noise": 0,
    "tilt": 0,
    "thinning": 0,
    "chips": 0,
}


def run_name(variant: str, seed: int) -> str:
    return f"{variant.replace(' ', '-')}-{seed}"


def trained(data: Path, run: Path, variant: str, seed: int, steps: int, points: int) -> Path:
    """The weights of one run, trained now or before."""
    settings = {**SETTINGS, "points": points, "occupancy_branch": VARIANTS[variant], "validate_every": steps}
    words = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    resume = ["--resume"] if (run / "last.ckpt").exists() else []
    command = [
        "train",
        "--data",
        str(data),
        "-o",
        str(run),
        "--steps",
        str(steps),
        "--seed",
        str(seed),
        *words,
        *resume,
    ]
    if cmnet([*command, "--accelerator", "cpu"]) != 0:
        raise SystemExit(f"training {run} failed")
    taken = int((run / "losses.csv").read_text(encoding="utf-8").splitlines()[-1].split(",")[0])
    if taken < steps:
        raise SystemExit(f"{run} was stopped at step {taken} of {steps}; the same command goes on from there")
    return run / "last.safetensors"


def evaluated(data: Path, split: str, points: int, weights: Path | None = None) -> dict[str, Any]:
    """The means over the objects of a split, by the network's pose or by chance."""
    method = ["--method", "chance"] if weights is None else ["--weights", str(weights)]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        code = cmnet(
            ["evaluate", str(data), "--split", split, "--points", str(points), *method, "--json", str(out), "--quiet"]
        )
        if code != 0:
            raise SystemExit(f"evaluating {weights} failed")
        rows = json.loads(out.read_text(encoding="utf-8"))["rows"]
    row = next(row for row in rows if row["method"] == ("chance" if weights is None else "cmnet"))
    return {name: row[name] for name in ("n", *FIGURES)}


def summary(runs: list[dict[str, Any]], variant: str, split: str) -> dict[str, float]:
    chosen = [run[split] for run in runs if run["variant"] == variant]
    return {name: round(float(np.mean([row[name] for row in chosen])), 3) for name in FIGURES}


def show(result: dict[str, Any]) -> None:
    print(f"{'patterns 4 to 6':24} {'CRD':>7} {'CD':>7} {'RMSE(R)':>8} {'RMSE(T)':>8}")
    rows = {**{name: row["test"] for name, row in result["mean"].items()}, **result["published"]}
    for name, row in rows.items():
        published = " *" if name in PUBLISHED else ""
        print(f"{name + published:24} {row['crd']:7.2f} {row['cd']:7.2f} {row['rmse_r']:8.2f} {row['rmse_t']:8.2f}")
    print("* published, on the authors' own data")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path, help="folder of the data and the runs")
    parser.add_argument("--steps", type=int, default=2000, help="optimisation steps a run (default: %(default)s)")
    parser.add_argument("--points", type=int, default=2000, help="per object (default: %(default)s)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--objects", type=int, nargs=2, default=[200, 50], help="a pattern: to train on, to judge on")
    parser.add_argument("--json", type=Path, default=None, help="write the result there")
    args = parser.parse_args()
    data = args.work / "data"
    train, judge = args.objects
    if not data.exists():
        build_toy(data, seed=0, sizes=ToySizes(train, judge, judge))
    runs: list[dict[str, Any]] = []
    for variant in VARIANTS:
        for seed in args.seeds:
            run = args.work / run_name(variant, seed)
            weights = trained(data, run, variant, seed, args.steps, args.points)
            figures = {split: evaluated(data, split, args.points, weights) for split in ("val", "test")}
            runs.append({"variant": variant, "seed": seed, **figures})
    mean = {variant: {split: summary(runs, variant, split) for split in ("val", "test")} for variant in VARIANTS}
    mean["chance"] = {split: evaluated(data, split, args.points) for split in ("val", "test")}
    told = f"--steps {args.steps} --points {args.points} --seeds {' '.join(map(str, args.seeds))}"
    result = {
        "command": f"python benchmarks/toy.py WORK {told} --objects {train} {judge} --json OUT",
        "mean": mean,
        "runs": runs,
        "published": PUBLISHED,
    }
    show(result)
    if args.json:
        args.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
