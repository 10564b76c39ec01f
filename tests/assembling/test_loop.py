"""The plan: what one pass leaves open, the next may settle."""

from dataclasses import replace

import numpy as np
import pytest

import cmnet.assembling.loop as loop
from cmnet.assembling.clashes import Clashes
from cmnet.assembling.loop import finished, run
from cmnet.assembling.passes import plan
from cmnet.geometry.pose import Pose
from cmnet.settings import Acceptance
from cmnet.solving.constraints import Touch, of_one_object
from states import state_of, with_breaks
from worlds import join, numbered, wrong

PLAN = plan()
NAMES = [step.name for step in PLAN]
ONE = of_one_object("abcd")


@pytest.fixture
def put(egg, monkeypatch):
    """Put the parts together by what some of the passes find, {name: joins}: each of it once, and nothing else.

    `put.asked` are the passes that have looked for something. Parts do not run into each other, unless they are solid.
    """

    def together(found, constraints=None, passes=PLAN, network=False, solid=False):
        left, together.asked = dict(found), []

        def matched(state, step):
            together.asked.append(step.name)
            found = left.pop(step.name, [])
            state.memo.count += len(found)
            return numbered(found, state.memo.count - len(found))

        monkeypatch.setattr(loop, "matched", matched)
        with monkeypatch.context() as patch:
            if not solid:
                patch.setattr(Clashes, "_against", lambda *_: 0.0)
            state = state_of(with_breaks(egg[0]) if network else egg[0], (), constraints)
            return finished(run(passes, state), "abcd")

    monkeypatch.setattr(loop, "settle", lambda group, *_: group)
    return together


@pytest.fixture
def held(egg):
    """Three of the four parts hold together from the first pass on."""
    return [join(egg[1], 0, 1, 0.95), join(egg[1], 1, 2, 0.95)]


@pytest.fixture
def halves(egg):
    """Two pairs of parts, the larger one first."""
    return sorted(((0, 1), (2, 3)), key=lambda pair: -sum(egg[0][k].area for k in pair))


def used(assembly):
    return {join.parts for join in assembly.joins if join.used}


def assert_sound(assembly):
    """Every part is somewhere, joins that are used hold groups together, and no other two groups."""
    assert sorted(k for group in [*assembly.groups, assembly.unplaced] for k in group) == list(range(4))
    for group in assembly.groups:
        reached, inner = {group[0]}, [pair for pair in used(assembly) if pair[0] in group]
        for _ in group:
            reached |= {k for pair in inner if reached & {*pair} for k in pair}
        assert reached == {*group}
    assert np.allclose(np.linalg.det(assembly.poses[:, :3, :3]), 1)
    sure = [join.confidence for join in assembly.joins]
    assert sure == sorted(sure, reverse=True)


def test_passes_are_told_apart_by_their_names():
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("out", NAMES)
def test_any_pass_may_be_left_out(egg, put, halves, out):
    T, largest, (i, j) = egg[1], *halves
    found = {
        "pairs": [join(T, *largest, 0.95), wrong(i, j, 0.3, 1)],
        "coarse pairs": [join(T, largest[1], j, 0.6)],
        "left over": [join(T, i, j, 0.04)],
        "taken apart": [join(T, largest[0], i, 0.04)],
    }
    assembly = put(found, ONE, [step for step in PLAN if step.name != out], network=True)
    assert_sound(assembly)
    assert out not in put.asked


@pytest.mark.parametrize("accept", [0.9, 0.8, 0.5])
def test_what_is_enough_is_a_setting(egg, put, accept):
    passes = plan(Acceptance(careful=accept, likely=accept))
    assert {*put({"pairs": [join(egg[1], 0, 1, 0.85)]}, passes=passes).unplaced} == (
        {0, 1, 2, 3} if accept > 0.85 else {2, 3}
    )


def test_a_likely_join_waits_for_a_surer_one(egg, put):
    """The wrong place is taken only if no later pass knows better."""
    T = egg[1]
    first = [join(T, 0, 1, 0.95), wrong(1, 2, 0.6, seed=3)]
    assembly = put({"pairs": first, "coarse pairs": [join(T, 0, 2, 0.9)]})
    assert used(assembly) == {(0, 1), (0, 2)}
    assert assembly.groups == [[0, 1, 2]]
    assert used(put({"pairs": first})) == {(0, 1), (1, 2)}


def test_what_is_likely_is_taken_in_the_end(egg, put):
    T = egg[1]
    assembly = put({"pairs": [join(T, 0, 1, 0.95), join(T, 1, 2, 0.6), join(T, 2, 3, 0.4)]})
    assert used(assembly) == {(0, 1), (1, 2)}
    assert assembly.unplaced == [3]


@pytest.mark.parametrize("coarse", [True, False])
def test_of_one_object_the_unsure_is_taken_too_but_last(egg, put, coarse):
    """Part 2 waits for the surer place that is found from afar; below `relaxed` nothing is taken."""
    T = egg[1]
    first = [join(T, 0, 1, 0.95), wrong(1, 2, 0.3, seed=3)]
    later = {"coarse pairs": [join(T, 0, 2, 0.4)]} if coarse else {}
    assembly = put({"pairs": [*first, join(T, 2, 3, 0.01)], **later}, ONE)
    assert used(assembly) == {(0, 1), (0, 2) if coarse else (1, 2)}
    assert assembly.unplaced == [3]
    assert "could not be made one object" in " ".join(assembly.notes)
    assert put({"pairs": [*first, join(T, 2, 3, 0.2)], **later}, ONE).groups == [[0, 1, 2, 3]]
    assert put({"pairs": first, **later}).groups == [[0, 1]]


def test_of_one_object_a_place_is_enough_however_a_part_is_turned_there(egg, put):
    """Four poses of part 2 that turn it otherwise, none of them likely: together they say where it goes."""
    surfaces, T = egg
    true, centre = join(T, 1, 2, 0.06), surfaces[2].T_part_surface.t
    turns = [Pose.random(np.random.default_rng(seed)).R for seed in range(3)]
    at = true.T_i_j.apply(centre)
    turned = [replace(true, T_i_j=Pose(R, at - R @ centre), confidence=0.05) for R in turns]
    joins = [join(T, 0, 1, 0.95), true, *turned]
    told = put({"pairs": joins}, ONE)
    assert told.groups == [[0, 1, 2]]
    assert used(told) == {(0, 1), (1, 2)}
    assert told.poses[2] == pytest.approx(told.poses[1] @ true.T_i_j.matrix())  # of these the likeliest
    assert put({"pairs": joins}).groups == [[0, 1]]
    elsewhere = [replace(k, T_i_j=Pose(k.T_i_j.R, k.T_i_j.t + 2 * n)) for n, k in enumerate(turned, 1)]
    assert put({"pairs": [*joins[:2], *elsewhere]}, ONE).groups == [[0, 1]]


def test_what_groups_say_together_counts_instead_of_what_their_parts_said(egg, put, held):
    """Part 3 has one right place among wrong ones, which compete; as a group, 0 to 2 know better."""
    T = egg[1]
    torn = [join(T, 0, 3, 0.6), wrong(1, 3, 0.6, seed=1), wrong(2, 3, 0.6, seed=2)]
    assert put({"pairs": held + torn, "groups": [join(T, 2, 3, 0.04)]}).unplaced == [3]  # neither likely nor surer
    assembly = put({"pairs": held + torn, "groups": [join(T, 2, 3, 0.55)]})
    assert used(assembly) == {(0, 1), (1, 2), (2, 3)}
    assert {join.parts for join in assembly.joins} == {(0, 1), (1, 2), (2, 3)}


def test_nobody_looks_on_where_nothing_is_open(egg, put):
    """Even of parts that are known to belong together."""
    assembly = put({"pairs": [join(egg[1], i, j, 0.95) for i, j in ((0, 1), (1, 2), (2, 3))]}, ONE, network=True)
    assert assembly.groups == [[0, 1, 2, 3]]
    assert put.asked == ["pairs"]


def test_groups_that_have_changed_settle_where_joins_are_only_as_exact_as_what_they_were_found_by(
    egg, put, monkeypatch
):
    T, settled = egg[1], []
    monkeypatch.setattr(loop, "settle", lambda group, *_: settled.append(sorted(group.T)) or group)
    put({"pairs": [join(T, 0, 1, 0.95)], "coarse pairs": [join(T, 2, 3, 0.9)], "fine": [join(T, 0, 2, 0.9)]})
    assert [group for group in settled if len(group) > 1] == [[2, 3]]


def test_what_is_left_is_sought_with_patience_but_no_less_sure(egg, put, held):
    T = egg[1]
    assembly = put({"pairs": held, "left over": [join(T, 2, 3, 0.6)]}, network=True)
    assert assembly.groups == [[0, 1, 2, 3]]
    assert put.asked[-1] == "left over"
    assert put({"pairs": held, "left over": [join(T, 2, 3, 0.4)]}, network=True).unplaced == [3]


def test_what_is_left_needs_a_place_that_is_likely_however_it_is_turned_there(egg, put, held):
    """What was known of part 3 has been tried along with the rest, and speaks no more."""
    surfaces, T = egg
    first = [*held, join(T, 0, 3, 0.4)]
    true, centre = join(T, 2, 3, 0.3), surfaces[3].T_part_surface.t
    at, turn = true.T_i_j.apply(centre), Pose.random(np.random.default_rng(0)).R
    turned = replace(true, T_i_j=Pose(turn, at - turn @ centre), confidence=0.25)
    assembly = put({"pairs": first, "left over": [true, turned]}, network=True)
    assert assembly.groups == [[0, 1, 2, 3]]
    assert assembly.poses[3] == pytest.approx(assembly.poses[2] @ true.T_i_j.matrix())  # of these the likeliest
    elsewhere = replace(turned, T_i_j=Pose(turn, turned.T_i_j.t + 2))
    assert put({"pairs": first, "left over": [true, elsewhere]}, network=True).unplaced == [3]


def test_patience_is_for_what_is_left_and_where_somebody_says_what_is_broken(put, held):
    put({"pairs": held}, network=True)
    assert "left over" in put.asked
    put({"pairs": held})
    assert "left over" not in put.asked
    put({"pairs": held}, network=True, passes=plan(Acceptance(most_left=1)))
    assert "left over" not in put.asked


def test_guesses_know_what_patience_has_given_up(egg, put, held, monkeypatch):
    T, known = egg[1], []
    given_up, instead = join(T, 0, 3, 0.03), join(T, 2, 3, 0.04)
    rounds = loop.rounds
    seen = lambda state, step: known.append((step.name, {j.parts for j in state.joins})) or rounds(state, step)  # noqa: E731
    monkeypatch.setattr(loop, "rounds", seen)
    patient = put({"pairs": [*held, given_up], "left over": [instead]}, network=True)
    assert {join.parts for join in patient.joins} == {(0, 1), (1, 2), (2, 3)}
    put({"pairs": [*held, given_up], "left over": [instead]}, ONE, network=True)
    assert dict(known)["guess"] == {(0, 1), (0, 3), (1, 2)}


def test_of_one_object_a_guess_is_better_than_nothing(egg, put, held):
    """Below `relaxed`: only where it is known to belong, and only by what looks for that."""
    found = {"pairs": held, "guess": [join(egg[1], 2, 3, 0.04)]}
    assert put(found, ONE).groups == [[0, 1, 2, 3]]
    assert put(found).unplaced == [3]


def test_a_guess_counts_instead_of_what_cannot_be(egg, put, held):
    """A surer join puts part 3 into part 0."""
    surfaces = egg[0]
    T = [pose.inverse() for pose in egg[1]]
    held = [join(T, *k.parts, k.confidence) for k in held]
    at_0, at_3 = (surfaces[k].T_part_surface.t for k in (0, 3))
    inside = replace(join(T, 0, 3, 0.4), T_i_j=Pose(np.eye(3), at_0 - at_3))
    assert put({"pairs": [*held, inside]}, ONE, solid=True).unplaced == [3]
    assembly = put({"pairs": [*held, inside], "guess": [join(T, 2, 3, 0.2)]}, ONE, solid=True)
    assert used(assembly) == {(0, 1), (1, 2), (2, 3)}


@pytest.mark.parametrize(("sure", "groups"), [(0.3, [[0, 1, 2, 3]]), (0.9, [[0, 1], [2, 3]])])
def test_of_one_object_what_fits_nowhere_is_taken_apart_unless_it_is_sure(egg, put, halves, sure, groups):
    T, largest, (i, j) = egg[1], *halves
    held = [join(T, *largest, 0.95), wrong(i, j, sure, seed=1)]
    apart = [join(T, largest[0], i, 0.04), join(T, largest[1], j, 0.04)]
    assembly = put({"pairs": held, "taken apart": apart}, ONE)
    assert sorted(assembly.groups) == groups
    assert [k.parts for k in assembly.joins if not k.used] == ([(i, j)] if len(groups) == 1 else [])


def test_of_one_object_what_was_taken_apart_in_vain_holds_together_again(egg, put, halves):
    T, largest, (i, j) = egg[1], *halves
    held = [join(T, *largest, 0.95), join(T, i, j, 0.3)]
    assert sorted(put({"pairs": held}, ONE).groups) == [[0, 1], [2, 3]]
    assert "taken apart" in put.asked
    one = put({"pairs": held, "taken apart": [join(T, largest[0], i, 0.04)]}, ONE)
    assert one.groups == [[0, 1, 2, 3]]  # where one goes, the other goes along
    assert (i, j) in used(one)


def test_of_one_object_what_a_constraint_joins_is_not_taken_apart(egg, put, halves):
    T, largest, (i, j) = egg[1], *halves
    known = replace(ONE, join=(Touch((i, j)),))
    found = {
        "pairs": [join(T, *largest, 0.95), wrong(i, j, 0.3, seed=1)],
        "taken apart": [join(T, largest[0], i, 0.04)],
    }
    assert sorted(put(found, known).groups) == [[0, 1], [2, 3]]
    assert "taken apart" not in put.asked
