"""The last touch on loops."""

import numpy as np

from cmnet.geometry.pose import Pose
from cmnet.pairing.join import Join
from cmnet.solving.averaging import average
from cmnet.solving.groups import Group
from worlds import error, join, world, wrong

PAIRS = [(i, j) for i in range(5) for j in range(i + 1, 5)]


def noisy(T, rng, noise=0.01):
    joins = tuple(join(T, *pair, 0.9, noise, rng) for pair in PAIRS)
    chain = {0: Pose.identity()}
    for k in range(1, 5):
        chain[k] = chain[k - 1] @ next(j.T_i_j for j in joins if j.parts == (k - 1, k))
    return Group(chain, joins)


def test_loops_are_evened_out_and_the_first_part_stays():
    rng, before, after = np.random.default_rng(0), [], []
    for seed in range(10):
        T = world(5, seed)
        group = noisy(T, rng)
        averaged = average(group, np.zeros((5, 3)), 1.0)
        assert np.array_equal(averaged.T[0].matrix(), group.T[0].matrix())
        before.append(error(group.T, T))
        after.append(error(averaged.T, T))
    assert np.mean(after) < 0.8 * np.mean(before)


def test_exact_joins_change_nothing():
    T = world(5)
    group = Group(dict(enumerate(T)), tuple(join(T, *pair, 0.9) for pair in PAIRS))
    averaged = average(group, np.zeros((5, 3)), 1.0)
    assert all(np.allclose(averaged.T[k].matrix(), T[k].matrix(), atol=1e-9) for k in group.T)


def test_an_outlier_loses_weight():
    T = world(5)
    joins = [join(T, *pair, 0.9) for pair in PAIRS]
    group = Group(dict(enumerate(T)), (*joins, wrong(0, 4, 0.9, 1)))
    assert error(average(group, np.zeros((5, 3)), 1.0).T, T) < 0.02


def test_held_parts_stay():
    group = noisy(world(5), np.random.default_rng(1))
    averaged = average(group, np.zeros((5, 3)), 1.0, held=[1, 3])
    assert all(np.array_equal(averaged.T[k].matrix(), group.T[k].matrix()) for k in (1, 3))
    assert not np.allclose(averaged.T[0].matrix(), group.T[0].matrix())


def test_scale_and_origin_of_the_parts_are_irrelevant():
    rng = np.random.default_rng(2)
    group = noisy(world(5), rng)
    averaged = average(group, np.zeros((5, 3)), 1.0)
    far = [Pose(np.eye(3), 1e5 * rng.standard_normal(3)) for _ in range(5)]  # x_given = far (1000 x)

    def given(T, i, j):
        return far[i] @ Pose(T.R, 1000 * T.t) @ far[j].inverse()

    joins = tuple(Join(k.parts, given(k.T_i_j, *k.parts), k.confidence, 1.0, 0.0, 0.0) for k in group.joins)
    start = {k: Pose(T.R, 1000 * T.t) @ far[k].inverse() for k, T in group.T.items()}
    there = average(Group(start, joins), np.array([T.t for T in far]), 1000.0)
    for k, T in averaged.T.items():
        assert np.allclose(there.T[k].R, T.R, atol=1e-7)
        assert np.allclose(there.T[k].apply(far[k].t) / 1000, T.t, atol=1e-6)
