import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from cmnet.geometry.pose import Pose
from cmnet.geometry.sampling import allocate, allocate_as_published, sample_surface

BOX = trimesh.creation.box((1.0, 2.0, 0.5))
SPHERE = trimesh.creation.icosphere(3)


def sample(mesh, count, seed=0):
    return sample_surface(np.asarray(mesh.vertices), np.asarray(mesh.faces), count, np.random.default_rng(seed))


@pytest.mark.parametrize("count", [0, 1, 2, 17, 300, 2000])
@pytest.mark.parametrize("mesh", [BOX, SPHERE])
def test_gives_exactly_count_points_on_the_surface(mesh, count):
    points, normals = sample(mesh, count)
    assert points.shape == normals.shape == (count, 3)
    assert np.allclose(np.linalg.norm(normals, axis=1), 1)
    if count:
        _, distances, faces = trimesh.proximity.closest_point_naive(mesh, points)
        assert distances.max() < 1e-9
        assert np.einsum("nc,nc->n", mesh.face_normals[faces], normals).min() > 0.9


def test_is_blue_noise():
    points, _ = sample(SPHERE, 2000)
    spacing = cKDTree(points).query(points, k=2)[0][:, 1] / np.sqrt(SPHERE.area / 2000)
    assert spacing.min() > 0.6  # independent points come within a hundredth
    assert spacing.std() < 0.1


def test_follows_the_area():
    _, normals = sample(BOX, 3000)
    for axis, area in enumerate([1.0, 0.5, 2.0]):
        share = (np.abs(normals[:, axis]) > 0.9).mean()
        assert share == pytest.approx(2 * area / BOX.area, abs=0.02)


def test_two_sides_of_a_thin_sheet_do_not_suppress_each_other():
    sheet = trimesh.creation.box((1.0, 1.0, 1e-4))
    points, normals = sample(sheet, 2000)
    for side in (normals[:, 2] > 0.5, normals[:, 2] < -0.5):
        assert abs(side.sum() - 1000) < 60
        assert cKDTree(points[side]).query(points[side], k=2)[0][:, 1].min() > 0.6 * np.sqrt(2 / 2000)


def test_a_thin_rim_gets_its_share_of_area_and_no_more():
    plate = trimesh.creation.cylinder(radius=1.0, height=0.02, sections=64)
    share = np.mean([(np.abs(sample(plate, 1500, seed)[1][:, 2]) < 0.5).mean() for seed in range(5)])
    assert share == pytest.approx(2 * np.pi * 0.02 / plate.area, rel=0.35)


def test_faces_without_area_are_never_hit():
    vertices = np.vstack([BOX.vertices, [[9.0, 9.0, 9.0]]])
    spikes = [[8, 8, 8], [0, 0, 8]]
    faces = np.vstack([spikes[:1], BOX.faces[:6], spikes[1:], BOX.faces[6:], spikes])
    points, normals = sample_surface(vertices, faces, 500, np.random.default_rng(0))
    assert np.abs(points).max() <= 1.0
    assert np.isfinite(normals).all()


def test_a_surface_without_area_is_refused():
    with pytest.raises(ValueError, match="without area"):
        sample_surface(np.zeros((3, 3)), np.array([[0, 1, 2]]), 10, np.random.default_rng(0))


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32), scale=st.floats(1e-3, 1e3))
def test_a_moved_and_scaled_surface_gets_the_moved_and_scaled_samples(seed, scale):
    T = Pose.random(np.random.default_rng(seed), spread=2.0)
    points, normals = sample(BOX, 200, seed)
    moved = trimesh.Trimesh(T.apply(BOX.vertices) * scale, BOX.faces, process=False)
    moved_points, moved_normals = sample(moved, 200, seed)
    assert np.allclose(moved_points, T.apply(points) * scale, atol=1e-9 * scale)
    assert np.allclose(moved_normals, T.rotate(normals))


@given(
    areas=st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=20),
    total=st.integers(1, 10000),
    minimum=st.integers(1, 400),
    seed=st.integers(0, 99),
)
def test_allocate_keeps_the_minimum_the_total_and_the_order(areas, total, minimum, seed):
    areas = np.array(areas)
    counts = allocate(areas, total, minimum)
    assert (counts >= minimum).all()
    if minimum * len(areas) <= total:
        assert total - len(areas) < counts.sum() <= total
    else:
        assert (counts == minimum).all()
    assert (np.diff(counts[np.argsort(areas)]) >= 0).all()
    order = np.random.default_rng(seed).permutation(len(areas))
    assert np.abs(allocate(areas[order], total, minimum) - counts[order]).max() <= (areas.max() > 1e6 * areas.min())


def test_allocate_by_hand():
    assert allocate(np.array([3.0, 1.0]), 4000).tolist() == [3000, 1000]
    assert allocate(np.array([99.0, 1.0]), 1000).tolist() == [744, 256]
    assert allocate(np.array([1.0, 1.0, 1.0]), 1000).tolist() == [333, 333, 333]


@given(areas=st.lists(st.floats(1e-2, 1e2), min_size=1, max_size=30), total=st.integers(1, 10000))
def test_published_shares_of_large_parts_are_theirs_however_many_small_ones_there_are(areas, total):
    areas = np.array(areas)
    counts = allocate_as_published(areas, total)
    large = counts > 256
    assert (counts >= 256).all()
    np.testing.assert_allclose(counts[large], (total * areas / areas.sum())[large], rtol=0, atol=1)
    assert (total * areas[~large] / areas.sum() < 257).all()


def test_shares_of_a_large_part_among_small_ones():
    areas = np.array([19.0, *[1.0] * 19])
    assert allocate(areas, 5000).tolist() == [256] * 20
    assert allocate_as_published(areas, 5000).tolist() == [2500, *[256] * 19]
