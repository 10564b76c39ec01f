"""Fit the tables that confidences are computed with, and show how honest they are.

    python benchmarks/pairs.py ROOT --half all --pieces 2 3 4 5 6 7 8 --pairs mixed --look first --log log.json
    python benchmarks/confidence.py log.json --fit

One log for each look (first, coarse, fine) and each ROOT. Without weights they give geometry's table, which stands in
cmnet.judgement. With --weights, given to both commands, they give that network's table one_look; --store TEXT keeps it
in the file of the weights, with what it was fitted on. Logs of --look both then give the table two_looks; those with
--pairs belonging, too, the table belonging. Each rests on those before it: these are kept, later ones are dropped.

Every pair of a log is one observation: which of its candidates is right, or none. The coefficients maximise the
likelihood of what was observed, with a small penalty on their size. What speaks against a join may not speak for it in
the table: parts that run into each other must not gain by it, however the examples happen to fall. Without --fit, the
table that is there is judged. With --worth, tables are fitted on some objects and judged on the others, with all
features and without each of them: what it is worth to look at it.
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

from cmnet.judgement import GEOMETRY, NAMES, Judgement
from cmnet.model.weights import NO_WEIGHTS, load_network, with_judgement
from cmnet.pairing.judge.confidence import features, features_belonging, features_twice, logit_twice
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
    """One pair: the features (c, f) of its candidates, by name, and which of them is right (−1: none).

    kind : the table that judges it
    """

    name: str
    kind: str
    names: tuple[str, ...]
    features: np.ndarray
    right: int


def observations(logs: list[Path], judgement: Judgement) -> list[Seen]:
    """Every pair of which there are candidates."""
    seen = []
    for log in logs:
        for row in json.loads(log.read_text(encoding="utf-8")):
            if found := row["candidates"]:
                right = [k for k, c in enumerate(found) if _right(c, row["kind"])]
                kind = _kind(found[0]["evidence"], row["kind"])
                shown = [_features(c["evidence"], kind, judgement) for c in found]
                values = np.array([list(features.values()) for features in shown])
                seen.append(Seen(row["name"], kind, tuple(shown[0]), values, right[0] if right else -1))
    return seen


def _right(candidate: dict[str, Any], kind: str) -> bool:
    if "close" in candidate["evidence"] and kind != "belonging":
        return candidate["turn"] < WORN_TURN and candidate["shift"] < WORN_SHIFT
    return candidate["right"]


def _kind(evidence: dict[str, Any], pairs: str) -> str:
    if "close" not in evidence:
        return "one_look"
    return "belonging" if pairs == "belonging" else "two_looks"


def _features(evidence: dict[str, Any], kind: str, judgement: Judgement) -> dict[str, float]:
    if kind == "one_look":
        return features(Evidence(**evidence))
    seen = Evidence(**evidence["close"]), Evidence(**evidence["far"]), evidence["relief"], judgement
    return features_belonging(logit_twice(*seen)) if kind == "belonging" else features_twice(*seen)


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


def judgement_in(weights: str) -> Judgement:
    """The tables of weights; geometry's, without any, or where none were fitted with them."""
    return GEOMETRY if weights == NO_WEIGHTS else load_network(weights).judgement or GEOMETRY


def fitted(known: Judgement, kind: str, table: dict[str, float], fitted_on: str) -> Judgement:
    """With a new table, those that it rests on, and none of those that rest on it."""
    kinds = list(NAMES)
    kept = {k: getattr(known, k) for k in kinds[: kinds.index(kind)]}
    return Judgement(**{**kept, kind: table}, fitted_on=fitted_on)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", type=Path, nargs="+", help="what benchmarks/pairs.py --log wrote")
    parser.add_argument("--weights", default=NO_WEIGHTS, help="of the logs (default: %(default)s, geometry alone)")
    parser.add_argument("--fit", action="store_true", help="fit anew and print the table")
    parser.add_argument("--store", metavar="TEXT", help="with --fit: keep it in the weights, which were fitted on TEXT")
    parser.add_argument("--worth", action="store_true", help="judge on objects not fitted on, without each feature")
    parser.add_argument("--json", type=Path, help="write what --worth shows there")
    args = parser.parse_args()
    if args.store and (not args.fit or args.weights == NO_WEIGHTS):
        parser.error("--store goes with --fit and --weights")
    judgement = judgement_in(args.weights)
    seen = observations(args.logs, judgement)
    kind, names = seen[0].kind, seen[0].names
    if any(pair.names != names for pair in seen):
        parser.error("the logs are of different kinds; give those of one table")
    if args.worth:
        lines = worth(seen, names)
        show(lines)
        if args.json:
            write_result(args.json, {"table": lines})
        return
    if args.fit:
        table = np.round(fit(seen, names), 2)
        print("\n".join(f'    "{name}": {value:.2f},' for name, value in zip(names, table)))
    elif known := getattr(judgement, kind):
        table = np.array([known.get(name, 0.0) for name in names])
    else:
        parser.error(f"{args.weights} has no table {kind} to judge by; --fit makes one")
    if args.store:
        with_judgement(args.weights, fitted(judgement, kind, dict(zip(names, table.tolist())), args.store))
    reliability(table, seen)
    possible = [probabilities(table, s.features)[:-1].argmax() == s.right for s in seen if s.right >= 0]
    print(f"right first where a candidate is right: {np.mean(possible):.3f} of {len(possible)} pairs")


if __name__ == "__main__":
    main()
