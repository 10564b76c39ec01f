from dataclasses import replace

import numpy as np
import pytest
import trimesh

from cmnet.data.fracture import Fracture, fracture
from cmnet.data.shapes import make_shape
from cmnet.data.wear import Wear, apply_wear, parse_wear
from cmnet.errors import InputError


@pytest.fixture(scope="module")
def bowl() -> Fracture:
    rng = np.random.default_rng(0)
    return fracture(make_shape("bowl", rng), 5, rng, "weakest", min_volume=0.03)


def volume(broken: Fracture) -> float:
    return sum(trimesh.Trimesh(part.vertices, part.faces, process=False).volume for part in broken.parts)


def worn(broken: Fracture, **options: float) -> Fracture:
    return apply_wear(broken, Wear(**options), np.random.default_rng(1))


def test_no_wear_changes_nothing(bowl: Fracture) -> None:
    same = worn(bowl)
    assert (same.contacts == bowl.contacts).all()
    for a, b in zip(same.parts, bowl.parts, strict=True):
        assert trimesh.Trimesh(a.vertices, a.faces).volume == pytest.approx(trimesh.Trimesh(b.vertices, b.faces).volume)


@pytest.mark.parametrize("options", [{"erosion": 0.006}, {"chips": 2.0}])
def test_erosion_and_chips_take_material_and_contact_away(bowl: Fracture, options: dict) -> None:
    result = worn(bowl, **options)
    assert 0.8 * volume(bowl) < volume(result) < volume(bowl)
    assert 0.1 * bowl.contacts.sum() < result.contacts.sum() < bowl.contacts.sum()
    assert (result.contacts <= bowl.contacts + 1e-12).all()
    assert all(trimesh.Trimesh(part.vertices, part.faces).is_watertight for part in result.parts)


def test_more_erosion_leaves_less_contact(bowl: Fracture) -> None:
    little, much = worn(bowl, erosion=0.003), worn(bowl, erosion=0.015)
    assert much.contacts.sum() < little.contacts.sum()
    assert volume(much) < volume(little)


def test_noise_moves_vertices_by_about_its_deviation(bowl: Fracture) -> None:
    result = worn(bowl, noise=0.002)
    flat = trimesh.Trimesh(bowl.parts[0].vertices, bowl.parts[0].faces, process=False)
    _, distance, _ = trimesh.proximity.closest_point_naive(flat, result.parts[0].vertices[:200])
    assert 0.0005 < distance.mean() < 0.004


def test_missing_pieces_are_gone_but_two_remain(bowl: Fracture) -> None:
    result = worn(bowl, missing=0.99)
    assert len(result.parts) == 2
    assert [part.name for part in result.parts] == ["piece_0", "piece_1"]
    assert result.contacts == pytest.approx(bowl.contacts[:2, :2])


def test_holes_open_the_scan(bowl: Fracture) -> None:
    result = worn(bowl, holes=4.0)
    assert any(not trimesh.Trimesh(part.vertices, part.faces).is_watertight for part in result.parts)
    assert sum(len(p.faces) for p in result.parts) < sum(len(p.faces) for p in bowl.parts)


def test_decimation_leaves_fewer_faces(bowl: Fracture) -> None:
    result = worn(bowl, decimation=0.005)
    assert sum(len(p.faces) for p in result.parts) < 0.9 * sum(len(p.faces) for p in bowl.parts)
    assert volume(result) == pytest.approx(volume(bowl), rel=0.1)


def test_clouds_are_as_large_and_as_uneven_as_asked(bowl: Fracture) -> None:
    result = worn(bowl, points=4000, uneven=3.0)
    assert sum(len(part.vertices) for part in result.parts) == pytest.approx(4000, rel=0.1)
    assert all(part.faces is None and part.normals is not None for part in result.parts)
    even = worn(bowl, points=4000)
    shift = np.linalg.norm(result.parts[0].vertices.mean(axis=0) - even.parts[0].vertices.mean(axis=0))
    assert shift > 0.03


def test_units_scale_everything(bowl: Fracture) -> None:
    result = worn(bowl, units=0.001)
    assert np.ptp(result.parts[0].vertices) == pytest.approx(1000 * np.ptp(bowl.parts[0].vertices))
    assert result.contacts == pytest.approx(1e6 * bowl.contacts)


def test_foreign_pieces_touch_nothing(bowl: Fracture) -> None:
    stranger = fracture(trimesh.creation.box(), 2, np.random.default_rng(0)).parts[0]
    result = apply_wear(bowl, Wear(foreign=1), np.random.default_rng(0), [stranger])
    assert len(result.parts) == len(bowl.parts) + 1
    assert result.contacts[-1].sum() == 0


def test_wear_is_seeded(bowl: Fracture) -> None:
    wear = Wear(erosion=0.004, chips=1.0, noise=0.001)
    a, b = (apply_wear(bowl, wear, np.random.default_rng(4)) for _ in range(2))
    assert all((p.vertices == q.vertices).all() for p, q in zip(a.parts, b.parts, strict=True))
    assert (a.contacts == b.contacts).all()


def test_wear_is_read_from_words() -> None:
    assert parse_wear("none") == Wear()
    assert parse_wear("noise=0.01,foreign=2") == Wear(noise=0.01, foreign=2)
    assert parse_wear("light,missing=0.2") == replace(parse_wear("light"), missing=0.2)


@pytest.mark.parametrize("text", ["gentle", "noise=much", "noise=-1", "missing=1.5", "units=0", "erosion=0.5"])
def test_wear_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="wear"):
        parse_wear(text)
