"""What is no solid is refused in words or mended in words, never broken silently."""

import numpy as np
import pytest
import trimesh

from cmnet.data.fracture import fracture, prepare
from cmnet.errors import InputError


def test_a_sound_mesh_needs_no_repair() -> None:
    assert prepare(trimesh.creation.icosphere(2)).repairs == ()


def test_faces_with_vertices_of_their_own_are_joined() -> None:
    box = trimesh.creation.box()
    soup = (box.triangles.reshape(-1, 3), np.arange(3 * len(box.faces)).reshape(-1, 3))
    intact = prepare(soup)
    assert "joined" in intact.repairs[0]
    assert intact.volume * intact.scale**3 == pytest.approx(1.0)


def test_an_inside_out_mesh_is_turned() -> None:
    box = trimesh.creation.box()
    intact = prepare((box.vertices, box.faces[:, ::-1]))
    assert "turned" in intact.repairs[0]


def test_a_missing_face_is_filled() -> None:
    ball = trimesh.creation.icosphere(3)
    intact = prepare((ball.vertices, ball.faces[1:]))
    assert "filled" in intact.repairs[0]
    assert intact.volume * intact.scale**3 == pytest.approx(ball.volume, rel=1e-3)


def test_overlapping_bodies_are_united() -> None:
    boxes = [trimesh.creation.box().apply_translation([x, 0.1 * x, 0.05]) for x in (0, 0.5)]
    intact = prepare(trimesh.util.concatenate(boxes))
    assert "united 2" in intact.repairs[0]
    assert len(intact.solids) == 1


def test_a_fold_is_relaxed_and_says_so() -> None:
    ball = trimesh.creation.icosphere(4)
    vertices = ball.vertices.copy()
    vertices[0] *= -1.1  # one vertex pulled out through the far side
    intact = prepare((vertices, ball.faces))
    assert "relaxed" in intact.repairs[0]


def test_hollows_stay_hollow() -> None:
    shell = trimesh.util.concatenate([trimesh.creation.icosphere(3, 1.0), trimesh.creation.icosphere(3, 0.8)])
    faces = shell.faces.copy()
    faces[len(faces) // 2 :] = faces[len(faces) // 2 :, ::-1]
    intact = prepare((shell.vertices, faces))
    broken = fracture(intact, 3, np.random.default_rng(0))
    total = sum(trimesh.Trimesh(p.vertices, p.faces, process=False).volume for p in broken.parts)
    outer = trimesh.creation.icosphere(3, 1.0).volume
    assert total == pytest.approx(outer * (1 - 0.8**3), rel=1e-6)


def _twisted() -> tuple[np.ndarray, np.ndarray]:
    """A torus squeezed until its two walls pass through each other."""
    torus = trimesh.creation.torus(1.0, 0.4)
    vertices = torus.vertices.copy()
    vertices[:, 0] *= np.where(np.abs(vertices[:, 1]) < 0.5, -1.0, 1.0)
    return vertices, torus.faces


@pytest.mark.parametrize(
    ("mesh", "message"),
    [
        ((np.zeros((0, 3)), np.zeros((0, 3), int)), "no closed triangle mesh"),
        ((np.full((4, 3), np.nan), [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]]), "not finite"),
        ((np.eye(4, 3), [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 9]]), "not there"),
        ((np.ones((4, 3)), [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]]), "coincide"),
        ((trimesh.creation.box().vertices, trimesh.creation.box().faces[:6]), "not watertight"),
        (_twisted(), "crosses itself"),
    ],
)
def test_what_is_no_solid_is_refused(mesh: tuple, message: str) -> None:
    with pytest.raises(InputError, match=message):
        prepare(mesh, "thing.ply")
