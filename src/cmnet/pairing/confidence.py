"""How sure a join is: one of the candidates of a pair is right, or none of them is.

The probability of candidate i is exp(s_i) / (1 + Σ_j exp(s_j)), with s_i linear in its evidence and 1 standing for
"none". Two candidates that contradict each other with equal evidence therefore share the confidence.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cmnet.pairing.verify import Evidence

Array = NDArray[np.float64]

# Fitted by benchmarks/confidence.py on generated objects, looked at in all three ways, half of the objects worn:
# `cmnet dataset build --preset training --objects 54` with --seed 77, and with --seed 78 --wear light.
COEFFICIENTS = {
    "constant": -16.68,
    "rim": 1.90,
    "closure": 4.63,
    "contact": 0.93,
    "gap": -4.82,
    "near": -2.86,
    "inside": -1.18,
    "hold": 1.18,
    "grip": 2.31,
}


def features(evidence: Evidence) -> Array:
    """(9,) float, in the order of COEFFICIENTS. Logarithms: twice the rim is as much more at any size."""
    e = evidence
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
        ]
    )


def logit(evidence: Evidence) -> float:
    """The log odds of one candidate against none, were it the only one."""
    return float(features(evidence) @ np.array(list(COEFFICIENTS.values())))


def confidences(evidence: Sequence[Evidence]) -> Array:
    """(c,) float in [0, 1]: the probability of each candidate of one pair; they add up to at most 1."""
    scores = np.array([logit(e) for e in evidence])
    top = max(float(scores.max(initial=0.0)), 0.0)
    weights = np.exp(scores - top)
    return np.asarray(weights / (np.exp(-top) + weights.sum()))
