import numpy as np
import pytest
import trimesh

from cmnet.geometry.pose import Pose
from cmnet.geometry.triangles import areas, normals_and_areas, signed_volume, winding_number


@pytest.fixture(scope="module")
def triangles():
    """Of a block of 1 x 2 x 3 somewhere in space."""
    T = Pose.random(np.random.default_rng(0), spread=5.0)
    return trimesh.creation.box((1, 2, 3), T.matrix()).triangles


def test_a_block_has_its_area_and_volume_wherever_it_is(triangles):
    assert areas(triangles).sum() == pytest.approx(22)
    assert signed_volume(triangles) == pytest.approx(6)
    assert signed_volume(triangles[:, ::-1]) == pytest.approx(-6)


def test_normals_are_of_unit_length_and_face_outwards(triangles):
    normals, area = normals_and_areas(triangles)
    assert np.linalg.norm(normals, axis=1) == pytest.approx(1)
    assert (np.einsum("mc,mc->m", normals, triangles.mean(axis=1) - triangles.mean(axis=(0, 1))) > 0).all()
    assert (area == areas(triangles)).all()
    assert np.abs(area @ normals).max() < 1e-12  # as of every closed surface


def test_a_triangle_without_area_has_the_normal_zero():
    normals, area = normals_and_areas(np.ones((1, 3, 3)))
    assert (normals == 0).all()
    assert (area == 0).all()


def test_winding_number_tells_inside_from_outside(triangles):
    middle = triangles.mean(axis=(0, 1))
    assert winding_number(triangles, middle) == pytest.approx(1)
    assert winding_number(triangles[:, ::-1], middle) == pytest.approx(-1)
    assert winding_number(triangles, middle + 4) == pytest.approx(0, abs=1e-9)
