"""Fit the table of coefficients in cmnet.pairing.judge.confidence, and show how honest it is.

    python benchmarks/pairs.py ROOT --half all --pieces 2 3 4 5 6 7 8 --pairs mixed --look first --log log.json
    python benchmarks/confidence.py log.json --fit

One log for each look (first, coarse, fine) and each ROOT; with --weights cmnet-base they give the table WITH_BREAKS.
Logs of --look both, with --weights cmnet-base, then give the table TWICE; of these, those with --pairs belonging the
table BELONGING.

Every pair of a log is one observation: which of its candidates is right, or none. The coefficients maximise the
likelihood of what was observed, with a small penalty on their size. What speaks against a join may not speak for it in
the table: parts that run into each other must not gain by it, however the examples happen to fall. Without --fit, the
table in the code is judged. With --worth, tables are fitted on some objects and judged on the others, with all features
and without each of them: what it is worth to look at it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from cmnet.pairing.judge.confidence import (
    BELONGING,
    COEFFICIENTS,
    TWICE,
    WITH_BREAKS,
    features,
    features_belonging,
    features_twice,
    logit_twice,
)
from cmnet.pairing.judge.evidence import Evidence
from reporting import show, write_result

PENALTY = 0.02  # on squared coefficients of standardised features
# What speaks against a join, by so much at least. Hardly any good candidate runs into its partner, so examples alone
# do not teach that none may.
AGAINST = {"gap": 0.0, "near": 0.0, "inside": -1.0}
# Degrees, and shares of the object's largest side, by which a right pose may be off where two looks examine it: worn
# breaks say no more, and what is off by so little settles when all parts settle together.
WORN_TURN, WORN_SHIFT = 8.0, 0.04
FOLDS = 6  # the objects are divided into so many parts, of which one is judged by a table fitted on the others
BINS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 1.0)


@dataclass(frozen=True, eq=False)
class Seen:
    """One pair: the features (c, f) of its candidates, and which of them is right (−1: none)."""

    name: str
    features: np.ndarray
    right: int


def observations(logs: list[Path]) -> list[Seen]:
    """Every pair of which there are candidates."""
    seen = []
    for log in logs:
        for row in json.loads(log.read_text(encoding="utf-8")):
            if found := row["candidates"]:
                right = [k for k, c in enumerate(found) if _right(c, row["kind"])]
                evidence = np.array([_features(c["evidence"], row["kind"]) for c in found])
                seen.append(Seen(row["name"], evidence, right[0] if right else -1))
    return seen


def _right(candidate: dict[str, Any], kind: str) -> bool:
    if "close" in candidate["evidence"] and kind != "belonging":
        return candidate["turn"] < WORN_TURN and candidate["shift"] < WORN_SHIFT
    return candidate["right"]


def _features(evidence: dict[str, Any], kind: str) -> np.ndarray:
    if "close" in evidence:
        looks = (Evidence(**evidence[look]) for look in ("close", "far"))
        seen = *looks, evidence["relief"]
        return features_belonging(logit_twice(*seen)) if kind == "belonging" else features_twice(*seen)
    return features(Evidence(**evidence))


def probabilities(table: np.ndarray, X: np.ndarray) -> np.ndarray:
    """(c + 1,) float: of every candidate, and of none."""
    scores = np.append(X @ table, 0.0)
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


def fit(seen: Sequence[Seen], names: Sequence[str]) -> np.ndarray:
    X = np.concatenate([pair.features for pair in seen])
    mean, scale = X.mean(axis=0), X.std(axis=0)
    mean[0], scale[0] = 0.0, 1.0
    X = (X - mean) / scale
    counts = np.array([len(pair.features) for pair in seen])
    starts, own = np.cumsum(counts) - counts, np.repeat(np.arange(len(seen)), counts)
    right = X[[start + pair.right for start, pair in zip(starts, seen) if pair.right >= 0]]

    def loss(table: np.ndarray) -> tuple[float, np.ndarray]:
        """Convex, so there is one best table; with its gradient."""
        scores = X @ table
        top = np.maximum(np.maximum.reduceat(scores, starts), 0.0)  # none at all scores 0
        weights = np.exp(scores - top[own])
        total = np.add.reduceat(weights, starts) + np.exp(-top)
        penalty = PENALTY * np.append(0.0, table[1:])
        value = (np.log(total) + top).sum() - (right @ table).sum() + penalty @ table
        slope = (weights / total[own]) @ X - right.sum(axis=0) + 2 * penalty
        return value / len(seen), slope / len(seen)

    signs = [(None, scale[k] * AGAINST[name]) if name in AGAINST else (0.0, None) for k, name in enumerate(names)]
    bounds = [(None, None), *signs[1:]]
    options = {"maxiter": 10_000, "ftol": 1e-14, "gtol": 1e-9}
    best = minimize(loss, np.zeros(len(mean)), method="L-BFGS-B", jac=True, bounds=bounds, options=options).x
    table = best / scale
    table[0] = best[0] - (best[1:] * mean[1:] / scale[1:]).sum()
    return table


def worth(seen: Sequence[Seen], names: Sequence[str]) -> dict[str, dict[str, float]]:
    """How well objects are judged that a table was not fitted on: by all features, and without some of them."""
    left_out: dict[str, tuple[str, ...]] = {"all": (), **{f"without {name}": (name,) for name in names[1:]}}
    if {"relief", "width"} <= set(names):
        left_out["without relief, width"] = ("relief", "width")
    return {title: _judged(seen, names, without) for title, without in left_out.items()}


def _judged(seen: Sequence[Seen], names: Sequence[str], without: Sequence[str]) -> dict[str, float]:
    kept = [k for k, name in enumerate(names) if name not in without]
    pairs = [replace(pair, features=pair.features[:, kept]) for pair in seen]
    fold = [hashlib.sha256(pair.name.encode()).digest()[0] % FOLDS for pair in pairs]
    loss, taken = 0.0, []
    for number in range(FOLDS):
        table = fit([pair for pair, f in zip(pairs, fold) if f != number], [names[k] for k in kept])
        for pair in (pair for pair, f in zip(pairs, fold) if f == number):
            p = probabilities(table, pair.features)
            loss -= float(np.log(p[pair.right]))
            taken += [int(p[:-1].argmax()) == pair.right] if p[:-1].max() >= 0.5 else []
    possible = sum(pair.right >= 0 for pair in pairs)
    figures = {"accepted": len(taken), "right": sum(taken), "loss": loss / len(pairs)}
    return {"pairs": len(pairs), "possible": possible, **figures}


def reliability(table: np.ndarray, seen: Sequence[Seen]) -> None:
    """For joins that claim so much: how many there are, what they claim on average, and how many are right."""
    claims = [(p, k == s.right) for s in seen for k, p in enumerate(probabilities(table, s.features)[:-1])]
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
    parser.add_argument("--worth", action="store_true", help="judge on objects not fitted on, without each feature")
    parser.add_argument("--json", type=Path, help="write what --worth shows there")
    args = parser.parse_args()
    seen = observations(args.logs)
    tables = (COEFFICIENTS, WITH_BREAKS, TWICE, BELONGING)
    known = next(table for table in tables if len(table) == seen[0].features.shape[1])
    if args.worth:
        lines = worth(seen, list(known))
        show(lines)
        if args.json:
            write_result(args.json, {"table": lines})
        return
    table = fit(seen, list(known)) if args.fit else np.array(list(known.values()))
    if args.fit:
        print("\n".join(f'    "{name}": {value:.2f},' for name, value in zip(known, table)))
    reliability(table, seen)
    possible = [probabilities(table, s.features)[:-1].argmax() == s.right for s in seen if s.right >= 0]
    print(f"right first where a candidate is right: {np.mean(possible):.3f} of {len(possible)} pairs")


if __name__ == "__main__":
    main()
