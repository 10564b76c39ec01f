"""Two surfaces: from proposals to a handful of distinct, refined and examined poses, and how sure each of them is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cmnet.geometry.pose import Pose
from cmnet.pairing.align.icp import refine
from cmnet.pairing.join import Join
from cmnet.pairing.judge.confidence import confidences, logit
from cmnet.pairing.judge.evidence import Evidence, verify
from cmnet.pairing.judge.uncertainty import uncertainty_of
from cmnet.pairing.propose.breaks import propose_touching
from cmnet.pairing.propose.creases import poses_of, propose, scores
from cmnet.pairing.surface.frames import pose_of_parts, pose_of_surfaces
from cmnet.pairing.surface.surface import Surface


@dataclass(frozen=True, eq=False)
class Candidate:
    """One pose of b in a's frame (the frames of the surfaces), what speaks for it, and how probable it is."""

    T_a_b: Pose
    evidence: Evidence
    confidence: float


def joins(a: Surface, b: Surface, parts: tuple[int, int] = (0, 1), suggested: Sequence[Pose] = ()) -> list[Join]:
    """Ways to put b against a, the surest first; often none or one.

    parts : the indices to name them by; suggested : further hypotheses, T_i_j between the parts
    """
    found = candidates(a, b, [pose_of_surfaces(a, b, T) for T in suggested])
    return [join_of(a, b, parts, candidate) for candidate in found]


def suggestions(a: Surface, b: Surface, count: int) -> list[Pose]:
    """T_i_j of two parts as their creases suggest it, unexamined: from surfaces at one scale, for those at another."""
    return [pose_of_parts(a, b, hypothesis.T_a_b) for hypothesis in propose(a, b, count)]


def join_of(a: Surface, b: Surface, parts: tuple[int, int], candidate: Candidate) -> Join:
    """A candidate as a join between parts, in their unit."""
    unit, evidence = a.unit, candidate.evidence
    return Join(
        parts,
        pose_of_parts(a, b, candidate.T_a_b),
        candidate.confidence,
        evidence.contact * unit**2,
        evidence.gap * unit,
        evidence.depth * unit,
        uncertainty=uncertainty_of(a, b, candidate.T_a_b, evidence),
    )


def candidates(a: Surface, b: Surface, suggested: Sequence[Pose] = ()) -> list[Candidate]:
    """Distinct poses in which the two parts may belong together, the surest first.

    suggested : further hypotheses, poses of b in a's frame
    """
    if a.area < b.area:  # the smaller part is tried against the larger one, in whatever order they are named
        swapped = candidates(b, a, [T.inverse() for T in suggested])
        return [Candidate(c.T_a_b.inverse(), c.evidence, c.confidence) for c in swapped]
    limits, budget = a.scale.tolerances, a.scale.budget
    others = [*propose_touching(a, b, a.scale.touching), *suggested]
    by_creases = [h.T_a_b for h in propose(a, b, budget.proposed, a.scale.width)]
    poses = [refine(a, b, T, budget.rough) for T in [*by_creases, *others]]
    same = same_turn(b), limits.same_shift
    poses = [poses[k] for k in distinct_poses(poses, *(limits.repeated * near for near in same))]
    # As many more as do not rest on creases: where edges are worn away, no rim closes.
    poses = _examined(a, b, poses, budget.examined + len(others))
    poses = [refine(a, b, poses[k]) for k in distinct_poses(poses, *same)[: budget.finished]]
    # Of poses that have come together the best: some stop beside the place where they fit.
    shown = sorted(((T, verify(a, b, T)) for T in poses), key=lambda pair: -logit(pair[1], a.judgement))
    shown = [shown[k] for k in distinct_poses([T for T, _ in shown], *same)]
    sure = confidences([e for _, e in shown], a.judgement)
    found = [Candidate(T, e, float(p)) for (T, e), p in zip(shown, sure)]
    return sorted(found, key=lambda candidate: -candidate.confidence)


def _examined(a: Surface, b: Surface, poses: list[Pose], count: int) -> list[Pose]:
    """The `count` poses that close the most rim, by all they show but the gap, which the last refinement settles."""
    closing = [poses[i] for i in np.argsort(-scores(a, b, poses_of(poses)), kind="stable")[:count]]
    return sorted(closing, key=lambda T: -logit(replace(verify(a, b, T), gap=0.0, near=0.0), a.judgement))


def same_turn(b: Surface) -> float:
    """Degrees within which two poses of b are one: the smaller it is, the less a turn moves it."""
    limits = b.scale.tolerances
    size = float(np.sqrt((b.points**2).sum(axis=1).mean())) if len(b.points) else 1.0
    return float(np.clip(np.degrees(limits.same_swing / max(size, 1e-9)), limits.same_turn, limits.widest_turn))


def distinct_poses(poses: Sequence[Pose], turn: float, shift: float) -> list[int]:
    """Which poses are not, up to a turn in degrees and a shift in units, like an earlier one."""
    kept: list[int] = []
    for k, T in enumerate(poses):
        if not any(T.is_near(poses[other], turn, shift) for other in kept):
            kept.append(k)
    return kept
