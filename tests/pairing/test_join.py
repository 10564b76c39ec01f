"""Two parts moved at random find each other again; parts that do not belong together do not."""

import numpy as np
import pytest
from manifold3d import Manifold

from breaking import broken, prepared, solid_bar, thin_neck, to_part
from cmnet.geometry.pose import Pose
from cmnet.pairing.pair import joins, suggestions
from cmnet.pairing.surface.frames import pose_of_parts, pose_of_surfaces
from cmnet.parts.part import Part
from cmnet.settings import COARSE, FINE, FIRST


def assert_right(found, truth, part, turn=0.3, shift=0.003):
    assert found, "no join at all"
    assert found[0].T_i_j.angle_to(truth) < turn
    middle = part.vertices.mean(axis=0)
    assert np.linalg.norm(found[0].T_i_j.apply(middle) - truth.apply(middle)) < shift


@pytest.mark.parametrize(("name", "look"), [("bar_parts", COARSE), ("bowl_parts", COARSE), ("bowl_parts", FIRST)])
def test_a_broken_solid_and_a_thin_bowl_are_joined_exactly(name, look, request):
    parts = request.getfixturevalue(name)
    T = Pose.random(np.random.default_rng(5), 1.0)
    surfaces = prepared([parts[0], parts[1].moved(T)], look)
    found = joins(*surfaces)
    assert_right(found, T.inverse(), parts[1].moved(T))
    assert found[0].confidence > 0.5
    assert found[0].gap_rms < 0.003
    assert sum(j.confidence for j in found) <= 1 + 1e-9


def test_a_thin_neck_is_joined_by_a_closer_look_only():
    parts = broken(thin_neck(0.05), np.random.default_rng(3))
    T = Pose.random(np.random.default_rng(1), 1.0)
    moved = [parts[0], parts[1].moved(T)]
    assert not any(j.confidence > 0.5 for j in joins(*prepared(moved)))
    found = joins(*prepared(moved, FINE))
    assert_right(found, T.inverse(), moved[1])
    assert found[0].confidence > 0.5


def test_confidence_orders_the_joins_and_parts_are_named(bar):
    found = joins(*bar, parts=(4, 7))
    assert all(j.parts == (4, 7) and 0 <= j.confidence <= 1 and not j.used for j in found)
    assert [j.confidence for j in found] == sorted((j.confidence for j in found), reverse=True)


def test_parts_of_different_objects_are_not_accepted(bar_parts, bowl_parts):
    found = joins(*prepared([bar_parts[0], bowl_parts[1]]))
    assert not any(j.confidence > 0.5 for j in found)


def test_parts_without_creases_have_no_joins():
    ball = to_part("ball", Manifold.sphere(0.5, 64))
    assert joins(*prepared([ball, Part("other", ball.vertices * 0.7, ball.faces)])) == []


@pytest.mark.parametrize(
    "part",
    [
        Part("four points", np.eye(4, 3)),
        Part("one triangle", np.eye(3), np.array([[0, 1, 2]])),
        Part("flat cloud", np.random.default_rng(0).uniform(0, 1, (300, 3)) * [1, 1, 0]),
    ],
    ids=lambda part: part.name,
)
def test_parts_with_nothing_to_hold_on_to_have_no_sure_joins(part, bar_parts):
    surfaces = prepared([bar_parts[0], part])
    assert not any(j.confidence > 0.5 for j in joins(*surfaces) + joins(*reversed(surfaces)))


def test_scale_does_not_matter(bar_parts):
    large = [Part(p.name, 1000 * p.vertices, p.faces) for p in bar_parts]
    small, big = joins(*prepared(bar_parts, COARSE))[0], joins(*prepared(large, COARSE))[0]
    np.testing.assert_allclose(big.T_i_j.t / 1000, small.T_i_j.t, atol=1e-4)
    np.testing.assert_allclose(big.T_i_j.R, small.T_i_j.R, atol=1e-4)
    assert big.contact_area == pytest.approx(1e6 * small.contact_area, rel=1e-3)


def test_oriented_clouds_are_joined_as_well():
    parts = broken(solid_bar(), np.random.default_rng(8))
    surfaces = prepared(parts)
    clouds = [
        Part(p.name, s.T_part_surface.apply(s.unit * s.points), None, s.T_part_surface.rotate(s.normals))
        for p, s in zip(parts, surfaces)
    ]
    assert_right(joins(*prepared(clouds, COARSE)), Pose.identity(), clouds[1], turn=1.0, shift=0.01)


def test_poses_of_parts_and_surfaces_are_inverse_to_each_other(bar, motion):
    a, b = bar
    back = pose_of_parts(a, b, pose_of_surfaces(a, b, motion))
    np.testing.assert_allclose(back.matrix(), motion.matrix(), atol=1e-12)


def test_what_coarse_surfaces_suggest_is_found_on_fine_ones(bar_parts):
    T = Pose.random(np.random.default_rng(5), 1.0)
    moved = [bar_parts[0], bar_parts[1].moved(T)]
    suggested = suggestions(*prepared(moved, COARSE), 6)
    assert 1 <= len(suggested) <= 6
    found = joins(*prepared(moved), suggested=suggested)
    assert_right(found, T.inverse(), moved[1])
    assert found[0].confidence > 0.9
