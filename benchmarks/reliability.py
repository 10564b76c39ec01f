"""Whether the confidence of a join means what it says: a reliability plot, and the expected calibration error.

    python benchmarks/pairs.py ROOT --half held-out --pairs mixed --log pairs.log.json
    cmnet evaluate ROOT --half held-out --task assembly --weights none --predictions joins.jsonl
    python benchmarks/reliability.py pairs.log.json joins.jsonl --json benchmarks/results/reliability.json

Takes both kinds of files, any number of them, and draws one curve for each. Predictions of assemblies are compared with
the data they were made from, which must still lie where they did. Needs matplotlib (`pip install 'cmnet[figures]'`).
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from cmnet.evaluation.calibration import BINS, Bin, calibration_error, reliability
from cmnet.evaluation.judged_joins import SHIFT, TURN, judge_joins
from cmnet.evaluation.predictions import read_with_settings
from cmnet.evaluation.protocol import refuse_changed
from cmnet.evaluation.runs import question
from cmnet.evaluation.selection import select
from reporting import show, write_result

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "reliability.png"
ACCEPTED = 0.5  # least confidence of a join that may be used

Claims = np.ndarray  # (n, 3) float: confidence, right, used


def claims_of_pairs(log: Path) -> Claims:
    """Every candidate in a log of benchmarks/pairs.py. None of them is used for anything."""
    rows = json.loads(log.read_text(encoding="utf-8"))
    found = [(c["confidence"], c["right"], False) for row in rows for c in row["candidates"]]
    return np.array(found, dtype=np.float64).reshape(-1, 3)


def claims_of_assemblies(file: Path) -> Claims:
    """Every join in a file of predictions."""
    settings, predictions = read_with_settings(file)
    objects = select(settings)
    number = {fracture.name: k for k, fracture in enumerate(objects.fractures)}
    found = []
    for prediction in (p for p in predictions if p.joins and p.name in number):
        case = question(settings.task)(objects[number[prediction.name]], settings.seed)
        if case is not None:
            refuse_changed(case, prediction)
            judged = judge_joins(case, prediction.joins)
            found += [(j.confidence, j.right, j.used) for j in judged if j.confidence is not None]
    return np.array(found, dtype=np.float64).reshape(-1, 3)


def figures(claims: Claims) -> dict[str, Any]:
    """Of all joins, of those sure enough to be used, and of those used."""
    confidence, right, used = claims.T
    kinds = {"all": confidence >= 0, "accepted": confidence >= ACCEPTED, "used": used > 0}
    result: dict[str, Any] = {}
    for kind, some in kinds.items():
        bins = reliability(confidence[some], right[some])
        share = float(right[some].mean()) if some.any() else None
        claimed = float(confidence[some].mean()) if some.any() else None
        error = calibration_error(bins)
        told = {"joins": int(some.sum()), "claimed": claimed, "right": share, "error": error}
        result[kind] = {**told, "bins": [asdict(b) for b in bins]}
    return result


def draw(curves: dict[str, list[Bin]], path: Path) -> None:
    """Claimed against right, with 95 % intervals; below, how many joins claim so much."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    shape = {"height_ratios": [3, 1], "hspace": 0.08}
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(4.5, 5.5), sharex=True, gridspec_kw=shape)
    top.plot([0, 1], [0, 1], color="0.7", linewidth=1, label="as claimed")
    for name, bins in curves.items():
        claimed, right = (np.array([getattr(b, key) for b in bins]) for key in ("claimed", "right"))
        low, high = (np.array([getattr(b, key) for b in bins]) for key in ("right_low", "right_high"))
        reach = np.maximum([right - low, high - right], 0)  # rounding may leave a share of 1 above its interval
        top.errorbar(claimed, right, yerr=reach, marker="o", capsize=2, linewidth=1, label=name)
        counts = {b.low: b.n for b in bins}
        bottom.stairs([counts.get(low, 0) for low in BINS[:-1]], BINS)
    top.set(ylabel="share of joins that are right", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    top.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize="small")
    bottom.set(xlabel="confidence", ylabel="joins", yscale="log")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150, bbox_inches="tight")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", help="logs of pairs (.json) and predictions (.jsonl)")
    parser.add_argument("--names", nargs="+", help="of the curves (default: of the files)")
    parser.add_argument("--plot", type=Path, default=PICTURE, help="default: docs/images/reliability.png")
    parser.add_argument("--json", type=Path, help="write the figures there")
    args = parser.parse_args()
    names = args.names or [file.stem for file in args.files]
    results = {
        name: figures(claims_of_assemblies(file) if file.suffix == ".jsonl" else claims_of_pairs(file))
        for name, file in zip(names, args.files, strict=True)
    }
    told = {f"{name}, {kind}": f for name, kinds in results.items() for kind, f in kinds.items()}
    show({name: {key: f[key] for key in ("joins", "claimed", "right", "error")} for name, f in told.items()})
    draw({name: [Bin(**b) for b in kinds["all"]["bins"]] for name, kinds in results.items()}, args.plot)
    if args.json:
        write_result(args.json, {"tolerance": {"degrees": TURN, "size": SHIFT}, "sources": results})


if __name__ == "__main__":
    main()
