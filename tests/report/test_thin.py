import numpy as np
import pytest
import trimesh

from cmnet.report.thin import thin


def ball(subdivisions):
    mesh = trimesh.creation.icosphere(subdivisions)
    return np.asarray(mesh.vertices), np.asarray(mesh.faces, dtype=np.int64)


@pytest.mark.parametrize("subdivisions", [5, 6])  # collapsed edge by edge; clustered first
def test_a_thinned_ball_is_still_a_ball(subdivisions):
    vertices, faces = ball(subdivisions)
    far = np.array([1e5, -2e5, 3e5])
    thinner, kept = thin(vertices + far, faces, 2000)
    assert 1200 < len(kept) <= 2200
    assert np.allclose(np.linalg.norm(thinner - far, axis=1), 1, atol=0.01)
    assert trimesh.Trimesh(thinner - far, kept, process=False).volume == pytest.approx(4 / 3 * np.pi, rel=0.02)


def test_a_small_mesh_is_left_alone():
    vertices, faces = ball(2)
    same, kept = thin(vertices, faces, len(faces))
    assert same is vertices
    assert kept is faces


def test_sharp_edges_stay():
    box = trimesh.creation.box().subdivide_to_size(0.05)
    thinner, kept = thin(np.asarray(box.vertices), np.asarray(box.faces, dtype=np.int64), 1200)
    assert len(kept) <= 1200
    assert trimesh.Trimesh(thinner, kept, process=False).volume == pytest.approx(1, rel=1e-3)
