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


def test_clouds_are_not_written_as_meshes(tmp_path):
    with pytest.raises(ValueError, match="cloud"):
        save_part(Part("cloud", np.asarray(BALL.vertices)), tmp_path / "cloud.ply")
