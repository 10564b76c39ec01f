"""What holds for every break: sound pieces, no volume lost, mating surfaces that coincide, the number asked for."""

import io

import numpy as np
import pytest
import trimesh

from cmnet.data.fracture import MECHANISMS, Fracture, fracture, prepare
from cmnet.data.shapes import SHAPES, make_shape
from cmnet.errors import InputError
from cmnet.parts.save import ply_bytes


def as_meshes(broken: Fracture) -> list[trimesh.Trimesh]:
    """The pieces as an ordinary reader gets them from their files."""
    return [trimesh.load(io.BytesIO(ply_bytes(part)), file_type="ply") for part in broken.parts]


def check_break(whole: trimesh.Trimesh, broken: Fracture, pieces: int) -> None:
    meshes = as_meshes(broken)
    assert len(meshes) == pieces
    assert all(mesh.is_watertight and mesh.is_winding_consistent and mesh.volume > 0 for mesh in meshes)
    assert sum(mesh.volume for mesh in meshes) == pytest.approx(whole.volume, rel=1e-6)
    areas = [
        trimesh.Trimesh(part.vertices, part.faces, process=False).area_faces[flags].sum()
        for part, flags in zip(broken.parts, broken.broken, strict=True)
    ]
    # All broken surface lies on broken surface of other pieces: the breaks fit without gap or overlap.
    np.testing.assert_allclose(broken.contacts.sum(axis=1), areas, rtol=1e-4)
    assert (broken.contacts == broken.contacts.T).all()
    skin = sum(mesh.area for mesh in meshes) - sum(areas)
    assert skin == pytest.approx(whole.area, rel=1e-6)


def break_case(case: int) -> None:
    rng = np.random.default_rng([1, case])
    whole = make_shape(SHAPES[case % len(SHAPES)], rng)
    pieces = int(rng.choice([2, 3, 4, 6, 9]))
    mechanism = MECHANISMS[(case // 3) % len(MECHANISMS)]
    broken = fracture(prepare(whole, check_crossings=False), pieces, rng, mechanism)
    assert broken.mechanism == mechanism
    check_break(whole, broken, pieces)


@pytest.mark.parametrize("case", range(18))
def test_pieces_are_sound_and_fit(case: int) -> None:
    break_case(case)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_pieces_are_sound_and_fit_over_hundreds_of_breaks(block: int) -> None:
    for case in range(18 + 30 * block, 48 + 30 * block):
        break_case(case)


@pytest.mark.parametrize("pieces", [20])
def test_many_pieces(pieces: int) -> None:
    whole = make_shape("vase", np.random.default_rng(3))
    check_break(whole, fracture(whole, pieces, np.random.default_rng(3)), pieces)


def test_the_same_seed_breaks_the_same_way_and_another_does_not() -> None:
    whole = prepare(make_shape("bowl", np.random.default_rng(0)))
    first, again, other = (fracture(whole, 4, np.random.default_rng(seed)) for seed in (5, 5, 6))
    for a, b in zip(first.parts, again.parts, strict=True):
        assert (a.vertices == b.vertices).all()
        assert (a.faces == b.faces).all()
    assert (first.contacts == again.contacts).all()
    assert not np.array_equal(first.parts[0].vertices, other.parts[0].vertices)


def test_a_break_does_not_depend_on_the_unit_but_scales_with_it() -> None:
    whole = make_shape("mug", np.random.default_rng(1))
    small, large = (
        fracture((whole.vertices * scale, whole.faces), 4, np.random.default_rng(2)) for scale in (1.0, 1024.0)
    )
    np.testing.assert_allclose(large.parts[0].vertices, 1024 * small.parts[0].vertices, rtol=1e-12)
    np.testing.assert_allclose(large.contacts, 1024**2 * small.contacts, rtol=1e-9)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_least_volume_holds(mechanism: str) -> None:
    whole = make_shape("statue", np.random.default_rng(4))
    broken = fracture(whole, 8, np.random.default_rng(4), mechanism, min_volume=1 / 40)
    assert min(mesh.volume for mesh in as_meshes(broken)) >= whole.volume / 40 * (1 - 1e-9)


def test_cracks_are_neither_planar_nor_smooth() -> None:
    whole = trimesh.creation.cylinder(radius=0.2, height=1.0)
    broken = fracture(whole, 2, np.random.default_rng(0), "recursive")
    part, flags = broken.parts[1], broken.broken[1]
    points = part.triangles[flags].mean(axis=1)
    centred = points - points.mean(axis=0)
    away = centred @ np.linalg.svd(centred, full_matrices=False)[2][2]
    assert np.abs(away).mean() > 0.003
    normals = np.cross(*np.moveaxis(np.diff(part.triangles[flags], axis=1), 1, 0))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    assert np.linalg.norm(normals.mean(axis=0)) < 0.99


def test_a_neck_is_where_a_bottle_breaks() -> None:
    """Two balls on a thin rod: the weakest section runs through the rod."""
    balls = [trimesh.creation.icosphere(3, 0.25).apply_translation([x, 0, 0]) for x in (-0.4, 0.4)]
    rod = trimesh.creation.cylinder(0.05, segment=[[-0.4, 0, 0], [0.4, 0, 0]])
    whole = trimesh.boolean.union([*balls, rod], engine="manifold")
    for seed in range(4):
        broken = fracture(whole, 2, np.random.default_rng(seed), "weakest", min_volume=0.3)
        assert broken.contacts[0, 1] < 5 * np.pi * 0.05**2


def test_separate_bodies_are_pieces_of_their_own() -> None:
    boxes = [trimesh.creation.box((0.3, 0.3, 0.3)).apply_translation([x, 0, 0]) for x in (0, 1, 2)]
    whole = trimesh.util.concatenate(boxes)
    broken = fracture(whole, 5, np.random.default_rng(0))
    check_volume = sum(mesh.volume for mesh in as_meshes(broken))
    assert len(broken.parts) == 5
    assert check_volume == pytest.approx(whole.volume, rel=1e-6)
    with pytest.raises(InputError, match="3 separate bodies"):
        fracture(whole, 2, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pieces": 1}, "between 2 and 50"),
        ({"pieces": 51}, "between 2 and 50"),
        ({"pieces": 3, "mechanism": "laser"}, "choose one of weakest"),
        ({"pieces": 10, "min_volume": 0.2}, "at most"),
    ],
)
def test_wishes_that_cannot_be_met_are_refused(options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        fracture(trimesh.creation.box(), rng=np.random.default_rng(0), **options)
