import numpy as np
import pytest

from cmnet.geometry.noise import averaged, noise_of
from cmnet.geometry.pose import Pose


def sheet(noise, count=8000, seed=0):
    """A bent sheet with a sharp fold: points, normals, and how high points lie above it."""
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(-1, 1, (2, count))
    slope = np.where(x < 0, -0.8, 0.0)
    z = slope * x + 0.2 * y**2
    normals = np.stack([-slope, -0.4 * y, np.ones(count)], axis=1)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return np.stack([x, y, z], axis=1) + noise * rng.standard_normal(count)[:, None] * normals, normals


def height(points):
    x, y, z = points.T
    slope = np.where(x < 0, -0.8, 0.0)
    return (z - slope * x - 0.2 * y**2) / np.sqrt(1 + slope**2 + (0.4 * y) ** 2)


@pytest.mark.parametrize("noise", [0.003, 0.01, 0.06])
def test_noise_is_measured_whatever_the_surface_does(noise):
    points, normals = sheet(noise)
    assert noise_of(points, normals) == pytest.approx(noise, rel=0.35)
    assert noise_of(*sheet(0.0)) < 0.0005


def test_noise_is_the_same_in_any_pose_and_unit():
    points, normals = sheet(0.01)
    T = Pose.random(np.random.default_rng(1), spread=1.0)
    assert noise_of(5 * T.apply(points), T.rotate(normals)) == pytest.approx(5 * noise_of(points, normals))


@pytest.mark.parametrize("rows", [50_000, 900])
def test_most_of_it_is_averaged_away_and_the_fold_stays_sharp(rows, monkeypatch):
    monkeypatch.setattr("cmnet.geometry.noise.ROWS", rows)
    points, normals = sheet(0.01)
    still, turned = averaged(points, normals, 0.01, 0.001)
    assert height(still).std() < 0.35 * height(points).std()
    fold = np.abs(points[:, 0]) < 0.05
    assert np.abs(height(still))[fold].mean() < 0.5 * np.abs(height(points))[fold].mean()
    assert np.einsum("nc,nc->n", normals, turned).min() > 0.9


def test_a_ball_keeps_its_size_however_far_its_points_are_averaged():
    rng = np.random.default_rng(0)
    normals = rng.standard_normal((2000, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    points = normals * (1 + 0.01 * rng.standard_normal((2000, 1)))
    radius = np.linalg.norm(averaged(points, normals, 0.01, 0.001)[0], axis=1)
    assert radius.mean() == pytest.approx(1, abs=0.002)
    assert radius.std() < 0.004


def test_a_few_points_have_no_noise_to_speak_of():
    assert noise_of(np.eye(3), np.eye(3)) == 0
