import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st

from cmnet.errors import InputError
from cmnet.parts.health import check_part, coincident, drop_doubled_faces, require_parts
from cmnet.parts.part import Part

BALL = trimesh.creation.icosphere(2)
VERTICES, FACES = np.asarray(BALL.vertices), np.asarray(BALL.faces)


def triples(faces):
    return sorted(map(tuple, np.sort(faces, axis=1)))


@given(seed=st.integers(0, 1000), extra=st.integers(1, 30))
def test_internal_faces_go_and_the_surface_stays(seed, extra):
    rng = np.random.default_rng(seed)
    inside = np.unique(np.sort(rng.permuted(np.tile(np.arange(12), (extra, 1)), axis=1)[:, :3], axis=1), axis=0)
    surface = FACES[FACES.max(axis=1) >= 12]
    given = np.vstack([surface, inside, inside[:, [1, 0, 2]]])
    assert triples(drop_doubled_faces(rng.permutation(given))) == triples(surface)


def test_orientation_and_order_of_the_rest_are_kept():
    doubled = np.vstack([FACES[:5], FACES[:5, ::-1], FACES[5:]])
    assert np.array_equal(drop_doubled_faces(doubled), FACES[5:])


def test_of_a_face_repeated_the_same_way_round_one_copy_stays():
    assert np.array_equal(drop_doubled_faces(np.vstack([FACES, np.roll(FACES, 1, axis=1)])), FACES)


def test_a_sheet_modelled_from_both_sides_keeps_one():
    sheet = np.array([[0, 1, 2], [2, 1, 3]])
    assert triples(drop_doubled_faces(np.vstack([sheet, sheet[:, ::-1]]))) == triples(sheet)


def test_faces_without_extent_are_dropped():
    assert drop_doubled_faces(np.array([[1, 1, 2], [0, 1, 2], [3, 2, 3]])).tolist() == [[0, 1, 2]]
    assert drop_doubled_faces(np.zeros((0, 3), dtype=int)).shape == (0, 3)


def test_merging_restores_a_mesh_from_loose_triangles():
    loose = VERTICES[FACES].reshape(-1, 3)
    kept, faces = coincident(loose, np.arange(len(loose)).reshape(-1, 3))
    assert len(kept) == len(VERTICES)
    assert np.array_equal(loose[kept][faces], VERTICES[FACES])


def test_merging_does_not_look_at_where_the_vertices_lie():
    loose = VERTICES[FACES].reshape(-1, 3)
    corners = np.arange(len(loose)).reshape(-1, 3)
    mirrored = loose[:, [2, 0, 1]] * [-1, 1, 1]
    assert np.array_equal(coincident(loose, corners)[1], coincident(mirrored, corners)[1])


def test_minus_zero_is_zero_and_unused_vertices_go():
    vertices = np.array([[9.0, 9, 9], [0.0, 0, 0], [1, 0, 0], [0, 1, 0], [-0.0, 0, -0.0]])
    kept, faces = coincident(vertices, np.array([[1, 2, 3], [4, 3, 2]]))
    assert len(kept) == 3
    assert faces[0, 0] == faces[1, 0]


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (Part("a", np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64)), "empty"),
        (Part("a", VERTICES, FACES[:0]), "empty"),
        (Part("a", np.where(np.arange(len(VERTICES))[:, None] == 3, np.nan, VERTICES), FACES), "1 of .* not finite"),
        (Part("a", np.full_like(VERTICES, np.inf), FACES), "not finite"),
        (Part("a", VERTICES * 1e99, FACES), "mistake"),
        (Part("a", VERTICES[:10], FACES), "truncated"),
        (Part("a", VERTICES * 0, FACES), "no area"),
        (Part("a", VERTICES[:5]), "at least 32"),
        (Part("a", np.ones((50, 3))), "one place"),
        (Part("a", VERTICES, None, VERTICES[:7]), "7 normals"),
    ],
)
def test_ill_parts_are_refused_by_name(part, words):
    with pytest.raises(InputError, match=words) as caught:
        check_part(part)
    assert "'a'" in str(caught.value)


def test_require_parts():
    part = Part("lonely", VERTICES, FACES)
    require_parts([part, part])
    with pytest.raises(InputError, match=r"at least 2 .* only lonely"):
        require_parts([part])
    with pytest.raises(InputError, match="found 0 parts"):
        require_parts([], minimum=1)


@pytest.mark.parametrize("far", [1e2, 1e6, 1e12, 1e49])
def test_a_stray_vertex_is_named(far):
    vertices = np.vstack([VERTICES, [far, 0, 0]])
    assert check_part(Part("a", vertices, FACES))  # no face uses it
    faces = np.vstack([FACES, [0, 1, len(VERTICES)]])
    with pytest.raises(InputError, match=rf"vertex {len(VERTICES)} at \({far:g}, 0, 0\)".replace("+", r"\+")):
        check_part(Part("a", vertices, faces))
    with pytest.raises(InputError, match=f"vertex {len(VERTICES)} at"):
        check_part(Part("a", vertices))


def test_long_and_coarse_meshes_have_no_strays():
    for mesh in (trimesh.creation.cylinder(1, 500, sections=64), trimesh.creation.box((100, 1, 1)).subdivide()):
        assert check_part(Part("a", np.asarray(mesh.vertices), np.asarray(mesh.faces)))


def test_a_cloud_of_two_heaps_far_apart_is_refused():
    both = np.vstack([VERTICES, VERTICES[:50] + 1e9])
    with pytest.raises(InputError, match=rf"50 points, the first {len(VERTICES)} at .* far away from the other 162"):
        check_part(Part("a", both))
    sheet = np.vstack([VERTICES * [1, 1, 0], VERTICES * [1, 1, 0] + [0, 0, 1]])
    assert check_part(Part("a", sheet))


def test_needles_are_no_surfaces():
    needle = trimesh.creation.box((1e6, 1, 1))
    with pytest.raises(InputError, match="no area"):
        check_part(Part("a", np.asarray(needle.vertices), np.asarray(needle.faces)))
    sliver = np.array([[0.0, 0, 0], [1, 0, 0], [0.5, 1e-160, 0]])
    with pytest.raises(InputError, match="no area"):
        check_part(Part("a", sliver, np.array([[0, 1, 2]])))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"faces": FACES.tolist()}, "faces are an array of integers, three a row, not list"),
        ({"faces": FACES.astype(float)}, "faces are an array of integers"),
        ({"faces": np.hstack([FACES, FACES[:, :1]])}, r"three a row, not int64 \(320, 4\)"),
        ({"vertices": VERTICES.tolist()}, "vertices are an array of numbers"),
        ({"vertices": VERTICES[:, :2]}, r"three a row, not float64 \(162, 2\)"),
        ({"faces": None, "normals": np.full_like(VERTICES, np.nan)}, "some normals are not finite"),
        ({"faces": None, "normals": VERTICES[:5]}, "5 normals for 162 points"),
    ],
)
def test_what_is_no_part_is_refused_in_one_sentence(changes, words):
    with pytest.raises(InputError, match=words):
        check_part(Part(**{"name": "a", "vertices": VERTICES, "faces": FACES, **changes}))
