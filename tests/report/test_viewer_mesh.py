import numpy as np
import trimesh

from cmnet.parts.part import Part
from cmnet.report.viewer_mesh import FACES, creased, display
from cmnet.report.viewer_pack import bytes_of_gaps, octahedral


def test_a_box_keeps_its_edges_and_a_ball_has_none():
    box = trimesh.creation.box()
    vertices, faces, normals = creased(np.asarray(box.vertices), np.asarray(box.faces, dtype=np.int64))
    assert len(vertices) == 24  # three normals at every corner
    assert np.allclose(np.abs(normals).max(axis=1), 1)
    assert np.allclose(vertices[faces], box.triangles)
    ball = trimesh.creation.icosphere(3)
    vertices, _, normals = creased(np.asarray(ball.vertices), np.asarray(ball.faces, dtype=np.int64))
    assert len(vertices) == len(ball.vertices)
    assert np.allclose(vertices, normals, atol=0.01)


def test_many_parts_share_the_faces():
    ball = trimesh.creation.icosphere(6)
    parts = [Part(str(k), (k + 1) * np.asarray(ball.vertices), np.asarray(ball.faces)) for k in range(6)]
    shown = display(parts, [None] * 6, 0.1)
    counts = [len(each.faces) for each in shown]
    assert sum(counts) <= 1.05 * FACES
    assert counts == sorted(counts)
    assert not shown[0].exact


def test_a_cloud_stays_a_cloud():
    points = np.random.default_rng(0).normal(size=(3000, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    shown = display([Part("cloud", points)], [None], 0.1)[0]
    assert shown.faces is None
    assert np.einsum("nc,nc->n", shown.normals, shown.vertices).min() > 0.5
    assert 0.03 < shown.spacing < 0.12


def test_octahedral_normals_unfold_to_themselves():
    rng = np.random.default_rng(0)
    normals = rng.normal(size=(500, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    e = octahedral(normals) / 32767
    n = np.concatenate([e, 1 - np.abs(e).sum(axis=1, keepdims=True)], axis=1)
    t = np.maximum(-n[:, 2:], 0)
    n[:, :2] -= np.where(n[:, :2] >= 0, t, -t)
    assert np.allclose(n / np.linalg.norm(n, axis=1, keepdims=True), normals, atol=2e-4)


def test_gaps_in_a_byte():
    assert bytes_of_gaps(np.array([-9.0, -2.0, 0.0, 1.0, 2.0, np.inf]), 1.0).tolist() == [0, 0, 127, 190, 254, 254]
