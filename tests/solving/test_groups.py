"""Which joins are believed, on made-up joins between parts whose true places are known."""

import numpy as np
import pytest

from cmnet.geometry.pose import Pose
from cmnet.pairing.joins import Join
from cmnet.solving.assembly import to_assembly
from cmnet.solving.averaging import average
from cmnet.solving.grower import Grower


def world(count, seed=0):
    """T_world_part of parts a unit apart, each in coordinates of its own."""
    rng = np.random.default_rng(seed)
    return [Pose.random(rng, spread=1.0) for _ in range(count)]


def join(T, i, j, confidence, noise=0.0, rng=None):
    off = Pose.identity()
    if noise:
        turn = Pose.random(rng)
        small = np.eye(4)
        small[:3, 3] = noise * rng.standard_normal(3)
        off = turn @ Pose.from_matrix(small) @ turn.inverse()
    return Join((i, j), off @ T[i].inverse() @ T[j], confidence, 1.0, 0.0, 0.0)


def wrong(i, j, confidence, seed):
    return Join((i, j), Pose.random(np.random.default_rng(seed), spread=1.0), confidence, 1.0, 0.0, 0.0)


def grow(joins, count, fits=lambda i, j, T: True, accept=0.5):
    return Grower(joins, np.zeros((count, 3)), 0.03, fits, accept).grow()


def assert_true(group, T, atol=1e-8):
    first = min(group.T)
    for k, T_group_k in group.T.items():
        expected = T[first].inverse() @ T[k]
        assert np.allclose((group.T[first].inverse() @ T_group_k).matrix(), expected.matrix(), atol=atol)


def test_a_chain_of_sure_joins_is_one_group():
    T = world(5)
    (group,) = grow([join(T, i, i + 1, 0.9) for i in range(4)], 5)
    assert_true(group, T)
    assert len(group.joins) == 4


def test_unlikely_joins_are_not_used():
    T = world(3)
    groups = grow([join(T, 0, 1, 0.9), join(T, 1, 2, 0.3)], 3)
    assert [sorted(group.T) for group in groups] == [[0, 1], [2]]


def test_two_weak_joins_that_agree_are_believed():
    """Neither would do alone; wrong ones would not agree."""
    T = world(3)
    (group,) = grow([join(T, 0, 1, 0.9), join(T, 0, 2, 0.3), join(T, 1, 2, 0.3)], 3)
    assert_true(group, T)
    groups = grow([join(T, 0, 1, 0.9), join(T, 0, 2, 0.3), wrong(1, 2, 0.3, 7)], 3)
    assert len(groups) == 2


def test_loops_outvote_a_surer_wrong_join():
    T = world(4)
    good = [join(T, i, j, 0.75) for i in range(3) for j in range(i + 1, 3)] + [join(T, i, 3, 0.6) for i in range(3)]
    (group,) = grow([*good, wrong(0, 3, 0.35, 3)], 4)
    assert_true(group, T)
    assert len(group.joins) == 6


def test_parts_may_not_run_into_each_other():
    T = world(3)
    joins = [join(T, 0, 1, 0.9), wrong(1, 2, 0.8, 5), join(T, 0, 2, 0.7)]
    bad = joins[1].T_i_j

    def fits(i, j, T_i_j):
        return not ((i, j) == (1, 2) and T_i_j.angle_to(bad) < 1)

    (group,) = grow(joins, 3, fits)
    assert_true(group, T)


def test_a_mixed_pile_falls_into_its_objects():
    T = world(7)
    groups = grow([join(T, i, j, 0.9) for i, j in [(0, 2), (2, 4), (1, 3), (3, 5)]], 7)
    assembly = to_assembly(groups, np.arange(7.0), [])
    assert assembly.groups == [[1, 3, 5], [0, 2, 4]]
    assert assembly.unplaced == [6]
    for largest in (4, 5, 6):
        assert np.array_equal(assembly.poses[largest], np.eye(4))


@pytest.mark.parametrize("seed", range(5))
def test_order_of_parts_and_joins_is_irrelevant(seed):
    rng = np.random.default_rng(seed)
    T = world(6)
    pairs = [(i, j) for i in range(6) for j in range(i + 1, 6)]
    joins = [
        join(T, i, j, rng.uniform(0.2, 0.9)) if rng.random() < 0.5 else wrong(i, j, 0.2, k)
        for k, (i, j) in enumerate(pairs)
    ]
    name = rng.permutation(6)
    renamed = []
    for k in rng.permutation(len(joins)):
        (i, j), T_i_j = joins[k].parts, joins[k].T_i_j
        a, b = int(name[i]), int(name[j])
        flip = a > b
        parts, pose = ((b, a), T_i_j.inverse()) if flip else ((a, b), T_i_j)
        renamed.append(Join(parts, pose, joins[k].confidence, 1.0, 0.0, 0.0))
    before = {frozenset(int(name[k]) for k in group.T) for group in grow(joins, 6)}
    after = {frozenset(group.T) for group in grow(renamed, 6)}
    assert before == after


def test_half_of_the_joins_wrong_and_all_parts_placed():
    """True joins beside as many random ones, all equally sure of themselves."""
    for seed in range(5):
        T = world(8, seed)
        pairs = [(i, j) for i in range(8) for j in range(i + 1, 8)]
        joins = [join(T, *pair, 0.45) for pair in pairs] + [
            wrong(*pair, 0.45, 100 * seed + k) for k, pair in enumerate(pairs)
        ]
        groups = grow(joins, 8, accept=0.4)
        assert len(groups) == 1
        assert_true(groups[0], T)


def test_averaging_evens_out_loops_and_forgets_an_outlier():
    rng = np.random.default_rng(0)
    T = world(5)
    pairs = [(i, j) for i in range(5) for j in range(i + 1, 5)]
    noisy = [join(T, *pair, 0.9, noise=0.01, rng=rng) for pair in pairs]
    (group,) = grow(noisy, 5)

    def error(g):
        first = g.T[0].inverse()
        return np.mean([np.linalg.norm((first @ g.T[k]).t - (T[0].inverse() @ T[k]).t) for k in range(1, 5)])

    averaged = average(group, np.zeros((5, 3)), 1.0)
    assert error(averaged) < error(group)
    assert np.allclose(averaged.T[min(group.T)].matrix(), group.T[min(group.T)].matrix(), atol=1e-9)


def test_averaging_exact_joins_changes_nothing():
    T = world(4)
    (group,) = grow([join(T, i, j, 0.9) for i in range(4) for j in range(i + 1, 4)], 4)
    averaged = average(group, np.zeros((4, 3)), 1.0)
    assert all(np.allclose(averaged.T[k].matrix(), group.T[k].matrix(), atol=1e-8) for k in group.T)


def test_nothing_at_all():
    assert grow([], 0) == []
    assembly = to_assembly(grow([], 2), np.ones(2), [])
    assert (assembly.groups, assembly.unplaced) == ([], [0, 1])
