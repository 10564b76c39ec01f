import numpy as np
import pytest
import trimesh

from cmnet.geometry.cloud import area_of_cloud, normals_of_cloud
from cmnet.geometry.pose import Pose
from cmnet.geometry.sampling import sample_faces, sample_surface

MESHES = {
    "sphere": trimesh.creation.icosphere(3),
    "box": trimesh.creation.box((1.0, 0.7, 0.4)),
    "torus": trimesh.creation.torus(1.0, 0.3),
    "tube": trimesh.creation.annulus(0.35, 0.5, 1.0),
}


@pytest.fixture(params=MESHES, ids=str)
def cloud(request):
    mesh = MESHES[request.param]
    points, normals = sample_surface(np.asarray(mesh.vertices), mesh.faces, 3000, np.random.default_rng(1))
    return mesh, points, normals


def test_normals_point_outwards_everywhere(cloud):
    _, points, normals = cloud
    cosines = np.einsum("nc,nc->n", normals_of_cloud(points), normals)
    assert (cosines > 0).mean() > 0.995
    assert np.median(cosines) > 0.99


def test_normals_turn_with_the_cloud(cloud):
    _, points, _ = cloud
    T = Pose.random(np.random.default_rng(2), spread=1.0)
    agreement = np.einsum("nc,nc->n", normals_of_cloud(T.apply(points)), T.rotate(normals_of_cloud(points)))
    assert agreement.min() > 0.999


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("noise", [0.0, 0.004])
def test_no_air_gets_through_the_gaps_between_random_points(seed, noise):
    rng = np.random.default_rng(seed)
    points, normals = sample_faces(MESHES["box"].triangles, 5000, rng)
    outward = normals_of_cloud(points + noise * rng.standard_normal(points.shape))
    assert (np.einsum("nc,nc->n", outward, normals) > 0).mean() > 0.99


def test_two_separate_bodies_are_both_oriented():
    mesh = MESHES["sphere"]
    points, normals = sample_surface(np.asarray(mesh.vertices), mesh.faces, 800, np.random.default_rng(1))
    both = np.vstack([points, points + np.array([10.0, 0.0, 0.0])])
    assert np.einsum("nc,nc->n", normals_of_cloud(both), np.vstack([normals, normals])).min() > 0.9


def test_area(cloud):
    mesh, points, _ = cloud
    assert area_of_cloud(points) == pytest.approx(mesh.area, rel=0.1)
    assert area_of_cloud(3 * points) == pytest.approx(9 * area_of_cloud(points))


def test_a_single_point_has_no_area():
    assert area_of_cloud(np.zeros((1, 3))) == 0


def thin_plate(count: int, noise: float) -> tuple[np.ndarray, np.ndarray, float]:
    mesh = trimesh.creation.box((1.0, 1.0, 0.02))
    rng = np.random.default_rng(3)
    points, normals = sample_faces(mesh.triangles, count, rng)
    return points + noise * rng.standard_normal(points.shape), normals, mesh.area


@pytest.mark.parametrize(("count", "noise"), [(8000, 0.0), (8000, 0.002), (2000, 0.0)])
def test_both_sides_of_a_thin_plate_point_away_from_it(count, noise):
    points, normals, _ = thin_plate(count, noise)
    broad = np.abs(normals[:, 2]) > 0.5
    assert (np.einsum("nc,nc->n", normals_of_cloud(points), normals)[broad] > 0).mean() > 0.95


def test_the_area_of_a_wall_thinner_than_the_spacing_has_two_sides():
    points, normals, area = thin_plate(2000, 0.0)
    assert area_of_cloud(points, normals) == pytest.approx(area, rel=0.1)


def test_normals_of_a_large_cloud_are_those_of_a_part_of_it(monkeypatch):
    points, normals = sample_surface(
        np.asarray(MESHES["sphere"].vertices), MESHES["sphere"].faces, 4000, np.random.default_rng(1)
    )
    monkeypatch.setattr("cmnet.geometry.cloud.MANY", 1000)
    assert np.einsum("nc,nc->n", normals_of_cloud(points), normals).min() > 0.9


def test_an_open_sheet_faces_one_way():
    flat = np.random.default_rng(0).random((2000, 3)) * [1, 1, 0]
    assert abs(normals_of_cloud(flat)[:, 2].mean()) > 0.95
