import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st

from cmnet.parts.edges import count_holes, face_bodies, face_links
from cmnet.parts.orientation import faces_to_flip, is_inside_out

BALL = trimesh.creation.icosphere(2)
VERTICES, FACES = np.asarray(BALL.vertices), np.asarray(BALL.faces)
TUBE = trimesh.creation.annulus(0.8, 1.0, 2.0)


def turned(faces, which):
    faces = faces.copy()
    faces[which] = faces[which][:, ::-1]
    return faces


@given(seed=st.integers(0, 1000), share=st.floats(0, 1))
def test_whatever_faces_are_turned_round_they_are_found(seed, share):
    which = np.random.default_rng(seed).random(len(FACES)) < share
    assert np.array_equal(faces_to_flip(VERTICES, turned(FACES, which)), which)


def test_every_body_is_mended_by_itself_and_an_inner_wall_stays_one():
    hollow = trimesh.util.concatenate([BALL, trimesh.Trimesh(VERTICES / 2, FACES[:, ::-1], process=False)])
    faces = np.asarray(hollow.faces)
    assert not faces_to_flip(hollow.vertices, faces).any()
    assert faces_to_flip(hollow.vertices, faces[:, ::-1]).all()


def test_the_thinnest_closed_wall_is_told_from_its_inside():
    thin = np.asarray(TUBE.vertices) * [1, 1, 1e-3]
    assert not faces_to_flip(thin, np.asarray(TUBE.faces)).any()
    assert faces_to_flip(thin, np.asarray(TUBE.faces)[:, ::-1]).all()


def test_a_ball_with_a_hole_is_told_and_a_lone_sheet_is_left_alone():
    pierced = FACES[10:]
    assert faces_to_flip(VERTICES, pierced[:, ::-1]).all()
    cap = FACES[BALL.triangles_center[:, 2] > 0.5]
    assert not faces_to_flip(VERTICES, cap).any()
    assert not faces_to_flip(VERTICES, cap[:, ::-1]).any()


def test_a_strip_with_one_side_stays_as_it_is():
    n = 20
    upper, lower = np.arange(n), np.arange(n) + n
    after_upper, after_lower = np.append(upper[1:], lower[0]), np.append(lower[1:], upper[0])
    faces = np.concatenate(
        [np.stack([upper, lower, after_upper], axis=1), np.stack([lower, after_lower, after_upper], axis=1)]
    )
    vertices = np.random.default_rng(0).random((2 * n, 3))
    assert not face_links(faces)[2].all()
    assert not faces_to_flip(vertices, faces).any()


@pytest.mark.parametrize("sign", [1, -1])
def test_normals_of_a_cloud(sign):
    assert is_inside_out(VERTICES + 5, sign * VERTICES) == (sign < 0)


def test_holes_are_counted():
    assert count_holes(FACES) == 0
    far = [0, int(np.argmin(BALL.triangles_center @ BALL.triangles_center[0]))]
    assert count_holes(np.delete(FACES, far, axis=0)) == 2
    assert count_holes(FACES[:1]) == 1


def test_bodies_are_numbered_as_they_come():
    three = np.concatenate([FACES, FACES + 200, FACES + 400])
    mixed = np.random.default_rng(1).permutation(three)
    bodies = face_bodies(mixed)
    assert bodies[0] == 0
    assert bodies.max() == 2
    assert all(len(np.unique(mixed[bodies == k] // 200)) == 1 for k in range(3))
