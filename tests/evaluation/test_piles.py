from dataclasses import replace

import numpy as np
import pytest

from cmnet.evaluation.cases import assembly_case
from cmnet.evaluation.piles import FOREIGN, judge_pile, make_pile
from cmnet.geometry.pose import Pose


@pytest.fixture
def objects(make_bricks):
    return [make_bricks(3, "a"), make_bricks(4, "b")]


@pytest.fixture
def cases(objects, sample):
    names = ("everyday/a/f", "everyday/b/f")
    return [assembly_case(sample(parts, n), 0, lambda _, p=parts: p) for parts, n in zip(objects, names)]


@pytest.fixture
def pile(cases, make_bricks):
    return make_pile(cases, make_bricks(2, "stranger")[0], np.random.default_rng(0))


@pytest.fixture
def judge(pile, objects, make_bricks, knowing):
    def run(**options):
        world = [*objects, make_bricks(2, "stranger")]
        groups = options.pop("groups", [[p.name for p in parts] for parts in objects])
        return judge_pile(pile, knowing(*world, groups=groups, **options).assemble(list(pile.parts)), 1.0)

    return run


def test_a_pile_holds_every_piece_once_and_moved(pile, objects) -> None:
    names = sorted(part.name for part in pile.parts)
    assert names == sorted([p.name for parts in objects for p in parts] + ["stranger_0"])
    assert sorted(pile.owner) == [FOREIGN, 0, 0, 0, 1, 1, 1, 1]
    for part, owner, place in zip(pile.parts, pile.owner, pile.place):
        if owner != FOREIGN:
            assert part.name == pile.cases[owner].puzzle.parts[place].name


def test_a_pile_sorted_out_perfectly(judge) -> None:
    s = judge()
    assert (s.groups, s.pure, s.exact, s.foreign_out, s.pieces) == (2, True, True, True, 8)
    assert s.pa_crd == s.placed == 100
    assert s.joins == s.joins_right == 2 + 3
    assert s.objects == ("everyday/a/f", "everyday/b/f")


def test_a_group_that_mixes_objects(judge, objects) -> None:
    everything = [p.name for parts in objects for p in parts]
    s = judge(groups=[everything])
    assert (s.groups, s.pure, s.exact, s.foreign_out) == (1, False, False, True)
    assert s.pa_crd == 100  # each object is right in itself
    assert s.joins_right < s.joins == 6  # what crosses from one object to the other is wrong


def test_a_foreign_piece_taken_in(judge, objects) -> None:
    a, b = ([p.name for p in parts] for parts in objects)
    s = judge(groups=[a, [*b, "stranger_0"]])
    assert (s.pure, s.exact, s.foreign_out) == (False, False, False)


def test_an_object_in_two_groups_is_pure_but_not_exact(judge, objects) -> None:
    a, b = ([p.name for p in parts] for parts in objects)
    s = judge(groups=[a, b[:2], b[2:]])
    assert (s.groups, s.pure, s.exact) == (3, True, False)
    assert s.placed == pytest.approx((100 + 50) / 2)
    two_of_one = judge(groups=[b[:2], b[2:]])
    assert (two_of_one.groups, two_of_one.pure, two_of_one.exact) == (2, True, False)


def test_a_wrong_place_within_an_object(judge) -> None:
    s = judge(off={"a_0": Pose(np.eye(3), np.array([0, 0.4, 0]))})
    assert s.exact
    assert s.pa_crd == pytest.approx((100 * 2 / 3 + 100) / 2)
    assert s.joins_right < s.joins


def test_without_a_foreign_piece_there_is_nothing_to_say_about_it(cases, objects, knowing) -> None:
    pile = make_pile(cases, None, np.random.default_rng(1))
    s = judge_pile(pile, knowing(*objects).assemble(list(pile.parts)), 0.0)
    assert s.foreign_out is None
    assert s.exact
    nothing = replace(knowing(*objects).assemble(list(pile.parts)), groups=[], unplaced=list(range(7)), joins=[])
    empty = judge_pile(pile, nothing, 0.0)
    assert (empty.groups, empty.pure, empty.exact, empty.joins) == (0, True, False, 0)
