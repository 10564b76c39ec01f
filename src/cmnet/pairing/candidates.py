"""From hypotheses to a handful of distinct, refined and examined poses of a pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cmnet.geometry.pose import Pose
from cmnet.pairing.confidence import logit
from cmnet.pairing.hypotheses import propose, sinking
from cmnet.pairing.refine import COARSE, refine
from cmnet.pairing.surface import Surface
from cmnet.pairing.verify import Evidence, rim_length, verify

PROPOSED = 24  # hypotheses that are refined coarsely
EXAMINED = 12  # of which so many, by the length of rim they close, are examined
FINISHED = 6  # and so many, by all they show, refined to the end
SINKING = 0.01  # units of rim that one probe deep inside the other part outweighs
SAME_TURN, SAME_SHIFT = 4.0, 0.02  # degrees and units: poses nearer to each other than this are one


@dataclass(frozen=True, eq=False)
class Candidate:
    """One pose of b in a's frame (the frames of the surfaces), and what speaks for it."""

    T_a_b: Pose
    evidence: Evidence


def candidates(a: Surface, b: Surface) -> list[Candidate]:
    """Distinct poses in which the two parts may belong together."""
    coarse = _distinct([refine(a, b, h.T_a_b, COARSE) for h in propose(a, b, PROPOSED)])
    closing = sorted(coarse, key=lambda T: rim_length(a, b, T) - SINKING * sinking(a, b, T), reverse=True)
    likely = sorted(closing[:EXAMINED], key=lambda T: logit(verify(a, b, T)), reverse=True)
    fine = _distinct([refine(a, b, T) for T in likely[:FINISHED]])
    return [Candidate(T, verify(a, b, T)) for T in fine]


def _distinct(poses: list[Pose]) -> list[Pose]:
    """The poses without those that repeat an earlier one."""
    kept: list[Pose] = []
    for T in poses:
        if not any(T.angle_to(other) < SAME_TURN and np.linalg.norm(T.t - other.t) < SAME_SHIFT for other in kept):
            kept.append(T)
    return kept
