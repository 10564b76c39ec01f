"""Poses that two looks examine: what fits by chance from afar rarely fits closely too, nor the other way round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cmnet.geometry.pose import Pose
from cmnet.pairing.candidates import distinct_poses, same_turn
from cmnet.pairing.confidence import logit, logit_twice, shares
from cmnet.pairing.joins import pose_of_parts, pose_of_surfaces
from cmnet.pairing.refine import COARSE, refine
from cmnet.pairing.surface import Surface
from cmnet.pairing.verify import Evidence, verify

TURN, SHIFT = 5.0, 0.05  # degrees and units by which a look may settle a pose that another one has found
FLOOR = -7.0  # log odds below which what one look has found is not shown to the other

Seen = tuple[Surface, Surface]  # two parts, or groups, in one look


@dataclass(frozen=True, eq=False)
class Twice:
    """One pose between two parts, what speaks for it closely and from afar, and how probable it is."""

    T_i_j: Pose
    close: Evidence
    far: Evidence
    confidence: float


def worth_showing(evidence: Evidence) -> bool:
    """Whether a pose that one look has found is worth being examined by the other."""
    return logit(evidence) > FLOOR


def examine_twice(close: Seen, far: Seen, poses: Sequence[Pose]) -> list[Twice]:
    """Distinct poses between two parts as both looks see them, the surest first.

    poses : T_i_j of the parts, found by either look
    """
    if close[0].area < close[1].area:  # as candidates are: the smaller part against the larger one
        swapped = examine_twice((close[1], close[0]), (far[1], far[0]), [T.inverse() for T in poses])
        return [Twice(c.T_i_j.inverse(), c.close, c.far, c.confidence) for c in swapped]
    shown = [_examined(close, far, T) for T in poses]
    shown.sort(key=lambda row: -logit_twice(row[1], row[2]))
    inner = [pose_of_surfaces(*close, T) for T, _, _ in shown]
    shown = [shown[k] for k in distinct_poses(inner, same_turn(close[1]))]
    sure = shares(np.array([logit_twice(near, wide) for _, near, wide in shown]))
    return [Twice(*row, float(p)) for row, p in zip(shown, sure)]


def _examined(close: Seen, far: Seen, T_i_j: Pose) -> tuple[Pose, Evidence, Evidence]:
    """The pose, settled closely if that holds it, and what each look sees where the pose settles in it."""
    near, wide = _settled(close, T_i_j), _settled(far, T_i_j)
    return pose_of_parts(*close, near), verify(*close, near), verify(*far, wide)


def _settled(seen: Seen, T_i_j: Pose) -> Pose:
    """The pose between the surfaces, where they hold it."""
    before = pose_of_surfaces(*seen, T_i_j)
    after = refine(*seen, refine(*seen, before, COARSE))
    moved = np.linalg.norm(after.t - before.t)
    return after if after.angle_to(before) < TURN and moved < SHIFT else before
