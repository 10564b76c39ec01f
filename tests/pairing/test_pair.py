"""Of poses that come together the best one is a candidate."""

from itertools import combinations

import pytest
from scipy.spatial.transform import Rotation

import cmnet.pairing.pair as module
from cmnet.geometry.pose import Pose
from cmnet.pairing.pair import candidates
from cmnet.pairing.surface.frames import pose_of_surfaces
from cmnet.settings import Tolerances


@pytest.fixture
def truth(bar):
    """The pose of the second half in the first one's frame; the halves lie in their places."""
    return pose_of_surfaces(*bar, Pose.identity())


@pytest.mark.parametrize("order", [1, -1])
def test_a_better_pose_is_not_lost_to_a_worse_one_beside_it(bar, truth, order, monkeypatch):
    """Whichever of the two is tried first, and where both end where they began."""
    monkeypatch.setattr(module, "refine", lambda a, b, T, *schedule: T)
    monkeypatch.setattr(module, "propose", lambda *_: [])
    beside = Pose(truth.R @ Rotation.from_rotvec([0.04, 0, 0]).as_matrix(), truth.t)
    assert beside.angle_to(truth) < Tolerances().same_turn
    found = candidates(*bar, [beside, truth][::order])
    assert len(found) == 1
    assert found[0].T_a_b.angle_to(truth) < 1e-6


def test_candidates_are_distinct_and_the_surest_comes_first(bar):
    found = candidates(*bar)
    sure = [candidate.confidence for candidate in found]
    assert sure == sorted(sure, reverse=True)
    same = Tolerances()
    for one, other in combinations((candidate.T_a_b for candidate in found), 2):
        assert not one.is_near(other, same.same_turn, same.same_shift)
