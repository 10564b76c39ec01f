import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from cmnet.data.fracture.levelset import surface_nets, without_touching_corners


def closed(values: np.ndarray) -> np.ndarray:
    values = values.copy()
    values[[0, -1]] = values[:, [0, -1]] = values[:, :, [0, -1]] = 1.0
    return values


def test_a_ball_has_its_volume_and_faces_outwards() -> None:
    axis = np.linspace(-1.2, 1.2, 40)
    grid = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1)
    vertices, faces = surface_nets(np.linalg.norm(grid, axis=-1) - 1, np.full(3, -1.2), axis[1] - axis[0])
    mesh = trimesh.Trimesh(vertices, faces)
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(4 / 3 * np.pi, rel=0.02)
    assert np.abs(np.linalg.norm(vertices, axis=1) - 1).max() < 0.03


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_any_field_gives_a_mesh_in_which_every_edge_has_two_faces(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = without_touching_corners(closed(rng.standard_normal((9, 8, 10)) + rng.uniform(-0.5, 1)))
    if (values < 0).any():
        _, faces = surface_nets(values, np.zeros(3), 1.0)
        edges = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
        _, counts = np.unique(edges, axis=0, return_counts=True)
        assert (counts == 2).all()


def test_a_smooth_field_is_left_alone() -> None:
    axis = np.linspace(-1, 1, 20)
    values = closed(np.linalg.norm(np.stack(np.meshgrid(axis, axis, axis)), axis=0) - 0.7)
    assert (without_touching_corners(values) == values).all()
