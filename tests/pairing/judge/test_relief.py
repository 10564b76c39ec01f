"""The reliefs of two breaks that belong together are one; those that fit by chance have nothing in common."""

import numpy as np
import pytest
from manifold3d import Manifold

from breaking import prepared, rough_half_space, to_part
from cmnet.geometry.pose import Pose
from cmnet.pairing.judge import relief
from cmnet.pairing.judge.relief import GRAIN, common_relief
from cmnet.pairing.surface.frames import pose_of_surfaces
from cmnet.parts.part import Part


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


def worn(solid, side, rng, width=0.012, depth=0.006):
    """Half of a plate with the border of its break worn off, unevenly; side : 1 lies below the break, −1 above."""
    part = to_part("half", solid.refine_to_length(0.02))
    x = part.vertices.copy()
    inward = np.minimum(0.25 - np.abs(x[:, 0]), 0.03 - np.abs(x[:, 1]))
    lost = np.clip(1 - inward / width, 0, 1) * (np.abs(x[:, 2]) < 0.1)
    x[:, 2] -= side * depth * lost * rng.uniform(0.2, 1.0, len(x))
    return Part(part.name, x, part.faces)


def test_a_worn_border_does_not_silence_what_lies_inside_it(monkeypatch):
    rng = np.random.default_rng(0)
    plate = Manifold.cube([0.5, 0.06, 1.0], True)
    knife = rough_half_space(rng, height=0.01)
    surfaces = prepared([worn(plate ^ knife, 1, rng), worn(plate - knife, -1, rng)])
    said, elsewhere = (nats(surfaces, T) for T in (Pose.identity(), shifted(surfaces, 5 * GRAIN)))
    monkeypatch.setattr(relief, "BORDER", 0.0)
    by_all = nats(surfaces, Pose.identity())
    assert said > 3 * by_all
    assert said > 10 * elsewhere
