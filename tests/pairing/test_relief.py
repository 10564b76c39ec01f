"""The reliefs of two breaks that belong together are one; those that fit by chance have nothing in common."""

import numpy as np
import pytest

from cmnet.geometry.pose import Pose
from cmnet.pairing.joins import pose_of_surfaces
from cmnet.pairing.relief import GRAIN, common_relief


def nats(surfaces, T_i_j):
    return common_relief(*surfaces, pose_of_surfaces(*surfaces, T_i_j))


def shifted(surfaces, units):
    """Along the break, which is level."""
    return Pose(np.eye(3), units * surfaces[0].unit * np.array([0.6, 0.8, 0.0]))


@pytest.mark.parametrize("name", ["egg", "bar"])
def test_what_belongs_together_goes_up_and_down_together(name, request):
    surfaces = request.getfixturevalue(name)
    in_place = nats(surfaces, Pose.identity())
    assert in_place > 100
    assert in_place > nats(surfaces, shifted(surfaces, GRAIN)) > nats(surfaces, shifted(surfaces, 5 * GRAIN))


def test_a_break_turned_about_its_own_axis_has_nothing_in_common(egg):
    half = Pose(np.diag([-1.0, -1.0, 1.0]), np.zeros(3))
    assert nats(egg, half) < 0.05 * nats(egg, Pose.identity())


def test_either_side_may_be_asked_first(egg):
    T = pose_of_surfaces(*egg, shifted(egg, 0.3 * GRAIN))
    assert common_relief(*egg, T) == pytest.approx(common_relief(*egg[::-1], T.inverse()))


def test_what_does_not_meet_says_nothing(egg):
    assert nats(egg, Pose(np.eye(3), np.array([0.0, 0.0, 10.0]))) == 0.0
