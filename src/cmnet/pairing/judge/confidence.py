"""How sure a join is: one of the candidates of a pair is right, or none of them is.

The probability of candidate i is exp(s_i) / (1 + Σ_j exp(s_j)), with s_i linear in its evidence and 1 standing for
"none". Two candidates that contradict each other with equal evidence therefore share the confidence.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cmnet.geometry.types import Array
from cmnet.pairing.judge.evidence import Evidence
from cmnet.pairing.judge.relief import GRAIN

# Fitted by benchmarks/confidence.py on generated objects, looked at in all three ways, half of the objects worn:
# `cmnet dataset build --preset training --objects 54` with --seed 77, and with --seed 78 --wear light.
COEFFICIENTS = {
    "constant": -15.32,
    "rim": 1.89,
    "closure": 4.74,
    "contact": 0.98,
    "gap": -4.63,
    "near": -2.80,
    "inside": -1.26,
    "hold": 1.19,
    "grip": 2.27,
}
# The same where the network (cmnet-base) suggests poses and says what is broken, with the shape of the contact besides.
# The finest look was taken at clean objects only, five of each number of pieces, for it shows hardly any of a worn
# break; a coarse one at 60 more worn objects (--seed 178) besides, those in 3 to 8 pieces, five further pairs of each.
WITH_BREAKS = {
    "constant": -28.45,
    "rim": 1.58,
    "closure": 10.40,
    "contact": 0.89,
    "gap": -8.35,
    "near": -8.00,
    "inside": -2.06,
    "hold": 0.00,
    "grip": 1.12,
    "relief": 2.60,
    "width": 2.06,
    "broken": 4.47,
}
# Of a pose that two looks have examined: the log odds of the look that is surer of it, and what the reliefs say for the
# size of the contact. Fitted on pairs and groups of 24 worn objects with stems (--shapes branch,stem,horn,spoon,
# wine_glass,wine_bottle --seed 922 --pieces 3-9 --wear light) and of some of 48 worn ones (--preset training --seed 903
# --pieces 3-14 --wear light) and 20 clean ones (--seed 904 --pieces 3-12), both with --limit 1: `benchmarks/pairs.py
# --half development` and `held-out`, `--pieces 3 4 … 14 --pairs mixed --others 2 --groups 2 --look both`.
TWICE = {"constant": 2.65, "surer": 1.01, "relief": 2.70}
UNSEEN, UNLIKE = -8.0, -3.0  # below these, it makes no difference how little a look sees, and how little relief says
# Of a pose of a part that is known to belong to a group: that this is its place, however it is turned there. One place
# is right, though it may not be among those found. Fitted on small parts of the worn objects of --seed 903, by the log
# odds of the coarse look alone; for those of two looks, a table fitted on 62 parts and groups (--seed 903 and 941) is
# hardly better: a loss of 0.781 against 0.785. `benchmarks/pairs.py --pairs belonging --look both` collects them now.
BELONGING = {"constant": 1.16, "alone": 0.59}


def features(evidence: Evidence) -> Array:
    """(9,) or (12,) float, in the order of the table. Logarithms: twice the rim is as much more at any size."""
    e = evidence
    more = []
    if e.broken is not None:  # the table without the network was fitted before relief and width were measured
        more = [np.log(e.relief + 3e-4), np.log(e.width + 0.01), np.log(e.broken + 0.02)]
    return np.array(
        [
            1.0,
            np.log(e.rim + 0.01),
            e.closure,
            np.log(e.contact + 1e-4),
            np.log(e.gap + 3e-4),
            e.near / (e.near + e.contact + 1e-6),
            np.log1p(100 * e.inside),
            np.log(max(e.hold, 0.0) + 1e-4),
            np.log(max(e.grip, 0.0) + 1e-4),
            *more,
        ]
    )


def logit(evidence: Evidence) -> float:
    """The log odds of one candidate against none, were it the only one."""
    table = COEFFICIENTS if evidence.broken is None else WITH_BREAKS
    return float(features(evidence) @ np.array(list(table.values())))


def logit_twice(close: Evidence, far: Evidence, relief: float) -> float:
    """The same of a pose that two looks have examined; where nobody says what is broken, as from afar.

    relief : nats, from `common_relief`
    """
    if close.broken is None or far.broken is None:
        return logit(far)
    return float(features_twice(close, far, relief) @ np.array(list(TWICE.values())))


def features_twice(close: Evidence, far: Evidence, relief: float) -> Array:
    """(3,) float, in the order of the table. The larger a contact is, the more its relief must say."""
    surer = max(logit(close), logit(far), UNSEEN)
    return np.array([1.0, surer, max(np.log1p(relief) - np.log(close.contact / GRAIN**2 + 3), UNLIKE)])


def where_it_belongs(logits: Sequence[float]) -> list[float]:
    """In [0, 1]: of poses of two that are known to belong together, how probable the place of each is.

    logits : the log odds of each against none, were it the only one
    """
    return shares(np.array([features_belonging(s) @ np.array(list(BELONGING.values())) for s in logits])).tolist()


def features_belonging(score: float) -> Array:
    """(2,) float, in the order of the table. score : log odds of a pose that two looks have examined"""
    return np.array([1.0, score])


def confidences(evidence: Sequence[Evidence]) -> Array:
    """(c,) float in [0, 1]: the probability of each candidate of one pair; they add up to at most 1."""
    return shares(np.array([logit(e) for e in evidence]))


def shares(scores: Array) -> Array:
    """(c,) float in [0, 1]: the same, of their log odds."""
    top = max(float(scores.max(initial=0.0)), 0.0)
    weights = np.exp(scores - top)
    return np.asarray(weights / (np.exp(-top) + weights.sum()))
