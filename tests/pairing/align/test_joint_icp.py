"""Breaks come to touch, and the skin goes on across the crack."""

import numpy as np
import pytest

from breaking import prepared, thin_bowl, to_part
from cmnet.geometry.pose import Pose
from cmnet.pairing.align.joint_icp import Body, _begin, _going_on, settled_together
from cmnet.settings import COARSE
from worlds import jolt


@pytest.fixture(scope="module")
def cracked():
    """A thin bowl in two parts, a little of it lost between them."""
    bowl, lost = thin_bowl(), 0.002
    halves = [bowl.trim_by_plane([0, 0, side], lost) for side in (1, -1)]
    return prepared([to_part(name, half) for name, half in zip("ab", halves)], COARSE)


def across(cracked, T_1):
    """The gaps of skin that goes on from one part to the other, which lies at T_1."""
    a, b = (_begin(Body.of(surface), T) for surface, T in zip(cracked, (Pose.identity(), T_1)))
    found = _going_on(a, b, 0.06, 0.02)
    assert len(found.x) > 10
    return found.gap


def test_skin_that_goes_on_shows_no_step_on_a_sphere_but_shows_one_that_is_there(cracked):
    step = Pose(np.eye(3), np.array([0.0, 0.01, 0.0]))
    assert np.abs(across(cracked, Pose.identity())).mean() < 1e-3  # at distances of up to 0.06: it is round
    assert np.abs(across(cracked, step)).mean() > 3e-3


def off(T):
    """How far a part lies beside its place, and how far it is turned there."""
    return np.linalg.norm(T.t) + np.radians(T.angle_to(Pose.identity()))


@pytest.mark.parametrize("seed", range(3))
def test_two_parts_settle_in_their_places_and_either_may_stay(egg, seed):
    bodies, beside = [Body.of(surface) for surface in egg], jolt(np.random.default_rng(seed), 0.003)
    first = settled_together(bodies, [Pose.identity(), beside])
    other = settled_together(bodies, [Pose.identity(), beside], stays=[1])
    np.testing.assert_array_equal(first[0].matrix(), np.eye(4))
    np.testing.assert_array_equal(other[1].matrix(), beside.matrix())
    for T_0, T_1 in (first, other):
        assert off(T_0.inverse() @ T_1) < 0.5 * off(beside)


def test_where_both_lie_does_not_matter(egg):
    bodies, beside = [Body.of(surface) for surface in egg], jolt(np.random.default_rng(3), 0.003)
    away = Pose.random(np.random.default_rng(4), 10.0)
    here = settled_together(bodies, [Pose.identity(), beside])[1]
    there = settled_together(bodies, [away, away @ beside])[1]
    np.testing.assert_allclose((away.inverse() @ there).matrix(), here.matrix(), atol=1e-4)
