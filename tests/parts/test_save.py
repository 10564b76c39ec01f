import numpy as np
import pytest
import trimesh

from cmnet.parts.load import load_part
from cmnet.parts.part import Part
from cmnet.parts.save import save_part

BALL = trimesh.creation.icosphere(2)


def test_a_saved_part_comes_back_exactly(tmp_path):
    part = Part("ball", np.asarray(BALL.vertices) / 3, np.asarray(BALL.faces))
    save_part(part, tmp_path / "ball.ply")
    back = load_part(tmp_path / "ball.ply")
    assert np.array_equal(back.vertices[back.faces], part.vertices[part.faces])


@pytest.mark.parametrize("normals", [None, np.asarray(BALL.vertices)])
def test_a_saved_cloud_comes_back_exactly(tmp_path, normals):
    part = Part("cloud", np.asarray(BALL.vertices) / 3, normals=normals)
    save_part(part, tmp_path / "cloud.ply")
    back = load_part(tmp_path / "cloud.ply")
    assert back.faces is None
    assert np.array_equal(back.vertices, part.vertices)
    assert (back.normals is None) == (normals is None)
