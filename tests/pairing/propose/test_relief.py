"""Break faces that go up and down together suggest how parts lie on each other."""

from dataclasses import replace

import numpy as np
import pytest

from cmnet.pairing.propose.relief import faces_of, propose_faces
from cmnet.settings import Faces


def off(T, truth, surface):
    """Mean distance, in units, of a part's samples from where they belong."""
    return np.linalg.norm(T.apply(surface.points) - truth.apply(surface.points), axis=1).mean()


def test_faces_lie_on_breaks_look_out_of_the_part_and_share_no_sample(halves):
    for surface in halves:
        faces = faces_of(surface)
        broken = surface.area * (surface.broken > 0.4).mean()
        assert 0.8 * broken < sum(face.area for face in faces) <= broken
        assert [face.area for face in faces] == sorted((face.area for face in faces), reverse=True)
        for face in faces:
            assert np.linalg.det(face.frame.R) == pytest.approx(1.0)
            assert len(face.uv) >= Faces().samples
            inward = face.frame.t - 4 * Faces().cell * face.frame.R[:, 2]
            assert surface.signed[surface.box.voxel(inward[None].astype(np.float32))] < 0


def test_a_face_seen_from_behind_twice_is_itself(halves):
    face = faces_of(halves[0])[0]
    again = face.from_behind().from_behind()
    np.testing.assert_allclose(again.frame.R, face.frame.R)
    for name in ("uv", "heights", "sheet"):
        np.testing.assert_array_equal(getattr(again, name), getattr(face, name))


def test_a_face_is_the_same_place_from_both_sides(halves):
    def points(face):
        u, v = face.uv.T
        sheet = np.stack([np.ones_like(u), u, v, u * u, u * v, v * v], axis=1) @ face.sheet
        return face.frame.apply(np.column_stack([face.uv, sheet + face.heights]))

    face = faces_of(halves[1])[0]
    np.testing.assert_allclose(points(face.from_behind()), points(face), atol=1e-12)


def test_faces_that_belong_together_are_found_whichever_part_comes_first(halves, truth):
    found = propose_faces(*halves, 10)
    assert 0 < len(found) <= 10
    assert min(off(T, truth, halves[1]) for T in found[:3]) < 0.05
    turned = propose_faces(*halves[::-1], 10)
    assert min(off(T, truth.inverse(), halves[0]) for T in turned[:3]) < 0.05
    again = propose_faces(*halves, 10)
    np.testing.assert_array_equal([T.matrix() for T in found], [T.matrix() for T in again])


def test_parts_without_a_break_suggest_nothing(halves):
    whole = replace(halves[1], broken=np.zeros_like(halves[1].broken))
    assert propose_faces(halves[0], whole, 10) == propose_faces(whole, halves[0], 10) == []
