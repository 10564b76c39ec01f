import numpy as np
import pytest
import trimesh

from cmnet.data.objects import FolderObjects
from cmnet.data.scan import AS_STORED, CONDITIONS, parse_condition, scan, size_of
from cmnet.errors import InputError
from cmnet.parts.part import Part


def rng():
    return np.random.default_rng(1)


@pytest.fixture(scope="module")
def halves():
    """A ball of radius 1 and a smaller one beside it."""
    balls = [trimesh.creation.icosphere(3, radius) for radius in (1.0, 0.5)]
    moved = balls[1].vertices + np.array([1.5, 0, 0])
    return [Part("a", balls[0].vertices, balls[0].faces), Part("b", moved, balls[1].faces)]


def centres(parts):
    return np.array([part.vertices.mean(axis=0) for part in parts])


def test_as_stored_is_as_stored(halves):
    for part, same in zip(halves, scan(halves, AS_STORED, rng()), strict=True):
        assert part is same


@pytest.mark.parametrize("name", CONDITIONS)
def test_parts_stay_in_their_places_and_keep_their_names(name, halves):
    made = scan(halves, CONDITIONS[name], rng())
    assert [part.name for part in made] == ["a", "b"]
    assert np.allclose(centres(made), centres(halves), atol=0.05)
    assert size_of(made) == pytest.approx(size_of(halves), rel=0.02)


@pytest.mark.parametrize("level", [0.0002, 0.001])
def test_noise_is_as_strong_as_promised_on_meshes_and_clouds(level, halves):
    made = scan(halves, parse_condition(f"noise={level}"), rng())
    for before, after in zip(halves, made, strict=True):
        assert after.faces is before.faces
        assert (after.vertices - before.vertices).std() == pytest.approx(level * size_of(halves), rel=0.1)
    cloud = scan(halves, parse_condition(f"cloud-10k,noise={level}"), rng())[0]
    still = scan(halves, parse_condition("cloud-10k"), rng())[0]
    assert (cloud.vertices - still.vertices).std() == pytest.approx(level * size_of(halves), rel=0.05)
    assert np.array_equal(cloud.normals, still.normals)  # they stay those of the surface


@pytest.mark.parametrize(("name", "count", "normals"), [("cloud-10k", 10_000, True), ("bare-50k", 50_000, False)])
def test_clouds_have_the_points_they_promise_on_the_surface(name, count, normals, halves):
    (part, _) = scan(halves, CONDITIONS[name], rng())
    assert part.faces is None
    assert len(part.vertices) == count
    assert np.linalg.norm(part.vertices, axis=1) == pytest.approx(1.0, abs=0.02)
    assert (part.normals is not None) == normals
    if normals:
        assert np.einsum("nc,nc->n", part.normals, part.vertices).min() > 0.9


def test_a_cloud_gives_some_of_its_points(halves):
    cloud = scan(halves, CONDITIONS["cloud-10k"], rng())
    fewer, all_of_it = (scan(cloud, parse_condition(f"points={n}"), rng())[0] for n in (500, 99_000))
    assert len(fewer.vertices) == len(fewer.normals) == 500
    assert {tuple(v) for v in fewer.vertices} < {tuple(v) for v in cloud[0].vertices}
    assert np.array_equal(all_of_it.vertices, cloud[0].vertices)
    assert scan(cloud, parse_condition("normals=0"), rng())[0].normals is None


def test_parts_are_scanned_each_in_its_own_way(halves):
    twins = [halves[0], halves[0]]
    a, b = scan(twins, CONDITIONS["noise"], rng())
    assert not np.array_equal(a.vertices, b.vertices)


def test_an_object_is_scanned_alike_in_any_order_and_company(bar_root, tmp_path):
    def source(pieces):
        return FolderObjects(bar_root, pieces=pieces, cache=tmp_path / "cache", condition=CONDITIONS["noise"])

    few, many = source((2, 2)), source((2, 3))
    for fracture in reversed(many.fractures):
        parts = many.parts(fracture)
        if fracture in few.fractures:
            for part, same in zip(parts, few.parts(fracture), strict=True):
                assert np.array_equal(part.vertices, same.vertices)
    one, other = (many.parts(fracture)[0].vertices[:8] for fracture in many.fractures[1:3])
    assert not np.allclose(one - np.round(one, 1), other - np.round(other, 1))


def test_samples_are_of_what_was_scanned(bar_root, tmp_path):
    plain, noisy = (
        FolderObjects(bar_root, cache=tmp_path / "cache", condition=CONDITIONS[name])[0].points[0].xyz
        for name in ("as-stored", "strong-noise")
    )
    assert not np.array_equal(plain, noisy)


@pytest.mark.parametrize("text", ["clouds", "noise=much", "noise=-1", "noise=nan", "noise=0.5", "points=10", "mist=1"])
def test_what_is_no_condition_is_refused(text):
    with pytest.raises(InputError, match=r"scan '"):
        parse_condition(text)
