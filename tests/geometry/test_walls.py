import numpy as np
import pytest
from scipy.spatial import cKDTree

from cmnet.geometry.pose import Pose
from cmnet.geometry.trees import nearest_few
from cmnet.geometry.walls import wall_thickness


def sheets(*heights, count=400):
    """Level sheets, looking away from z = 0: points and normals."""
    sides = np.random.default_rng(0).uniform(-1, 1, (len(heights) * count, 2))
    z = np.repeat(heights, count)
    return np.column_stack([sides, z]), np.sign(z)[:, None] * [0.0, 0.0, 1.0]


def thickness(points, normals):
    return wall_thickness(points, normals, nearest_few(cKDTree(points), points, 40)[1])


def test_thickness_is_the_distance_of_both_sides_in_any_pose_and_unit():
    points, normals = sheets(0.05, -0.05)
    T = Pose.random(np.random.default_rng(1), spread=1.0)
    assert thickness(points, normals) == pytest.approx(0.1)
    assert thickness(3 * T.apply(points), T.rotate(normals)) == pytest.approx(0.3)


def test_one_side_only_has_no_thickness():
    assert np.isinf(thickness(*sheets(0.05))).all()
    points, normals = sheets(0.05, -0.05)
    assert np.isinf(thickness(points, -normals)).all()  # a gap between two parts, not a wall
