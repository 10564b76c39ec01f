"""More samples at edges, the asked number of them, whatever the pose."""

import numpy as np
import pytest
import trimesh

from cmnet.geometry.focus import focused, unevenness
from cmnet.geometry.pose import Pose
from cmnet.geometry.sampling import sample_surface


@pytest.fixture(scope="module")
def plate():
    mesh = trimesh.creation.box((1, 1, 0.05))
    return sample_surface(mesh.vertices, mesh.faces, 2000, np.random.default_rng(0))


def near_edge(xyz):
    return np.abs(xyz[:, :2]).max(axis=1) > 0.46


def test_edges_get_their_share_and_the_number_is_kept(plate):
    xyz, normals = plate
    seen = focused(xyz, normals, 1000, 0.5)
    assert seen.sum() == 1000
    assert near_edge(xyz[seen]).mean() > 1.6 * near_edge(xyz).mean()
    assert (~near_edge(xyz[seen])).sum() > 300  # the rest is still there
    assert focused(xyz, normals, 2000, 0.5).all()


def test_the_two_sides_of_a_sheet_are_no_edge(plate):
    xyz, normals = plate
    middle = np.abs(xyz[:, :2]).max(axis=1) < 0.3
    assert unevenness(xyz, normals)[middle].max() < 1e-6


def test_moving_and_scaling_change_nothing(plate):
    xyz, normals = plate
    T = Pose.random(np.random.default_rng(1), 5.0)
    moved = focused(100 * T.apply(xyz), T.rotate(normals), 1000, 0.5)
    assert (moved == focused(xyz, normals, 1000, 0.5)).mean() > 0.98  # ties aside
