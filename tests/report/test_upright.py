import numpy as np
import pytest
import trimesh

from cmnet.data.shapes import make_shape
from cmnet.geometry.pose import Pose
from cmnet.geometry.sampling import sample_faces
from cmnet.report.upright import standing


@pytest.mark.parametrize("shape", ["vase", "jug", "plate", "mug"])
def test_vessels_stand_on_their_floor_however_they_lay(shape):
    rng = np.random.default_rng(3)
    mesh = make_shape(shape, rng)
    points, normals = sample_faces(mesh.vertices[mesh.faces], 4000, rng)
    T = Pose.random(rng, 2.0)
    up = standing(T.apply(points), T.rotate(normals)) @ T.R
    assert up[1, 1] > 0.99
    assert np.allclose(up @ up.T, np.eye(3))


def test_what_is_not_round_stays_as_it_lies():
    rng = np.random.default_rng(0)
    box = trimesh.creation.box((1, 2, 3))
    assert np.array_equal(standing(*sample_faces(box.triangles, 3000, rng)), np.eye(3))
    ball = trimesh.creation.icosphere(4)
    assert np.array_equal(standing(*sample_faces(ball.triangles, 3000, rng)), np.eye(3))
