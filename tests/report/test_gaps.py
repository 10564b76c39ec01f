import numpy as np
import pytest
import trimesh

from cmnet.geometry.pose import Pose
from cmnet.pairing.join import Join
from cmnet.parts.part import Part
from cmnet.report.gaps import closest_points, distance_to_others, gaps_of_assembly, gaps_of_join, target
from cmnet.solving.assembly import Assembly


def box(shift=(0.0, 0.0, 0.0), name="box"):
    mesh = trimesh.creation.box().subdivide_to_size(0.3)
    return Part(name, np.asarray(mesh.vertices) + shift, np.asarray(mesh.faces, dtype=np.int64))


def test_signed_distance_to_a_box():
    rng = np.random.default_rng(0)
    points = rng.uniform(-0.9, 0.9, (2000, 3))
    outside = np.linalg.norm(np.maximum(np.abs(points) - 0.5, 0), axis=1)
    inside = np.minimum(np.abs(points).max(axis=1) - 0.5, 0)
    surface = target(box())
    error = np.abs(surface.distances(points, 2.0) - (outside + inside))
    assert (error < 1e-9).mean() > 0.99  # exact but where the nearest face was not among those looked at
    assert error.max() < 0.1 * surface.spacing


def test_distances_end_at_the_reach():
    points = np.array([[0.6, 0, 0], [0.8, 0, 0], [5.0, 0, 0]])
    assert np.array_equal(np.isfinite(target(box()).distances(points, 0.2)), [True, False, False])


def test_a_cloud_is_a_surface_too():
    mesh = trimesh.creation.icosphere(4)
    cloud = Part("cloud", np.asarray(mesh.vertices), None, np.asarray(mesh.vertex_normals))
    points = np.array([[1.1, 0, 0], [0, 0.95, 0], [0, 0, 1.0]])
    assert np.allclose(target(cloud).distances(points, 0.3), [0.1, -0.05, 0.0], atol=5e-3)


def test_a_very_fine_mesh_is_sampled():
    ball = trimesh.creation.icosphere(7)
    surface = target(Part("ball", np.asarray(ball.vertices), np.asarray(ball.faces)))
    assert surface.corners is None
    points = np.random.default_rng(0).normal(size=(500, 3))
    points *= (np.linspace(0.95, 1.05, 500) / np.linalg.norm(points, axis=1))[:, None]
    assert np.allclose(surface.distances(points, 0.2), np.linspace(-0.05, 0.05, 500), atol=0.05 * surface.spacing)
    assert np.allclose(np.linalg.norm(surface.snapped(points), axis=1), 1, atol=0.05 * surface.spacing)


def test_closest_points_are_no_farther_than_any_other():
    rng = np.random.default_rng(1)
    points, corners = rng.normal(size=(200, 3)), rng.normal(size=(200, 3, 3))
    found = closest_points(points, corners)
    weights = rng.dirichlet((1, 1, 1), (500, 1))
    others = np.einsum("snk,nkc->snc", np.broadcast_to(weights, (500, 200, 3)), corners)
    least = np.linalg.norm(others - points, axis=2).min(axis=0)
    assert (np.linalg.norm(found - points, axis=1) <= least + 1e-9).all()


@pytest.mark.parametrize("gap", [0.05, -0.05])
def test_gap_and_overlap_of_two_boxes_whatever_their_frames(gap):
    rng = np.random.default_rng(2)
    T = Pose.random(rng, 3.0)
    parts = [box(), box().moved(T)]
    T_0_1 = Pose(np.eye(3), np.array([1 + gap, 0, 0])) @ T.inverse()
    targets = [target(part) for part in parts]
    poses = np.stack([np.eye(4), T_0_1.matrix()])
    placed = gaps_of_assembly(Assembly(poses, [[0, 1]], [], []), targets, 0.2)
    joined = gaps_of_join(Join((0, 1), T_0_1, 1.0, 1.0, gap, 0.0), targets, 0.2)
    for a, b in zip(placed, joined, strict=True):
        assert np.allclose(a, b)
    facing = np.isclose(parts[0].vertices[:, 0], 0.5) & (np.abs(parts[0].vertices[:, 1:]) < 0.4).all(axis=1)
    assert np.allclose(placed[0][facing], gap)
    assert np.isinf(placed[0][parts[0].vertices[:, 0] < 0]).all()


def test_parts_that_are_not_placed_have_no_gaps():
    parts = [box(), box((1.0, 0, 0)), box((2.0, 0, 0))]
    targets = [target(part) for part in parts]
    assembly = Assembly(np.tile(np.eye(4), (3, 1, 1)), [[0, 1]], [2], [])
    gaps = gaps_of_assembly(assembly, targets, 0.1)
    assert np.isfinite(gaps[1]).any()
    assert np.isinf(gaps[2]).all()
    assert distance_to_others(assembly, targets, 2, 0.1) is None
    assert distance_to_others(assembly, targets, 0, 0.1)(np.array([[0.45, 0, 0]])) == pytest.approx(0.05, abs=0.02)
