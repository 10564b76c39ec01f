import numpy as np
import trimesh

from cmnet.report.refine import refine


def test_edges_near_a_plane_become_short_and_the_surface_stays_closed():
    box = trimesh.creation.box()
    vertices, faces = refine(
        np.asarray(box.vertices), np.asarray(box.faces, dtype=np.int64), lambda x: np.abs(x[:, 2]), 0.05, 0.07, 10**5
    )
    fine = trimesh.Trimesh(vertices, faces, process=False)
    assert fine.is_watertight
    assert np.isclose(fine.volume, 1)
    assert np.isclose(fine.area, 6)
    ends = fine.vertices[fine.edges_unique]
    near = np.abs(ends[:, :, 2]).min(axis=1) < 0.05
    assert near.any()
    assert fine.edges_unique_length[near].max() <= 0.07
    assert fine.edges_unique_length.max() > 0.2  # elsewhere it is left coarse


def test_never_more_faces_than_allowed():
    box = trimesh.creation.box()
    faces = refine(
        np.asarray(box.vertices), np.asarray(box.faces, dtype=np.int64), lambda x: np.zeros(len(x)), 1.0, 1e-3, 500
    )[1]
    assert 12 < len(faces) <= 500
