import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from cmnet.geometry.neighbors import farthest_points, interpolation, nearest, nearest_features


def points(count, seed=0):
    return np.random.default_rng(seed).standard_normal((count, 3))


def test_nearest_equals_brute_force_and_takes_what_there_is():
    p, q = points(40), points(70, 1)
    matrix = np.linalg.norm(p[:, None] - q, axis=2)
    distances, indices = nearest(p, q, 5)
    assert np.array_equal(indices, np.argsort(matrix, axis=1)[:, :5])
    assert np.allclose(distances, np.sort(matrix, axis=1)[:, :5])
    assert nearest(p, q[:3], 5)[1].shape == (40, 3)
    assert nearest(p, q, 1)[1].shape == (40, 1)


def test_nearest_features_equals_brute_force():
    x = torch.randn(60, 9, generator=torch.Generator().manual_seed(0))
    expected = torch.cdist(x, x).topk(7, largest=False).indices.sort().values
    assert torch.equal(nearest_features(x, 7).sort().values, expected)
    assert nearest_features(x[:4], 7).shape == (4, 4)


@given(st.integers(8, 60), st.integers(0, 1000))
def test_farthest_points_are_greedy_distinct_and_nested(count, seed):
    p = points(count, seed)
    order = farthest_points(p, count)
    assert sorted(order) == list(range(count))
    assert np.array_equal(farthest_points(p, count // 2), order[: count // 2])
    k = count // 3
    to_chosen = np.linalg.norm(p[:, None] - p[order[:k]], axis=2).min(axis=1)
    assert np.isclose(to_chosen[order[k]], to_chosen.max())


def test_farthest_points_follow_the_points_not_their_order():
    p = points(50)
    shuffle = np.random.default_rng(1).permutation(50)
    assert np.array_equal(p[farthest_points(p, 20)], p[shuffle][farthest_points(p[shuffle], 20)])


def test_interpolation_is_exact_at_the_points_and_a_mean_elsewhere():
    p = points(30)
    index, weight = interpolation(p, p)
    assert np.allclose((p[index] * weight[..., None]).sum(1), p, atol=1e-5)
    index, weight = interpolation(points(10, 1), p)
    assert np.allclose(weight.sum(1), 1)
    assert (weight >= 0).all()
    assert interpolation(p, p[:2])[0].shape == (30, 2)
