"""Nearest points from a tree, and without one."""

import numpy as np
from scipy.spatial import cKDTree

from cmnet.geometry.trees import distance_to_few, even_tree, nearest_few, nearest_one


def test_a_tree_has_no_more_neighbours_than_points():
    points = np.random.default_rng(0).normal(size=(7, 3))
    for size in (0, 1, 2, 5):
        distance, index = nearest_few(cKDTree(points[:size].reshape(-1, 3)), points, 3)
        assert distance.shape == index.shape == (7, min(size, 3))
        expected = np.sort(np.linalg.norm(points[:, None] - points[None, :size], axis=2), axis=1)[:, :3]
        assert np.allclose(distance, expected)


def test_the_distance_to_few_is_that_which_a_tree_finds_to_the_last_bit():
    points = np.random.default_rng(0).normal(size=(50, 3))
    for size in (0, 1, 9):
        few = points[:size] + 0.1
        assert np.array_equal(distance_to_few(few, points), nearest_one(even_tree(few), points)[0])
