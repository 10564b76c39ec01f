"""From groups to the answer and back."""

import numpy as np

from cmnet.geometry.pose import Pose
from cmnet.solving.assembly import groups_of, to_assembly
from cmnet.solving.groups import Group
from worlds import error, join, world


def test_groups_by_size_and_their_largest_parts_stay():
    T = world(6)
    joins = [join(T, 0, 1, 0.9), join(T, 2, 3, 0.8), join(T, 3, 4, 0.7), join(T, 0, 5, 0.3)]
    groups = [
        Group({0: T[0], 1: T[1]}, (joins[0],)),
        Group({k: T[k] for k in (2, 3, 4)}, tuple(joins[1:3])),
        Group({5: T[5]}),
    ]
    assembly = to_assembly(groups, np.array([1.0, 2, 3, 5, 4, 9]), joins)
    assert assembly.groups == [[2, 3, 4], [0, 1]]
    assert assembly.unplaced == [5]
    assert all(np.allclose(assembly.poses[k], np.eye(4), atol=1e-12) for k in (1, 3, 5))
    assert [k.used for k in assembly.joins] == [True, True, True, False]
    assert assembly.notes == []


def test_groups_of_an_assembly_are_what_it_was_made_of():
    T = world(4)
    joins = [join(T, 0, 1, 0.9), join(T, 1, 2, 0.8), join(T, 0, 2, 0.2)]
    assembly = to_assembly([Group({k: T[k] for k in range(3)}, tuple(joins[:2])), Group({3: T[3]})], np.ones(4), joins)
    (group,) = groups_of(assembly)
    assert error(group.T, T) < 1e-12
    assert [k.parts for k in group.joins] == [(0, 1), (1, 2)]
    again = to_assembly([group], np.ones(4), assembly.joins)
    assert again.groups == assembly.groups
    assert np.allclose(again.poses, assembly.poses)
    assert [k.used for k in again.joins] == [True, True, False]


def test_fixed_parts_say_where_a_group_stands():
    T = world(2)
    group = Group({0: T[0], 1: T[1]})
    fixed = {1: Pose.random(np.random.default_rng(5), spread=2.0)}
    assembly = to_assembly([group], np.array([2.0, 1.0]), [], fixed)
    assert np.array_equal(assembly.poses[1], fixed[1].matrix())
    assert error({k: Pose.from_matrix(assembly.poses[k]) for k in (0, 1)}, T) < 1e-9
