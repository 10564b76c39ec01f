"""Who is matched with whom, and what is done with the candidates first."""

from dataclasses import replace

import pytest

import cmnet.assembling.steps as steps
from cmnet.geometry.pose import Pose
from cmnet.solving.constraints import Constraints, Touch, of_one_object
from cmnet.solving.groups import Group
from states import solved, state_of
from worlds import join


@pytest.fixture
def standing(egg):
    """A state of the egg, by the parts of its groups and by what is known to belong together."""

    def by(*groups, same=()):
        state = state_of(egg[0], (), Constraints(tuple("abcd"), same=same))
        state.groups = [Group(dict.fromkeys(group, Pose.identity())) for group in groups]
        return state

    return by


def named(pairs):
    return [tuple(sorted(group.T) for group in pair) for pair in pairs]


def test_single_parts_are_left_to_the_first_look(standing):
    assert len(steps.all_parts(standing())) == len(steps.any_groups(standing())) == 6
    assert steps.larger_groups(standing()) == []
    assert named(steps.larger_groups(standing((0, 1)))) == [([0, 1], [2]), ([0, 1], [3])]
    assert len(steps.any_groups(standing((0, 1)))) == 3


def test_parts_of_different_groups_are_matched_one_by_one_unless_they_are_too_many(standing):
    state = standing((0, 1), (2, 3))
    assert named(steps.parts_across(state)) == [([0], [2]), ([0], [3]), ([1], [2]), ([1], [3])]
    state.acceptance = replace(state.acceptance, most_across=3)
    assert steps.parts_across(state) == []


def test_what_is_known_to_belong_is_matched_with_the_largest_of_it_alone(standing, egg):
    """And nothing is with parts that nobody spoke of."""
    everything = tuple(range(4))
    count = lambda *groups, same: len(steps.left_over_of_one(standing(*groups, same=(same,))))  # noqa: E731
    assert count((0, 1, 2), same=everything) == 1
    assert count((0, 1, 2), same=(0, 1, 2)) == 0
    assert count(same=everything) == 3
    assert count(same=(0, 1, 3)) == 2
    assert count(same=(0, 1)) == 1
    assert len(steps.left_over(standing((0, 1)))) == 2  # where nobody says what belongs together: everything
    largest = max(range(4), key=lambda k: egg[0][k].area)
    assert all(largest in a.T for a, _ in steps.left_over(standing()))


@pytest.mark.parametrize("fixed", [False, True])
def test_what_is_taken_apart_belongs_to_something_larger_and_is_not_held_surely(egg, fixed):
    surfaces, T = egg[0], [pose.inverse() for pose in egg[1]]
    larger, (i, j) = sorted(((0, 1), (2, 3)), key=lambda pair: -sum(surfaces[k].area for k in pair))

    def apart(sure, known):
        state = state_of(surfaces, [join(T, *larger, 0.95), join(T, i, j, sure)], known)
        solved(state)
        return steps.take_apart(state), sorted(sorted(group.T) for group in state.groups)

    both, one = [[0, 1], [2, 3]], of_one_object("abcd")
    assert apart(0.6, one) == (True, [[*larger]])
    assert apart(0.9, one) == (False, both)
    assert apart(0.6, replace(one, same=(larger,))) == (False, both)
    told = replace(one, fix=((i, Pose.identity()),)) if fixed else replace(one, join=(Touch((i, j)),))
    assert apart(0.6, told) == (False, both)


def test_what_is_taken_apart_can_be_put_back(egg):
    surfaces, T = egg[0], [pose.inverse() for pose in egg[1]]
    state = state_of(surfaces, [join(T, 0, 1, 0.6), join(T, 2, 3, 0.6)], of_one_object("abcd"))
    solved(state)
    known = {k.number for k in state.joins}
    assert not steps.put_back(state)  # nothing is aside
    assert steps.take_apart(state)
    assert len(state.joins) == 1
    assert steps.put_back(state)
    assert {k.number for k in state.joins} == known
