"""Whether ± means what it says: true errors of joins and parts against the covariance that is claimed for them.

    python benchmarks/uncertainty.py --objects 25 --seed 300 --json benchmarks/results/uncertainty.json

Objects of two to four pieces are generated, moved at random and put together: as they broke, worn (`light`), and
scanned with noise. Of every used join that is right to 5 degrees, and of every part so placed, the error e and the
covariance C give eᵀ C⁻¹ e / 6: 1 on average, and 0.89 in the median, if the claim is honest. `normalised` is the root
of the mean, true error over claimed; `within` the share below the 90th percentile of χ². Lengths are in per cent of the
object's largest side, of the part's centre; claimed and true are root mean squares. The constants in
`cmnet.pairing.judge.uncertainty` were fitted with other seeds: 7, 100 and 200.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation
from scipy.stats import chi2

from cmnet.assembler import Assembler
from cmnet.data.generated import GeneratedObjects, Recipe
from cmnet.data.shapes import EVERYDAY, FORMS
from cmnet.data.wear import PRESETS, Wear
from cmnet.geometry.pose import Pose
from cmnet.model.weights import NO_WEIGHTS
from cmnet.pairing.judge.uncertainty import Uncertainty
from cmnet.parts.part import Part
from reporting import show, write_result

CONDITIONS = {"clean": None, "worn": PRESETS["light"], "noisy": Wear(noise=0.001)}
STEP = 4  # every so manieth object is broken: neighbours in the list of shapes are alike
RIGHT = 5.0  # degrees by which a join may be off to be judged


def judged(parts: list[Part], T: list[Pose], size: float, assembler: Assembler) -> Iterator[dict[str, Any]]:
    """One row for each used join and each placed part. T : where each part lies, from its true place"""
    assembly = assembler.assemble([part.moved(t) for part, t in zip(parts, T)])
    centres = [t.apply(part.vertices.mean(axis=0)) for part, t in zip(parts, T)]
    for join in assembly.joins:
        if join.used and join.uncertainty is not None:
            i, j = join.parts
            yield row("joins", T[i] @ T[j].inverse(), join.T_i_j, join.uncertainty, centres[j], size)
    for group in assembly.groups:
        stays = next(k for k in group if np.array_equal(assembly.poses[k], np.eye(4)))
        for k in group:
            known = assembly.uncertainties[k]
            if k != stays and known is not None:
                pose = Pose.from_matrix(assembly.poses[k])
                yield row("parts", T[stays] @ T[k].inverse(), pose, known, centres[k], size)


def row(what: str, true: Pose, pose: Pose, known: Uncertainty, centre: np.ndarray, size: float) -> dict[str, Any]:
    off = true @ pose.inverse()
    e = np.concatenate([Rotation.from_matrix(off.R).as_rotvec(), off.t])
    return {
        "what": what,
        "normalised": float(e @ np.linalg.solve(known.covariance, e) / 6),
        "length": known.length / size,
        "degrees": known.degrees,
        "true length": float(np.linalg.norm(true.apply(centre) - pose.apply(centre))) / size,
        "true degrees": true.angle_to(pose),
    }


def summary(rows: list[dict[str, Any]]) -> dict[str, float]:
    """One line of the table."""
    normalised = np.array([r["normalised"] for r in rows])
    figures = {f"{title} %": 100 * rms(rows, title) for title in ("length", "true length")}
    return {
        "n": len(rows),
        "normalised": float(np.sqrt(normalised.mean())),
        "median": float(np.median(normalised)),
        "within": float((6 * normalised < chi2.ppf(0.9, 6)).mean()),
        **figures,
        **{title: rms(rows, title) for title in ("degrees", "true degrees")},
    }


def rms(rows: list[dict[str, Any]], title: str) -> float:
    return float(np.sqrt(np.mean([r[title] ** 2 for r in rows])))


def measure(condition: str, seed: int, count: int) -> list[dict[str, Any]]:
    recipe = Recipe(shapes=(*EVERYDAY, *FORMS), pieces=(2, 4), wear=CONDITIONS[condition])
    objects, assembler = GeneratedObjects(seed, recipe), Assembler(NO_WEIGHTS)
    rows = []
    for k in range(count):
        made, rng = objects[STEP * k], np.random.default_rng([seed, k])
        size = float(np.ptp(np.concatenate([part.vertices for part in made.parts]), axis=0).max())
        T = [Pose.random(rng, size) for _ in made.parts]
        rows += [{"condition": condition, "object": made.name, **r} for r in judged(made.parts, T, size, assembler)]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=25, help="of each condition (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=300, help="of the objects (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="write the figures there")
    args = parser.parse_args()
    rows = [r for condition in CONDITIONS for r in measure(condition, args.seed, args.objects)]
    lines: dict[str, dict[str, float]] = {}
    for condition in CONDITIONS:
        for what in ("joins", "parts"):
            some = [r for r in rows if r["condition"] == condition and r["what"] == what]
            right = [r for r in some if r["true degrees"] < RIGHT]
            lines[f"{condition} {what}"] = {**summary(right), "wrong": len(some) - len(right)}
    show(lines)
    if args.json:
        write_result(args.json, {"table": lines, "rows": rows})


if __name__ == "__main__":
    main()
