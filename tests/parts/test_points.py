import numpy as np
import pytest
import trimesh

from cmnet.geometry.pose import Pose
from cmnet.parts.part import Part
from cmnet.parts.points import Points, sample_parts, unit_length, without_noise


def part(name, mesh):
    return Part(name, np.asarray(mesh.vertices), np.asarray(mesh.faces))


PARTS = [
    part("ball", trimesh.creation.icosphere(3)),
    part("box", trimesh.creation.box((2.0, 1.0, 0.5))),
    part("crumb", trimesh.creation.icosphere(1, radius=0.05)),
]
CLOUDS = [Part(p.name, points.xyz) for p, points in zip(PARTS, sample_parts(PARTS, 6000, seed=9))]


def test_counts_follow_area_with_a_minimum():
    points = sample_parts(PARTS, 5000)
    assert [len(p) for p in points][2] == 256
    assert len(points[0]) / len(points[1]) == pytest.approx(PARTS[0].area / PARTS[1].area, rel=1e-2)
    assert 4997 < sum(map(len, points)) <= 5000


@pytest.mark.parametrize("kind", [PARTS, CLOUDS], ids=["meshes", "clouds"])
def test_order_pose_name_and_scale_change_nothing(kind):
    T = Pose.random(np.random.default_rng(0), spread=3.0)
    before = sample_parts(kind, 1500, seed=5)
    moved = [p.moved(T) for p in kind[::-1]]
    after = sample_parts([Part("x", 7 * p.vertices, p.faces) for p in moved], 1500, seed=5)[::-1]
    for a, b in zip(before, after):
        assert np.allclose(7 * T.apply(a.xyz), b.xyz, atol=1e-9)
        assert np.allclose(T.rotate(a.normals), b.normals, atol=1e-5)
        assert b.area == pytest.approx(49 * a.area)


def test_the_seed_changes_the_samples():
    a, b, c = (sample_parts(PARTS, 1500, seed=s)[0].xyz for s in (1, 1, 2))
    assert np.array_equal(a, b)
    assert not np.allclose(a, c)


def test_clouds_give_their_own_points_and_never_more_than_they_hold():
    few = Part("few", CLOUDS[0].vertices[:100])
    points = sample_parts([few, CLOUDS[1]], 1000)
    assert len(points[0]) == 100
    rows = set(map(tuple, CLOUDS[1].vertices))
    assert all(tuple(x) in rows for x in points[1].xyz)
    assert np.allclose(np.linalg.norm(points[1].normals, axis=1), 1)


def test_given_normals_of_a_cloud_are_used():
    normals = CLOUDS[0].vertices / np.linalg.norm(CLOUDS[0].vertices, axis=1, keepdims=True)
    points = sample_parts([Part("inward", CLOUDS[0].vertices, None, -normals)], 500)[0]
    assert np.einsum("nc,nc->n", points.xyz, points.normals).max() < 0


def test_unit_length_makes_the_whole_surface_the_same_size():
    points = sample_parts(PARTS, 5000)
    unit = unit_length(points)
    assert sum(p.area for p in points) / unit**2 == pytest.approx(1.6)
    assert np.sqrt(1.6 / 5000) == pytest.approx(0.018, rel=0.01)


def test_moved():
    T = Pose.random(np.random.default_rng(0), spread=1.0)
    points = Points(np.eye(3), np.eye(3), 2.0).moved(T)
    assert np.allclose(points.xyz, T.R.T + T.t)
    assert np.allclose(points.normals, T.R.T)
    assert points.area == 2.0


@pytest.mark.parametrize(("noise", "changed"), [(0.0, False), (0.0003, False), (0.003, True)])
def test_only_noisy_clouds_are_averaged(noise, changed):
    rng = np.random.default_rng(0)
    ball = rng.standard_normal((20_000, 3))
    ball /= np.linalg.norm(ball, axis=1, keepdims=True)
    cloud = Part("ball", ball * (1 + noise * rng.standard_normal((len(ball), 1))), normals=ball)
    still = without_noise(cloud, unit_length([cloud]))
    assert (still is not cloud) == changed
    if changed:
        assert np.linalg.norm(still.vertices, axis=1).std() < 0.5 * noise
