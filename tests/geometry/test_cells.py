"""Points sorted into cells: the nearest ones are those of a search through all."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from cmnet.geometry.cells import MOST, Cells


def by_tree(points, x, k, within=np.inf):
    return cKDTree(points).query(x, np.arange(1, k + 1), distance_upper_bound=within)


def on_a_sphere(count, rng):
    points = rng.normal(size=(count, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("size", [0.01, 0.1, 0.5, 30.0])
@pytest.mark.parametrize("within", [0.03, 0.3, np.inf])
def test_the_nearest_are_those_of_a_search_through_all(k, size, within):
    rng = np.random.default_rng(0)
    points = on_a_sphere(700, rng)
    # On them, near them, between them, and far outside
    x = np.concatenate([points[:20], points[:100] + rng.normal(0, 0.05, (100, 3)), rng.uniform(-4, 4, (60, 3))])
    distance, index = Cells.of(points, size).nearest(x, k, within)
    expected = by_tree(points, x, k, within)
    np.testing.assert_array_equal(index, expected[1])
    np.testing.assert_allclose(distance, expected[0], atol=1e-12)


def test_fewer_points_than_asked_for_are_all_found():
    rng = np.random.default_rng(1)
    points, x = rng.normal(size=(3, 3)), rng.normal(size=(10, 3))
    distance, index = Cells.of(points, 0.1).nearest(x, 5)
    np.testing.assert_array_equal(np.sort(index, axis=1), np.tile([0, 1, 2, 3, 3], (10, 1)))
    assert np.isfinite(distance[:, :3]).all()
    assert np.isinf(distance[:, 3:]).all()


def test_nothing_is_found_where_there_is_nothing():
    distance, index = Cells.of(np.zeros((0, 3)), 0.1).nearest_one(np.zeros((4, 3)))
    assert np.isinf(distance).all()
    assert (index == 0).all()
    assert Cells.of(np.eye(3), 0.1).nearest_one(np.zeros((0, 3)))[0].shape == (0,)


@pytest.mark.parametrize("flat", [0, 1, 2, 3])
def test_points_in_a_plane_on_a_line_or_in_one_place(flat):
    rng = np.random.default_rng(2)
    points, x = rng.normal(size=(200, 3)), rng.normal(size=(50, 3))
    points[:, :flat] = 0.7
    distance = Cells.of(points, 0.05).nearest(x, 4)[0]
    np.testing.assert_allclose(distance, by_tree(points, x, 4)[0], atol=1e-12)


def test_what_lies_just_within_is_found_and_what_lies_just_beyond_is_not():
    cells = Cells.of(np.array([[0.0, 0, 0], [1.0, 0, 0]]), 0.1)
    x = np.array([[0.25, 0, 0], [0.2500001, 0, 0], [-0.2499999, 0, 0]])
    np.testing.assert_array_equal(cells.nearest_one(x, 0.25)[1], [2, 2, 0])


def test_cells_do_not_crowd_out_the_points():
    points = np.random.default_rng(3).uniform(-1, 1, (500, 3)) * [100, 100, 100]
    assert len(Cells.of(points, 1e-3).starts) < 4 * MOST * len(points)


@pytest.mark.parametrize("extent", [(1e6, 0.1, 0.1), (1e9, 1e9, 1e-3), (1e40, 1, 1)])
def test_long_thin_things_take_no_more_cells_than_others(extent):
    points = np.random.default_rng(0).random((500, 3)) * extent
    assert len(Cells.of(points, 0.01).starts) <= 8 * MOST * len(points) + 1
