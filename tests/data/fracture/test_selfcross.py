import numpy as np
import pytest
import trimesh

from cmnet.data.fracture.selfcross import crossing_faces


@pytest.mark.parametrize(
    "mesh", [trimesh.creation.icosphere(3), trimesh.creation.box(), trimesh.creation.torus(1, 0.3)]
)
def test_sound_meshes_do_not_cross(mesh: trimesh.Trimesh) -> None:
    assert len(crossing_faces(np.asarray(mesh.vertices), np.asarray(mesh.faces))) == 0


def test_overlapping_bodies_cross_where_they_meet() -> None:
    a = trimesh.creation.icosphere(3)
    b = trimesh.creation.icosphere(1, 0.4).apply_translation([1.0, 0.03, 0.02])
    both = trimesh.util.concatenate([a, b])
    pairs = crossing_faces(np.asarray(both.vertices), np.asarray(both.faces))
    assert len(pairs) > 10
    assert ((pairs < len(a.faces)).sum(axis=1) == 1).all()
