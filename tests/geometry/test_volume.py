"""Boxes of voxels: what lies where, and which side of a surface it is on."""

import numpy as np
import pytest
import trimesh

from cmnet.geometry.cloud import areas_of_points
from cmnet.geometry.pose import Pose
from cmnet.geometry.sampling import sample_faces
from cmnet.geometry.volume import Box, nearest_in_box, winding_in_box, winding_of_cloud

SHAPES = [trimesh.creation.box((1, 0.8, 0.6)), trimesh.creation.torus(0.5, 0.2), trimesh.creation.icosphere(3)]


def box_around(mesh, voxels=40_000):
    return Box.around(np.asarray(mesh.vertices), 0.15, voxels, 0.001)


def test_every_centre_falls_into_its_own_voxel():
    box = box_around(SHAPES[0], 5000)
    np.testing.assert_array_equal(box.voxel(box.centres()), np.arange(np.prod(box.shape)))


def test_a_field_is_looked_up_where_points_are_after_a_pose():
    box, rng = box_around(SHAPES[1], 5000), np.random.default_rng(0)
    field = rng.random(int(np.prod(box.shape))).astype(np.float32)
    T, points = Pose.random(rng, 0.3), rng.uniform(-1, 1, (500, 3))
    np.testing.assert_array_equal(box.at(field, T, points), field[box.voxel(T.apply(points))])


def test_points_outside_count_as_the_outermost_voxels_which_know_nothing():
    box = box_around(SHAPES[2], 5000)
    index, distance = nearest_in_box(box, np.asarray(SHAPES[2].vertices), 10.0)
    far = box.voxel(np.array([[50.0, 0, 0], [0, -50.0, 0], [50.0, 50.0, 50.0]]))
    assert np.isinf(distance[far]).all()
    assert (index[far] == len(SHAPES[2].vertices)).all()


def test_nearest_points_are_nearest():
    box, points = box_around(SHAPES[1], 8000), np.asarray(SHAPES[1].vertices)
    index, distance = nearest_in_box(box, points, 0.3)
    known = np.flatnonzero(np.isfinite(distance))[::37]
    expected = np.linalg.norm(points[None] - box.centres()[known][:, None], axis=2).min(axis=1)
    assert (distance[known] >= expected - 1e-6).all()
    assert (distance[known] <= expected + 2 * np.sqrt(3) * box.size).all()
    found = np.linalg.norm(points[index[known]] - box.centres()[known], axis=1)
    np.testing.assert_allclose(found, distance[known], rtol=1e-5)


@pytest.mark.parametrize("mesh", SHAPES)
def test_voxels_inside_fill_the_volume(mesh):
    box = box_around(mesh)
    winding = winding_in_box(box, mesh.triangles)
    np.testing.assert_allclose(winding, np.rint(winding), atol=1e-5)
    assert (winding > 0.5).sum() * box.size**3 == pytest.approx(mesh.volume, rel=0.03)


def test_a_small_hole_does_not_turn_the_inside_out():
    mesh = SHAPES[2]
    box = box_around(mesh)
    whole, torn = (winding_in_box(box, triangles) > 0.5 for triangles in (mesh.triangles, mesh.triangles[20:]))
    assert (whole != torn).mean() < 0.01


@pytest.mark.parametrize("noise", [0.0, 0.005])
@pytest.mark.parametrize("kept", [1.0, 0.3], ids=["even", "sparser on one side"])
def test_a_cloud_is_inside_where_its_mesh_is(noise, kept):
    mesh = trimesh.creation.box((1.0, 0.6, 0.1))
    box = Box.around(mesh.vertices, 0.3, 40_000, 0.0)
    rng = np.random.default_rng(0)
    points, normals = sample_faces(mesh.triangles, 6000, rng)
    points = points + noise * rng.standard_normal(points.shape)
    there = (points[:, 0] < 0) | (rng.random(len(points)) < kept)
    points, normals = points[there], normals[there]
    winding = winding_of_cloud(box, points, normals, areas_of_points(points, normals))
    true, beside = winding_in_box(box, mesh.triangles) > 0.5, nearest_in_box(box, points, 1.0)[1] > 0.03
    assert beside[true].sum() > 100
    assert ((winding > 0.5) == true)[beside].mean() > 0.999


@pytest.mark.parametrize("extent", [(1e6, 0.1, 0.1), (1e9, 1e9, 1e-3), (1e40, 1, 1)])
def test_long_thin_things_take_no_more_voxels_than_others(extent):
    points = np.array([[0.0, 0.0, 0.0], extent])
    box = Box.around(points, 0.05, 500_000, 0.004)
    assert np.prod(box.shape) <= 4 * 500_000
    assert (box.origin < 0).all()
    assert (box.origin + box.size * (np.array(box.shape) - 1) > extent).all()
