"""Which joins are believed, on made-up joins between parts whose true places are known."""

from dataclasses import replace

import numpy as np
import pytest

from cmnet.solving.assembly import to_assembly
from cmnet.solving.groups import standing
from cmnet.solving.growth import Problem
from cmnet.solving.solve import even_out
from cmnet.solving.solve import grow as grown
from worlds import error, join, pile, renamed, world, wrong


def grow(joins, count, **more):
    return grown(Problem(joins, np.zeros((count, 3)), 0.03, **more))


def assert_true(group, T, atol=1e-8):
    assert error(group.T, T) < atol


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

    def against(i, j, T_i_j):
        return 99.0 if (i, j) == (1, 2) and T_i_j.angle_to(bad) < 1 else 0.0

    (group,) = grow(joins, 3, against=against)
    assert_true(group, T)


def test_a_mixed_pile_falls_into_its_objects():
    T = world(7)
    groups = grow([join(T, i, j, 0.9) for i, j in [(0, 2), (2, 4), (1, 3), (3, 5)]], 7)
    assembly = to_assembly(standing(groups, np.arange(7.0), {}), 7, [])
    assert assembly.groups == [[1, 3, 5], [0, 2, 4]]
    assert assembly.unplaced == [6]
    for largest in (4, 5, 6):
        assert np.array_equal(assembly.poses[largest], np.eye(4))


@pytest.mark.parametrize("seed", range(5))
def test_order_of_parts_and_joins_is_irrelevant(seed):
    rng = np.random.default_rng(seed)
    _, joins = pile(9, rng, neighbours=3, right=(0.2, 0.9), wrong=(0.2, 0.9))
    name = rng.permutation(9)
    again = renamed([joins[k] for k in rng.permutation(len(joins))], name)
    before = {frozenset(int(name[k]) for k in group.T): group for group in grow(joins, 9)}
    after = {frozenset(group.T): group for group in grow(again, 9)}
    assert before.keys() == after.keys()
    for parts, group in after.items():
        there = {k: before[parts].T[int(np.argmax(name == k))] for k in parts}
        assert error(group.T, there) < 1e-9


def test_equally_sure_joins_are_told_apart_by_their_contact_not_by_their_number():
    T = world(2)
    two = [replace(join(T, 0, 1, 0.45), contact_area=2.0), wrong(0, 1, 0.45, 3)]
    for joins in (two, two[::-1]):
        (group,) = grow(joins, 2, accept=0.4)
        assert_true(group, T)


def test_half_of_the_joins_wrong_and_the_parts_are_placed():
    """True joins beside as many random ones, which may be as sure of themselves."""
    right, count = 0, 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 21))
        T, joins = pile(n, rng, right=(0.2, 0.9), wrong=(0.1, 0.8))
        largest = max(
            grow(joins, n, against=lambda i, j, T_i_j: 99.0 * (np.linalg.norm(T_i_j.t) <= 0.02)), key=lambda g: len(g.T)
        )
        placed = even_out(largest, np.zeros((n, 3)), 1.0).T
        right += max(sum(error({a: placed[a], k: placed[k]}, T) < 0.05 for k in placed) for a in placed)
        count += n
    assert right >= 0.99 * count


def test_a_wrong_join_taken_first_is_doubted_and_given_up():
    """0 – 3 is the surest of all; taken first, it would keep 1 and 2, which agree with everything else, from 0 or 3."""
    T = world(4)
    true = [join(T, 0, 1, 0.7), join(T, 0, 2, 0.7), join(T, 1, 3, 0.6), join(T, 2, 3, 0.6)]
    (group,) = grow([*true, wrong(0, 3, 0.9, 3)], 4)
    assert_true(group, T)
    assert len(group.joins) == 4


def test_many_unlikely_joins_do_not_outweigh_two_that_agree():
    """Poses that exclude each other share what probability there is; they do not add up against one."""
    T = world(12)
    halves = [join(T, i, j, 0.95) for a in (range(6), range(6, 12)) for i in a for j in a if i < j]
    noise = [wrong(i, j, 0.25, 20 * i + j) for i in range(6) for j in range(6, 12) if (i, j) not in ((0, 6), (5, 11))]
    (group,) = grow([*halves, *noise, join(T, 0, 6, 0.6), join(T, 5, 11, 0.6)], 12)
    assert_true(group, T)


def test_growing_on_from_groups():
    T = world(5)
    first = grow([join(T, 0, 1, 0.9), join(T, 2, 3, 0.9)], 5)
    more = [join(T, 1, 2, 0.9), join(T, 3, 4, 0.9)]
    (group,) = grow(more, 5, start=first)
    assert_true(group, T)
    assert len(group.joins) == 4


def test_a_group_is_not_taken_apart_by_further_joins():
    T = world(3)
    (begun,) = [g for g in grow([join(T, 0, 1, 0.9)], 3) if len(g.T) > 1]
    groups = grow([wrong(0, 1, 0.98, 1)], 3, start=[begun])
    assert [sorted(group.T) for group in groups] == [[0, 1], [2]]
    assert_true(groups[0], T)


def test_sixty_parts_are_one_object():
    rng = np.random.default_rng(0)
    T, joins = pile(60, rng)
    joins += [wrong(i, j, 0.004, 1000 * i + j) for i in range(60) for j in range(i + 1, 60)]
    (group,) = grow(joins, 60)
    assert error(even_out(group, np.zeros((60, 3)), 1.0).T, T) < 0.05


def test_nothing_at_all():
    assert grow([], 0) == []
    assembly = to_assembly(standing(grow([], 2), np.ones(2), {}), 2, [])
    assert (assembly.groups, assembly.unplaced) == ([], [0, 1])
