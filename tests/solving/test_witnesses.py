"""How joins between two groups are weighed."""

import numpy as np
import pytest

from cmnet.geometry.pose import Pose
from cmnet.pairing.join import Join
from cmnet.solving.witnesses import CHANCE, SURE, Table, Ways, agreeing, log_odds, log_weights, same_place
from worlds import join, world, wrong


def ways(table, pair, silent=0.0):
    """As if all joins led from part 0 to part 1 of two groups of single parts with their centre at the origin."""
    zero = np.zeros((len(table.joins), 3))
    return Ways(table.R, table.t, table.confidence, np.array(pair), zero, zero, np.full(max(pair) + 1, silent, float))


def judged(joins, pair, silent=0.0):
    found = ways(Table.of(joins), pair, silent)
    same = agreeing(found, 0.03)
    weights, _ = log_weights(found, same)
    return log_odds(weights, same, 0.0)[1]


def test_joins_of_one_pair_keep_their_own_confidence():
    T = world(2)
    odds = judged([join(T, 0, 1, 0.5), wrong(0, 1, 0.3, 1), wrong(0, 1, 0.15, 2)], [0, 0, 0])
    assert 1 / (1 + np.exp(-odds)) == pytest.approx([0.5, 0.3, 0.15])


def test_no_join_counts_for_more_than_sure():
    odds = judged([join(world(2), 0, 1, 1.0)], [0])
    assert 1 / (1 + np.exp(-odds)) == pytest.approx([SURE])


def test_a_second_witness_multiplies_the_odds():
    T = world(2)
    odds = judged([join(T, 0, 1, 0.5), join(T, 0, 1, 0.4)], [0, 1])
    assert odds == pytest.approx(np.log(1.0 * (0.4 / 0.6) / CHANCE))


def test_agreeing_never_counts_against():
    T = world(2)
    alone = judged([join(T, 0, 1, 0.5)], [0])[0]
    assert judged([join(T, 0, 1, 0.5), join(T, 0, 1, 0.001)], [0, 1])[0] == pytest.approx(alone)


def test_contradicting_witnesses_share():
    joins = [wrong(0, 1, 0.5, seed) for seed in range(3)]
    assert 1 / (1 + np.exp(-judged(joins, [0, 1, 2]))) == pytest.approx(3 * [1 / 4])


def test_parts_known_to_touch_are_sure_that_one_of_their_joins_is_right():
    joins = [wrong(0, 1, 0.03, 1), wrong(0, 1, 0.01, 2), wrong(0, 2, 0.5, 3)]
    table = Table.of(joins, frozenset({(0, 1)}))
    assert table.confidence == pytest.approx([0.75, 0.5, 0.25], abs=1e-6)
    assert [k.confidence for k in table.joins] == [0.03, 0.5, 0.01]


def places(joins, moved):
    found = ways(Table.of(joins), [0] * len(joins))
    same = agreeing(found, 0.03)
    weights, _ = log_weights(found, same)
    return log_odds(weights, same, 0.0, same_place(found, 0.1, moved))[1]


@pytest.mark.parametrize("moved", "ab")
def test_poses_that_differ_by_a_turn_agree_on_the_place(moved):
    """Two that turn a part otherwise where it lies, and one that puts it elsewhere."""
    rng = np.random.default_rng(3)
    here = [Pose(Pose.random(rng).R, np.full(3, 2.0)) for _ in range(2)]
    poses = [*here, Pose(np.eye(3), np.zeros(3))]
    if moved == "a":
        poses = [T.inverse() for T in poses]
    joins = [Join((0, 1), T, p, 1.0, 0.0, 0.0) for T, p in zip(poses, (0.3, 0.2, 0.1))]
    assert 1 / (1 + np.exp(-places(joins, moved))) == pytest.approx([0.5, 0.5, 0.1])
