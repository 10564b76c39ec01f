"""Turn a finished training run into weights to ship: half precision, and a model card beside them.

    python benchmarks/card.py RUN --name cmnet-base

Writes assets/NAME.safetensors and assets/NAME.json inside the package. The half-precision weights are compared with
the run's own on fresh pairs; a difference of more than a few percent in the strongest matches stops it.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

from cmnet.data.curriculum import STAGES, Curriculum
from cmnet.data.exercises import ExerciseDataset
from cmnet.files import write_text
from cmnet.model.network import CMNet
from cmnet.model.weights import SHIPPED
from cmnet.training.batches import to_tensors
from cmnet.training.config import plain_drawing

PAUSE = 300.0  # seconds without a word after which a run was not running
PAIRS = 8  # on which half precision is compared with single
SEED = 12345  # of those pairs
AGREE = 0.97  # least share of the strongest matches in common: the last few of them are nearly ties
DATA = (
    "Objects made by the procedural generator of this package (27 categories), broken on the fly by its fracture "
    "generator: no data of anybody else. Curriculum: cmnet.data.curriculum."
)
LIMITS = (
    "Trained on complete surfaces with outward normals; bare clouds need estimated, oriented normals.",
    "Sampled more coarsely than the wall is thick, the two skins of a sheet are hard to tell apart.",
    "Rotationally symmetric breaks (rings, stems) have no single right answer; the matches then disagree.",
    "The probability of a break is about any break: also of pieces that are not at hand.",
    "Of worn objects in many pieces it suggests hardly any pose right; its probability of a break still helps there.",
)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def hours(run: Path) -> float:
    """How long the run ran, the pauses between its sessions left out."""
    times = []
    for file in (run / "tensorboard").glob("events*"):
        for event in EventFileLoader(str(file)).Load():
            times.append(event.wall_time)
    steps = np.diff(np.sort(times))
    return float(steps[steps < PAUSE].sum()) / 3600


def agreement(one: CMNet, two: CMNet) -> float:
    """The share of the strongest matches that two networks have in common, on fresh pairs."""
    stream = Curriculum(SEED, one.config.samples(), STAGES[-1:], block=1, uses=1)
    exercises = ExerciseDataset(stream, SEED, plain_drawing(one.config))
    shares = []
    with torch.inference_mode():
        for number in range(PAIRS):
            exercise = to_tensors(exercises[number], number)
            pair, found = exercise.pairs[0], []
            for net in (one, two):
                p, q = (
                    net.describe(f.points, f.normals) for f in (exercise.fragments[pair.p], exercise.fragments[pair.q])
                )
                found.append({tuple(row) for row in net.match(p, q).indices.tolist()})
            shares.append(len(found[0] & found[1]) / len(found[0]))
    return sum(shares) / len(shares)


def card(run: Path, name: str, weights: Path) -> dict[str, Any]:
    """What a person should know before using the weights."""
    config = json.loads((run / "config.json").read_text(encoding="utf-8"))
    losses, validation = rows(run / "losses.csv"), rows(run / "validation.csv")
    figures = {key: round(float(value), 3) for key, value in validation[-1].items()}
    return {
        "format": "cmnet.card/1",
        "name": name,
        "sha256": hashlib.sha256(weights.read_bytes()).hexdigest(),
        "parameters": sum(value.numel() for value in CMNet.from_pretrained(weights).parameters()),
        "licence": "as the package",
        "data": DATA,
        "steps": int(losses[-1]["step"]),
        "objects_a_step": config["training"]["accumulate"] * config["training"]["batch"],
        "hours": round(hours(run), 2),
        "seed": config["training"]["seed"],
        "cmnet": config["cmnet"],
        "network": config["network"],
        "training": config["training"],
        "validation": {"on": "generated objects of another seed, plain weighted SVD of the matches", **figures},
        "limits": list(LIMITS),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="folder of a training run")
    parser.add_argument("--name", default="cmnet-base", help="of the weights (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=SHIPPED, help="folder to write to (default: the package's assets)")
    args = parser.parse_args()
    net = CMNet.from_pretrained(args.run / "last.safetensors")
    args.out.mkdir(parents=True, exist_ok=True)
    weights = args.out / f"{args.name}.safetensors"
    net.save(weights, half=True, name=args.name)
    shared = agreement(net, CMNet.from_pretrained(weights))
    if shared < AGREE:
        weights.unlink()
        raise SystemExit(f"half precision changes {1 - shared:.1%} of the strongest matches; nothing was written")
    write_text(weights.with_suffix(".json"), json.dumps(card(args.run, args.name, weights), indent=1) + "\n")
    print(f"{weights}  {weights.stat().st_size / 1e6:.1f} MB, {shared:.2%} of the strongest matches as before")


if __name__ == "__main__":
    main()
