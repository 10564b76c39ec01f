"""What is left over when all else is in place is sought with patience: more poses, and more time for each to settle."""

from __future__ import annotations

from collections.abc import Sequence

from cmnet.geometry.pose import Pose
from cmnet.pairing.candidates import candidates
from cmnet.pairing.joins import pose_of_parts, pose_of_surfaces
from cmnet.pairing.propose.gaps import AFAR, CLOSELY, propose_in_holes
from cmnet.pairing.stages import ALL, Stages
from cmnet.pairing.two_looks import Seen, Twice, examine_twice, of_like_relief


def seek(close: Seen, far: Seen, suggested: Sequence[Pose] = (), stages: Stages = ALL) -> list[Twice]:
    """Distinct poses between two parts, or groups, the surest first: as two looks find them, and in holes.

    suggested : T_i_j of the parts
    """
    poses = list(suggested)
    in_holes = [propose_in_holes(*far, AFAR), propose_in_holes(*close, CLOSELY)] if stages.geometric else [[], []]
    for seen, holes in ((far, in_holes[0]), (close, [])):
        found = candidates(*seen, [*(pose_of_surfaces(*seen, T) for T in suggested), *holes], stages)
        poses += [pose_of_parts(*seen, c.T_a_b) for c in found]
    poses += [pose_of_parts(*close, T) for T in in_holes[1]]
    poses += of_like_relief(*close) if stages.geometric else []
    return examine_twice(close, far, poses, patient=True)
