"""What the network says about breaks, read off at other points of the surface."""

import numpy as np

from breaking import fitted
from cmnet.geometry.pose import Pose
from cmnet.pairing.judge.confidence import logit
from cmnet.pairing.judge.evidence import verify
from cmnet.pairing.surface.breaks import Breaks
from cmnet.pairing.surface.combined import combine
from cmnet.pairing.surface.frames import pose_of_surfaces
from cmnet.pairing.surface.surface import prepare, unit_of
from cmnet.parts.points import sample_parts


def plate(thickness):
    """Both faces of a thin plate, skin above and break below."""
    side = np.linspace(0, 1, 30)
    top = np.stack(np.meshgrid(side, side, [thickness], indexing="ij"), axis=-1).reshape(-1, 3)
    below = top * [1, 1, 0]
    up = np.tile([0.0, 0, 1], (len(top), 1))
    return Breaks(np.vstack([top, below]), np.vstack([up, -up]), np.repeat([0.0, 1.0], len(top)))


def test_a_thin_wall_does_not_mix_its_two_sides():
    breaks = plate(0.01)
    points = np.random.default_rng(0).uniform(0.1, 0.9, (50, 3)) * [1, 1, 0.01]
    up = np.tile([0.0, 0, 1], (50, 1))
    assert breaks.at(points, up).max() < 0.01
    assert breaks.at(points, -up).min() > 0.99


def test_near_a_break_is_where_one_sample_of_it_is():
    breaks = plate(1.0)
    assert breaks.near(np.array([[0.5, 0.5, 0.0]]), 0.2).all()
    assert not breaks.near(np.array([[0.5, 0.5, 1.0]]), 0.2).any()


def told(parts, probability):
    """Surfaces of parts that someone holds for broken, everywhere alike."""
    unit, sampled = unit_of(parts), sample_parts(parts, 2000, 0)
    said = [Breaks(p.xyz, p.normals, np.full(len(p), probability)) for p in sampled]
    return [prepare(part, unit, breaks=b) for part, b in zip(parts, said)]


def test_contact_on_breaks_speaks_for_a_join_and_skin_on_skin_against(bar_parts):
    a, b = told(bar_parts, 0.9)
    c, d = told(bar_parts, 0.1)
    T = pose_of_surfaces(a, b, Pose.identity())
    on_breaks, on_skin = verify(a, b, T), verify(c, d, T)
    assert np.isclose(on_breaks.broken, 0.9)
    assert np.isclose(on_skin.broken, 0.1)
    assert logit(on_breaks, fitted()) > logit(on_skin, fitted()) + 1


def test_where_nobody_says_what_is_broken_there_is_no_such_evidence(bar_parts):
    unit = unit_of(bar_parts)
    a, b = told(bar_parts, 0.9)[0], prepare(bar_parts[1], unit)
    assert verify(a, b, pose_of_surfaces(a, b, Pose.identity())).broken is None


def test_a_group_says_what_its_parts_said(bar_parts):
    a, b = told(bar_parts, 0.3)
    group = combine([a, b], [Pose.identity(), Pose.identity()])
    assert group.broken is not None
    assert group.broken.shape == (len(group.points),)
    assert np.allclose(group.broken, 0.3)
