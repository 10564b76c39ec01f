"""Poses that two looks examine: what fits by chance from afar rarely fits closely too, nor the other way round.

What is left over when all else is in place is sought with patience: more poses, and more time for each to settle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cmnet.geometry.pose import Pose
from cmnet.judgement import Judgement
from cmnet.pairing.align.icp import refine
from cmnet.pairing.align.joint_icp import Body, settled_together
from cmnet.pairing.judge.confidence import logit, logit_twice, shares
from cmnet.pairing.judge.evidence import Evidence, verify
from cmnet.pairing.judge.relief import common_relief
from cmnet.pairing.pair import candidates, distinct_poses, same_turn
from cmnet.pairing.propose.breaks import contact, propose_touching, settled_on_breaks
from cmnet.pairing.propose.creases import distinct, overlap, poses_of
from cmnet.pairing.propose.gaps import propose_in_holes
from cmnet.pairing.propose.relief import propose_faces
from cmnet.pairing.surface.frames import pose_of_parts, pose_of_surfaces
from cmnet.pairing.surface.surface import Surface

FOR_CONTACT, AGAINST_OVERLAP = 0.5, 0.7  # what these count, where relief counts 1
FLOOR = -7.0  # log odds below which what one look has found is not shown to the other

Seen = tuple[Surface, Surface]  # two parts, or groups, in one look


@dataclass(frozen=True, eq=False)
class Twice:
    """One pose between two parts, what speaks for it closely and from afar, and how probable it is.

    judgement : of the surfaces that are looked at
    relief    : see `common_relief`, closely; 0 where nobody says what is broken
    """

    T_i_j: Pose
    close: Evidence
    far: Evidence
    judgement: Judgement
    relief: float = 0.0
    confidence: float = 0.0

    @property
    def logit(self) -> float:
        """Its log odds, were it the only one."""
        return logit_twice(self.close, self.far, self.relief, self.judgement)


def worth_showing(evidence: Evidence, judgement: Judgement) -> bool:
    """Whether a pose that one look has found is worth being examined by the other."""
    return logit(evidence, judgement) > FLOOR


def of_like_relief(a: Surface, b: Surface) -> list[Pose]:
    """T_i_j in which breaks touch, and go up and down together: all that is left of them where edges are worn."""
    if a.broken is None or b.broken is None:
        return []
    if a.area < b.area:
        return [T.inverse() for T in of_like_relief(b, a)]
    budget = a.scale.budget
    by_faces = settled_on_breaks(a, b, poses_of(propose_faces(a, b, budget.like_faces)))
    poses = poses_of(propose_touching(a, b, budget.like_touching, near=budget.like_near)).joined(by_faces)
    relief = np.array([common_relief(a, b, poses.one(i)) for i in range(len(poses))])
    area, sunk = contact(a, b, poses, budget.like_judges, budget.like_near), overlap(a, b, poses)
    score = np.log1p(relief) + FOR_CONTACT * np.log(area + 1e-3) - AGAINST_OVERLAP * np.log1p(sunk)
    chosen = distinct(poses, score.astype(np.float32), budget.like_kept, a.scale.tolerances)
    return [pose_of_parts(a, b, poses.one(i)) for i in chosen]


def seek(close: Seen, far: Seen, suggested: Sequence[Pose] = ()) -> list[Twice]:
    """Distinct poses between two parts, or groups, the surest first: as two looks find them, and in gaps.

    suggested : T_i_j of the parts
    """
    poses, in_gaps = list(suggested), propose_in_holes(*far)
    for seen, gaps in ((far, in_gaps), (close, [])):
        found = candidates(*seen, [*(pose_of_surfaces(*seen, T) for T in suggested), *gaps])
        poses += [pose_of_parts(*seen, c.T_a_b) for c in found]
    poses += [pose_of_parts(*close, T) for T in propose_in_holes(*close)]
    poses += of_like_relief(*close)
    return examine_twice(close, far, poses, patient=True)


def examine_twice(close: Seen, far: Seen, poses: Sequence[Pose], patient: bool = False) -> list[Twice]:
    """Distinct poses between two parts as both looks see them, the surest first.

    poses   : T_i_j of the parts, found by either look
    patient : let every pose settle in two ways, and keep the better one
    """
    if close[0].area < close[1].area:  # as candidates are: the smaller part against the larger one
        swapped = examine_twice((close[1], close[0]), (far[1], far[0]), [T.inverse() for T in poses], patient)
        return [replace(c, T_i_j=c.T_i_j.inverse()) for c in swapped]
    examined = _examining(close, far, patient)
    shown = sorted(map(examined, poses), key=lambda pose: -pose.logit)
    inner = [pose_of_surfaces(*close, pose.T_i_j) for pose in shown]
    shown = [shown[k] for k in distinct_poses(inner, same_turn(close[1]), close[0].scale.tolerances.same_shift)]
    sure = shares(np.array([pose.logit for pose in shown]))
    return [replace(pose, confidence=float(p)) for pose, p in zip(shown, sure)]


def _examining(close: Seen, far: Seen, patient: bool) -> Callable[[Pose], Twice]:
    """What settles a pose of two parts, and says what each look sees where it settles in it."""

    def refined(T_i_j: Pose, near: Pose) -> Twice:
        wide = _held(far, T_i_j)
        return Twice(pose_of_parts(*close, near), verify(*close, near), verify(*far, wide), close[0].judgement)

    if any(surface.broken is None for surface in close):  # skin is not told from breaks
        return lambda T_i_j: refined(T_i_j, _held(close, T_i_j))
    here, there = [[Body.of(surface) for surface in seen] for seen in (close, far)]

    def examined(T_i_j: Pose) -> Twice:
        held = _held(close, T_i_j)
        before = pose_of_parts(*close, held)
        wide = settled_together(there, [Pose.identity(), before])[1]
        settling = [(settled_together(here, [Pose.identity(), wide])[1], wide)]
        if patient:  # from afar, what a small contact holds slides out of a place that is right
            near = settled_together(here, [Pose.identity(), before])[1]
            settling.append((near, near))
        seen = [_at(close, far, *poses) for poses in settling if not _slipped_off(close, before, poses[0])]
        shown = [_with_relief(close, pose) for pose in seen or [refined(T_i_j, held)]]
        return max(shown, key=lambda pose: pose.logit)

    return examined


def _at(close: Seen, far: Seen, near: Pose, wide: Pose) -> Twice:
    """What is seen of two parts where they settle closely and where they settle from afar."""
    closely, afar = (verify(*seen, pose_of_surfaces(*seen, T)) for seen, T in ((close, near), (far, wide)))
    return Twice(near, closely, afar, close[0].judgement)


def _with_relief(close: Seen, pose: Twice) -> Twice:
    return replace(pose, relief=common_relief(*close, pose_of_surfaces(*close, pose.T_i_j)))


def _slipped_off(seen: Seen, before: Pose, after: Pose) -> bool:
    """Whether part j has left its place: hardly anything holds a crumb."""
    limits, middle = seen[0].scale.tolerances, seen[1].T_part_surface.t
    return not after.is_near(before, limits.slipped_turn, limits.slipped_shift * seen[1].unit, middle)


def _held(seen: Seen, T_i_j: Pose) -> Pose:
    """The pose between the surfaces, where they hold it."""
    limits, before = seen[0].scale.tolerances, pose_of_surfaces(*seen, T_i_j)
    after = refine(*seen, refine(*seen, before, seen[0].scale.budget.rough))
    return after if after.is_near(before, limits.settled_turn, limits.settled_shift) else before
