"""Fit the table of coefficients in cmnet.pairing.confidence, and show how honest it is.

    python benchmarks/pairs.py ROOT --half all --pieces 2 3 4 5 6 7 8 --pairs mixed --look first --log log.json
    python benchmarks/confidence.py log.json --fit

One log for each look (first, coarse, fine) and each ROOT; with --weights cmnet-base they give the table WITH_BREAKS.

Every pair of a log is one observation: which of its candidates is right, or none. The coefficients maximise the
likelihood of what was observed, with a small penalty on their size. What speaks against a join may not speak for it in
the table: parts that run into each other must not gain by it, however the examples happen to fall. Without --fit, the
table in the code is judged.
"""

from __future__ import annotations

import argparse
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from cmnet.pairing.confidence import COEFFICIENTS, WITH_BREAKS, features
from cmnet.pairing.verify import Evidence

PENALTY = 0.02  # on squared coefficients of standardised features
# What speaks against a join, by so much at least. Hardly any good candidate runs into its partner, so examples alone
# do not teach that none may.
AGAINST = {"gap": 0.0, "near": 0.0, "inside": -1.0}
BINS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 1.0)


def observations(logs: list[Path]) -> list[tuple[np.ndarray, int]]:
    """Of every pair the features (c, f) of its candidates, and which of them is right (−1: none)."""
    rows: list[dict[str, Any]] = [row for log in logs for row in json.loads(log.read_text(encoding="utf-8"))]
    seen = []
    for row in rows:
        found = row["candidates"]
        if found:
            right = [k for k, c in enumerate(found) if c["right"]]
            seen.append((np.array([features(Evidence(**c["evidence"])) for c in found]), right[0] if right else -1))
    return seen


def probabilities(table: np.ndarray, X: np.ndarray) -> np.ndarray:
    """(c + 1,) float: of every candidate, and of none."""
    scores = np.append(X @ table, 0.0)
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


def fit(seen: list[tuple[np.ndarray, int]], names: list[str]) -> np.ndarray:
    stacked = np.concatenate([X for X, _ in seen])
    mean, scale = stacked.mean(axis=0), stacked.std(axis=0)
    mean[0], scale[0] = 0.0, 1.0

    standard = [((X - mean) / scale, k) for X, k in seen]

    def loss(table: np.ndarray) -> tuple[float, np.ndarray]:
        """Convex, so there is one best table; with its gradient."""
        value, slope = 0.0, np.zeros(len(table))
        for X, k in standard:
            p = probabilities(table, X)
            value -= np.log(p[k] + 1e-300)
            slope += p[:-1] @ X - (X[k] if k >= 0 else 0.0)
        penalty = PENALTY * np.append(0.0, table[1:])
        return (value + penalty @ table) / len(seen), (slope + 2 * penalty) / len(seen)

    signs = [(None, scale[k] * AGAINST[name]) if name in AGAINST else (0.0, None) for k, name in enumerate(names)]
    bounds = [(None, None), *signs[1:]]
    options = {"maxiter": 10_000, "ftol": 1e-14, "gtol": 1e-9}
    best = minimize(loss, np.zeros(len(mean)), method="L-BFGS-B", jac=True, bounds=bounds, options=options).x
    table = best / scale
    table[0] = best[0] - (best[1:] * mean[1:] / scale[1:]).sum()
    return table


def reliability(table: np.ndarray, seen: list[tuple[np.ndarray, int]]) -> None:
    """For joins that claim so much: how many there are, what they claim on average, and how many are right."""
    claims = [(p, k == truth) for X, truth in seen for k, p in enumerate(probabilities(table, X)[:-1])]
    claimed, right = (np.array(v, dtype=float) for v in zip(*claims))
    print(f"{'claims':>14}{'joins':>8}{'mean':>8}{'right':>8}")
    for low, high in pairwise(BINS):
        inside = (claimed >= low) & ((claimed < high) | (high == 1))
        if inside.any():
            line = f"{low:6.2f} – {high:4.2f}{inside.sum():9d}{claimed[inside].mean():8.2f}{right[inside].mean():8.2f}"
            print(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", type=Path, nargs="+", help="what benchmarks/pairs.py --log wrote")
    parser.add_argument("--fit", action="store_true", help="fit anew and print the table to put into the code")
    args = parser.parse_args()
    seen = observations(args.logs)
    known = COEFFICIENTS if seen[0][0].shape[1] == len(COEFFICIENTS) else WITH_BREAKS
    table = fit(seen, list(known)) if args.fit else np.array(list(known.values()))
    if args.fit:
        print("\n".join(f'    "{name}": {value:.2f},' for name, value in zip(known, table)))
    reliability(table, seen)
    best = [(probabilities(table, X)[:-1].argmax(), truth) for X, truth in seen]
    possible = [k == truth for k, truth in best if truth >= 0]
    print(f"right first where a candidate is right: {np.mean(possible):.3f} of {len(possible)} pairs")


if __name__ == "__main__":
    main()
