"""How sure a join is: one of the candidates of a pair is right, or none of them is.

The probability of candidate i is exp(s_i) / (1 + Σ_j exp(s_j)), with s_i linear in its evidence and 1 standing for
"none". Two candidates that contradict each other with equal evidence therefore share the confidence. The numbers are
those of a `Judgement`, by name; benchmarks/confidence.py fits them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cmnet.geometry.types import Array
from cmnet.judgement import GEOMETRY, Judgement, Table
from cmnet.pairing.judge.evidence import Evidence
from cmnet.pairing.judge.relief import GRAIN

UNSEEN, UNLIKE = -8.0, -3.0  # below these, it makes no difference how little a look sees, and how little relief says


def features(evidence: Evidence) -> dict[str, float]:
    """What one look sees of a pose. Logarithms: twice the rim is as much more at any size."""
    e = evidence
    seen = {
        "constant": 1.0,
        "rim": np.log(e.rim + 0.01),
        "closure": e.closure,
        "contact": np.log(e.contact + 1e-4),
        "gap": np.log(e.gap + 3e-4),
        "near": e.near / (e.near + e.contact + 1e-6),
        "inside": np.log1p(100 * e.inside),
        "hold": np.log(max(e.hold, 0.0) + 1e-4),
        "grip": np.log(max(e.grip, 0.0) + 1e-4),
    }
    if e.broken is None:  # geometry's table was fitted before relief and width were measured
        return seen
    more = {"relief": np.log(e.relief + 3e-4), "width": np.log(e.width + 0.01), "broken": np.log(e.broken + 0.02)}
    return {**seen, **more}


def features_twice(close: Evidence, far: Evidence, relief: float, judgement: Judgement) -> dict[str, float]:
    """What two looks see of a pose: the log odds of the look that is surer of it, and what the reliefs say.

    relief : nats, from `common_relief`; the larger a contact is, the more it must say
    """
    surer = max(logit(close, judgement), logit(far, judgement), UNSEEN)
    said = max(np.log1p(relief) - np.log(close.contact / GRAIN**2 + 3), UNLIKE)
    return {"constant": 1.0, "surer": surer, "relief": said}


def features_belonging(score: float) -> dict[str, float]:
    """Of a pose of a part that is known to belong to a group. score : its log odds, were it the only one"""
    return {"constant": 1.0, "alone": score}


def weighed(seen: Mapping[str, float], table: Table) -> float:
    """What is seen, times the numbers of the same names; what the table does not name does not count."""
    names = [name for name in seen if name in table]  # one order of adding up, whatever that of the table
    return float(np.array([seen[name] for name in names]) @ np.array([table[name] for name in names]))


def logit(evidence: Evidence, judgement: Judgement) -> float:
    """The log odds of one candidate against none, were it the only one; geometry's where nobody says what is broken."""
    known = GEOMETRY if evidence.broken is None else judgement
    return weighed(features(evidence), known.one_look)


def logit_twice(close: Evidence, far: Evidence, relief: float, judgement: Judgement) -> float:
    """The same of a pose that two looks have examined; as from afar where nobody says what is broken, or no table."""
    if judgement.two_looks is None or close.broken is None or far.broken is None:
        return logit(far, judgement)
    return weighed(features_twice(close, far, relief, judgement), judgement.two_looks)


def where_it_belongs(logits: Sequence[float], belonging: Table) -> list[float]:
    """In [0, 1]: of poses of two that are known to belong together, how probable the place of each is.

    One place is right, however a part is turned there, though it may not be among those found.
    logits : the log odds of each against none, were it the only one
    """
    return shares(np.array([weighed(features_belonging(score), belonging) for score in logits])).tolist()


def confidences(evidence: Sequence[Evidence], judgement: Judgement) -> Array:
    """(c,) float in [0, 1]: the probability of each candidate of one pair; they add up to at most 1."""
    return shares(np.array([logit(e, judgement) for e in evidence]))


def shares(scores: Array) -> Array:
    """(c,) float in [0, 1]: the same, of their log odds."""
    top = max(float(scores.max(initial=0.0)), 0.0)
    weights = np.exp(scores - top)
    return np.asarray(weights / (np.exp(-top) + weights.sum()))
