"""From groups to the answer."""

import numpy as np

from cmnet.geometry.pose import Pose
from cmnet.solving.assembly import to_assembly
from cmnet.solving.groups import Group, standing, with_singles
from worlds import error, join, numbered, world


def test_groups_by_size_and_their_largest_parts_stay():
    T = world(6)
    joins = numbered([join(T, 0, 1, 0.9), join(T, 2, 3, 0.8), join(T, 3, 4, 0.7), join(T, 0, 5, 0.3)])
    groups = [
        Group({0: T[0], 1: T[1]}, (joins[0],)),
        Group({k: T[k] for k in (2, 3, 4)}, tuple(joins[1:3])),
        Group({5: T[5]}),
    ]
    assembly = to_assembly(standing(groups, np.array([1.0, 2, 3, 5, 4, 9]), {}), 6, joins)
    assert assembly.groups == [[2, 3, 4], [0, 1]]
    assert assembly.unplaced == [5]
    assert all(np.allclose(assembly.poses[k], np.eye(4), atol=1e-12) for k in (1, 3, 5))
    assert [k.used for k in assembly.joins] == [True, True, True, False]
    assert assembly.notes == []


def test_what_stands_stays_and_every_other_part_is_alone():
    T = world(4)
    held = standing([Group({k: T[k] for k in range(3)}), Group({3: T[3]})], np.ones(4), {})
    again = with_singles(standing(held, np.ones(4), {}), 4)
    assert [sorted(group.T) for group in again] == [[0, 1, 2], [3]]
    assert error(again[0].T, T) < 1e-12
    for k, pose in held[0].T.items():
        np.testing.assert_allclose(again[0].T[k].matrix(), pose.matrix(), atol=1e-12)


def test_fixed_parts_say_where_a_group_stands():
    T = world(2)
    group = Group({0: T[0], 1: T[1]})
    fixed = {1: Pose.random(np.random.default_rng(5), spread=2.0)}
    assembly = to_assembly(standing([group], np.array([2.0, 1.0]), fixed), 2, [])
    assert np.array_equal(assembly.poses[1], fixed[1].matrix())
    assert error({k: Pose.from_matrix(assembly.poses[k]) for k in (0, 1)}, T) < 1e-9
