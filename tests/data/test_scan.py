from dataclasses import replace

import numpy as np
import pytest
import trimesh
from scipy.spatial import cKDTree

from cmnet.data.fracture import fracture
from cmnet.data.objects import FolderObjects
from cmnet.data.scan import AS_STORED, CONDITIONS, broken_faces, parse_condition, scan, size_of
from cmnet.data.shapes import make_shape
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
    return np.array([(part.vertices.min(axis=0) + part.vertices.max(axis=0)) / 2 for part in parts])


def test_as_stored_is_as_stored(halves):
    for part, same in zip(halves, scan(halves, AS_STORED, rng()), strict=True):
        assert part is same


@pytest.mark.parametrize("name", CONDITIONS)
def test_parts_stay_in_their_places_and_keep_their_names(name, halves):
    made = scan(halves, CONDITIONS[name], rng())
    assert [part.name for part in made] == ["a", "b"]
    assert np.allclose(centres(made), centres(halves), atol=0.05)
    assert size_of(made) == pytest.approx(size_of(halves), rel=0.2 if "outliers" in name else 0.02)


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
    for folder in reversed(many.fractures):
        parts = many.read(folder).parts
        if folder in few.fractures:
            for part, same in zip(parts, few.read(folder).parts, strict=True):
                assert np.array_equal(part.vertices, same.vertices)
    one, other = (many.read(folder).parts[0].vertices[:8] for folder in many.fractures[1:3])
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


@pytest.fixture(scope="module")
def bowl():
    return fracture(make_shape("bowl", rng()), 5, rng(), "weakest", min_volume=0.03)


def off(part, points):
    """How far points lie off a part's surface."""
    return trimesh.proximity.closest_point_naive(solid(part), points)[1].max()


def made(broken, words):
    return scan(broken.parts, parse_condition(words), rng())


def solid(part):
    return trimesh.Trimesh(part.vertices, part.faces, process=False)


def test_every_part_gets_triangles_of_its_own_on_the_same_surface(bowl):
    parts = made(bowl, "tessellation")
    for before, after in zip(bowl.parts, parts, strict=True):
        assert solid(after).is_watertight
        assert solid(after).volume == pytest.approx(solid(before).volume, rel=0.03)
        assert off(before, after.vertices[:200]) < 5e-4  # trimesh is off by so much at slivers
        edges = np.linalg.norm(np.diff(after.vertices[solid(after).edges_unique], axis=1), axis=2)
        assert np.quantile(edges, 0.99) < 0.02 * size_of(bowl.parts)

    def shared(pieces):
        rounded = [{tuple(v) for v in np.round(part.vertices, 9)} for part in pieces]
        return sum(len(a & b) for k, a in enumerate(rounded) for b in rounded[:k])

    assert shared(bowl.parts) > 50
    assert shared(parts) == 0


def test_breaks_are_found_by_what_lies_on_them(bowl):
    for part, found, true in zip(
        bowl.parts, broken_faces(bowl.parts, size_of(bowl.parts), rng()), bowl.broken, strict=True
    ):
        area = solid(part).area_faces
        assert area[found != true].sum() < 0.1 * area[true].sum()


@pytest.mark.parametrize("words", ["chips=4", "erosion=0.006"])
def test_chips_and_erosion_take_material_away(bowl, words):
    before, after = (sum(solid(part).volume for part in parts) for parts in (bowl.parts, made(bowl, words)))
    assert 0.8 * before < after < 0.999 * before


def test_decimation_leaves_fewer_faces_near_the_surface(bowl):
    for before, after in zip(bowl.parts, made(bowl, "decimation=0.003"), strict=True):
        assert len(after.faces) < 0.8 * len(before.faces)
        assert off(before, after.vertices[:100]) < 0.01


def test_holes_open_meshes_and_leave_gaps_in_clouds_of_them(bowl):
    for before, after in zip(bowl.parts, made(bowl, "holes=9"), strict=True):
        assert 0.7 * len(before.faces) < len(after.faces) < len(before.faces)
        assert not solid(after).is_watertight
        assert len(np.unique(after.faces)) == len(after.vertices)

    def gap(words):
        cloud = np.concatenate([part.vertices for part in made(bowl, words)])
        return cKDTree(cloud).query(np.concatenate([part.triangles.mean(axis=1) for part in bowl.parts]))[0].max()

    assert gap("holes=9,points=9000") > 1.5 * gap("points=9000")


def test_holes_in_clouds_take_points_and_their_normals(bowl):
    whole = made(bowl, "points=4000")
    torn = scan(whole, parse_condition("holes=6"), rng())
    assert sum(len(part.vertices) for part in torn) < sum(len(part.vertices) for part in whole)
    assert all(len(part.vertices) == len(part.normals) for part in torn)


def test_small_parts_go_missing_and_two_remain(bowl):
    extent = {part.name: np.linalg.norm(np.ptp(part.vertices, axis=0)) for part in bowl.parts}
    largest = sorted(extent, key=lambda name: -extent[name])[:2]
    gone = set()
    for seed in range(8):
        left = scan(bowl.parts, CONDITIONS["missing"], np.random.default_rng(seed))
        assert len(left) == len(bowl.parts) - 1
        gone |= set(extent) - {part.name for part in left}
    assert gone == set(extent) - set(largest)
    assert {part.name for part in made(bowl, "missing=9")} == set(largest)


@pytest.mark.parametrize("words", ["worn", "tessellation", "decimation"])
def test_what_needs_bodies_refuses_clouds_and_open_meshes(words, bowl):
    cloud = made(bowl, "points=100")
    torn = [replace(part, faces=part.faces[5:]) for part in bowl.parts]
    for parts in (cloud, torn):
        with pytest.raises(InputError, match=r"piece_0 is no closed mesh"):
            scan(parts, CONDITIONS[words], rng())


def test_uneven_clouds_are_denser_at_one_end(halves):
    even, uneven = (scan(halves, CONDITIONS[name], rng())[0].vertices for name in ("cloud-10k", "cloud-10k-uneven"))
    assert 5000 < len(uneven) <= 10_000

    def ratio(points):
        spacing = cKDTree(points).query(points, k=9)[0][:, -1]
        return np.quantile(spacing, 0.9) / np.quantile(spacing, 0.1)

    assert ratio(uneven) > 1.3 * ratio(even)


def test_outliers_are_as_many_as_promised(halves):
    (part, _) = scan(halves, CONDITIONS["cloud-10k-outliers"], rng())
    off = np.abs(np.linalg.norm(part.vertices, axis=1) - 1) > 0.02
    assert 50 < off.sum() <= 100
