"""A group settles on its surfaces, all parts at once."""

import numpy as np
import pytest

from cmnet.assembling.settle import settle_on, without_slips
from cmnet.geometry.pose import Pose
from cmnet.solving.groups import Group
from worlds import error, join, jolt

NEAR = 0.002  # radians and lengths: as near as joins of the first look are


@pytest.fixture
def places(egg):
    """T_true_moved of every part of the egg."""
    return [T.inverse() for T in egg[1]]


def jolted(places, seed=0):
    rng = np.random.default_rng(seed)
    return Group({k: T @ jolt(rng, NEAR) for k, T in enumerate(places)})


@pytest.mark.parametrize("seed", range(3))
def test_parts_beside_their_places_settle_in_them(egg, places, seed):
    group = jolted(places, seed)
    after = settle_on(egg[0], group)
    assert error(group.T, places) > NEAR
    assert error(after.T, places) < 0.25 * NEAR


def test_parts_in_their_places_stay(egg, places):
    after = settle_on(egg[0], Group(dict(enumerate(places))))
    assert error(after.T, places) < 0.05 * NEAR


def test_neither_where_the_group_lies_nor_who_stays_matters(egg, places):
    group = jolted(places)
    away = Pose.random(np.random.default_rng(5), 10.0)
    moved = Group({k: away @ T for k, T in group.T.items()})
    first = settle_on(egg[0], group).T
    for other in (settle_on(egg[0], moved).T, settle_on(egg[0], group, held=[3]).T):
        assert error(other, list(first.values())) < 0.1 * NEAR


@pytest.mark.parametrize("held", [[2], [0, 3], []])
def test_what_is_held_stays_to_the_last_digit(egg, places, held):
    group = jolted(places)
    after = settle_on(egg[0], group, held)
    for k in held or [0]:
        np.testing.assert_array_equal(after.T[k].matrix(), group.T[k].matrix())
    assert all(not np.array_equal(after.T[k].t, group.T[k].t) for k in group.T if k not in (held or [0]))


def test_parts_that_do_not_meet_stay(egg):
    far = Group({k: Pose(np.eye(3), np.array([10.0 * k, 0, 0])) for k in range(4)})
    after = settle_on(egg[0], far)
    assert all(np.allclose(after.T[k].t, far.T[k].t, atol=1e-12) for k in far.T)


def test_a_part_that_slips_stays_where_its_join_put_it(egg, places):
    T = egg[1]
    before = Group(dict(enumerate(places)), (join(T, 0, 1, 0.9), join(T, 1, 2, 0.8), join(T, 2, 3, 0.7)))
    small = min((0, 1), key=lambda k: egg[0][k].area)
    unit, near = egg[0][0].unit, jolt(np.random.default_rng(1), NEAR)
    settled = Group({k: near @ T for k, T in before.T.items()}, before.joins)
    assert without_slips(before, settled, egg[0]).T == settled.T  # the group as a whole may go anywhere
    away = Pose(np.eye(3), np.array([2 * egg[0][0].scale.tolerances.apart_shift * unit, 0.0, 0.0]))
    slipped = Group({**settled.T, small: away @ settled.T[small]}, before.joins)
    after = without_slips(before, slipped, egg[0])
    assert error(after.T, list(settled.T.values())) < 1e-9


def test_two_parts_that_come_apart_stay_together(egg, places):
    before = Group(dict(enumerate(places[:2])), (join(egg[1], 0, 1, 0.9),))
    turn = Pose.random(np.random.default_rng(2), 1.0)
    after = Group({0: turn @ places[0], 1: turn.inverse() @ places[1]}, before.joins)
    assert error(after.T, places[:2]) > 0.1
    assert error(without_slips(before, after, egg[0]).T, places[:2]) < 1e-9
