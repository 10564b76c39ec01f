"""What one look leaves open, the next may settle."""

from dataclasses import replace

import numpy as np
import pytest

import cmnet.solving.looks as looks
from cmnet.geometry.pose import Pose
from cmnet.pairing.stages import ALL, Stages
from cmnet.solving.constraints import Touch, of_one_object
from cmnet.solving.looks import look_again
from worlds import join, wrong

BLIND = Stages(verify=False)  # whatever the joins say is possible


@pytest.fixture
def coarse_sees(monkeypatch):
    """Tell what the coarse look finds between single parts; nothing else finds anything."""

    def tell(joins):
        monkeypatch.setattr(looks.Rematcher, "between", lambda self, groups, known=(): [])
        monkeypatch.setattr(looks.Rematcher, "across", lambda self, groups, known=(): joins)

    return tell


def put_together(egg, joins, coarse=True, constraints=None):
    surfaces, _ = egg
    each = lambda work, count: [work(k) for k in range(count)]  # noqa: E731
    return look_again(surfaces, joins, lambda: surfaces if coarse else [], list, {}, each, constraints, BLIND)


def used(assembly):
    return {join.parts for join in assembly.joins if join.used}


def test_a_likely_join_waits_for_a_surer_one(egg, coarse_sees):
    """The wrong place is taken only if no later look knows better."""
    T = egg[1]
    sure, mistaken = join(T, 0, 1, 0.95), wrong(1, 2, 0.6, seed=3)
    coarse_sees([join(T, 0, 2, 0.9)])
    assembly = put_together(egg, [sure, mistaken])
    assert used(assembly) == {(0, 1), (0, 2)}
    assert assembly.groups == [[0, 1, 2]]


@pytest.mark.parametrize("coarse", [True, False])
def test_what_is_likely_is_taken_in_the_end(egg, coarse_sees, coarse):
    T = egg[1]
    coarse_sees([])
    assembly = put_together(egg, [join(T, 0, 1, 0.95), join(T, 1, 2, 0.6), join(T, 2, 3, 0.4)], coarse)
    assert used(assembly) == {(0, 1), (1, 2)}
    assert assembly.unplaced == [3]


@pytest.mark.parametrize("coarse", [True, False])
def test_of_one_object_the_unsure_is_taken_too_but_last(egg, coarse_sees, coarse):
    """Part 2 waits for the surer place that the coarse look finds; below RELAXED nothing is taken."""
    T, known = egg[1], of_one_object("abcd")
    first = [join(T, 0, 1, 0.95), wrong(1, 2, 0.3, seed=3)]
    coarse_sees([join(T, 0, 2, 0.4)])
    found = {(0, 2)} if coarse else {(1, 2)}
    assembly = put_together(egg, [*first, join(T, 2, 3, 0.05)], coarse, known)
    assert used(assembly) == {(0, 1)} | found
    assert assembly.unplaced == [3]
    assert "could not be made one object" in " ".join(assembly.notes)
    assert put_together(egg, [*first, join(T, 2, 3, 0.2)], coarse, known).groups == [[0, 1, 2, 3]]
    assert put_together(egg, first, coarse).groups == [[0, 1]]


def test_of_one_object_a_place_is_enough_however_a_part_is_turned_there(egg, coarse_sees):
    """Four poses of part 2 that turn it otherwise, none of them likely: together they say where it goes."""
    surfaces, T = egg
    coarse_sees([])
    true, centre = join(T, 1, 2, 0.06), surfaces[2].T_part_surface.t
    turns = [Pose.random(np.random.default_rng(seed)).R for seed in range(3)]
    at = true.T_i_j.apply(centre)
    turned = [replace(true, T_i_j=Pose(R, at - R @ centre), confidence=0.05) for R in turns]
    joins = [join(T, 0, 1, 0.95), true, *turned]
    told = put_together(egg, joins, constraints=of_one_object("abcd"))
    assert told.groups == [[0, 1, 2]]
    assert used(told) == {(0, 1), (1, 2)}
    assert told.poses[2] == pytest.approx(told.poses[1] @ true.T_i_j.matrix())  # of these the likeliest
    assert put_together(egg, joins).groups == [[0, 1]]
    elsewhere = [replace(k, T_i_j=Pose(k.T_i_j.R, k.T_i_j.t + 2 * n)) for n, k in enumerate(turned, 1)]
    assert put_together(egg, [*joins[:2], *elsewhere], constraints=of_one_object("abcd")).groups == [[0, 1]]


def test_what_groups_say_together_counts_instead_of_what_their_parts_said(egg, monkeypatch):
    """Part 3 has one right place among wrong ones, which compete; as a group, 0 to 2 know better."""
    T = egg[1]
    held = [join(T, 0, 1, 0.95), join(T, 1, 2, 0.95)]
    torn = [join(T, 0, 3, 0.6), wrong(1, 3, 0.6, seed=1), wrong(2, 3, 0.6, seed=2)]

    def between(sure):
        return lambda self, groups, known=(): [join(T, 2, 3, sure)] if len(groups) == 2 else []

    monkeypatch.setattr(looks.Rematcher, "between", between(0.04))  # neither likely nor surer
    assert put_together(egg, held + torn, coarse=False).unplaced == [3]
    monkeypatch.setattr(looks.Rematcher, "between", between(0.55))
    assembly = put_together(egg, held + torn, coarse=False)
    assert used(assembly) == {(0, 1), (1, 2), (2, 3)}
    assert {join.parts for join in assembly.joins} == {(0, 1), (1, 2), (2, 3)}


def test_no_further_look_where_nothing_is_open(egg):
    T = egg[1]
    asked = []
    all_of_it = [join(T, i, j, 0.95) for i, j in ((0, 1), (1, 2), (2, 3))]
    look = lambda: asked.append(1) or []  # noqa: E731
    assembly = look_again(egg[0], all_of_it, look, look, {}, lambda work, count: [], stages=BLIND)
    assert assembly.groups == [[0, 1, 2, 3]]
    assert not asked


def test_without_rematching_groups_are_never_matched(egg, monkeypatch):
    """Single parts are, at every look."""
    looked = []
    monkeypatch.setattr(looks.Rematcher, "between", lambda *_: pytest.fail("groups were matched"))
    monkeypatch.setattr(looks.Rematcher, "across", lambda self, groups, known=(): looked.append(len(groups)) or [])
    surfaces, T = egg
    alone, known = replace(BLIND, rematch=False), of_one_object("abcd")
    give = lambda: list(surfaces)  # noqa: E731
    assembly = look_again(surfaces, [join(T, 0, 1, 0.95)], give, give, {}, lambda work, count: [], known, alone)
    assert assembly.groups == [[0, 1]]
    assert looked == [3, 3]  # the coarse look and the finest


@pytest.fixture
def leaving(egg, monkeypatch):
    """Put parts together by joins that hold, and by what is found only with patience; which looks were patient."""

    def put(held, later, network=True):
        surfaces = [replace(s, broken=np.zeros(len(s.points)) if network else None) for s in egg[0]]
        patient = []
        between = lambda self, groups, known=(): patient.append(bool(self.same)) or (later if self.same else [])  # noqa: E731
        monkeypatch.setattr(looks.Rematcher, "between", between)
        monkeypatch.setattr(looks.Rematcher, "across", lambda self, groups, known=(): [])
        give = lambda: list(surfaces)  # noqa: E731
        return look_again(surfaces, held, give, list, {}, lambda work, count: [], None, BLIND), patient

    return put


def test_what_is_left_is_sought_with_patience_but_no_less_sure(egg, leaving):
    T = egg[1]
    held = [join(T, 0, 1, 0.95), join(T, 1, 2, 0.95)]
    assembly, patient = leaving(held, [join(T, 2, 3, 0.6)])
    assert assembly.groups == [[0, 1, 2, 3]]
    assert patient == sorted(patient)  # in the end
    assert leaving(held, [join(T, 2, 3, 0.4)])[0].unplaced == [3]


def test_what_is_left_needs_a_place_that_is_likely_however_it_is_turned_there(egg, leaving):
    """What was known of part 3 has been tried along with the rest, and speaks no more."""
    surfaces, T = egg
    held = [join(T, 0, 1, 0.95), join(T, 1, 2, 0.95), join(T, 0, 3, 0.4)]
    true, centre = join(T, 2, 3, 0.3), surfaces[3].T_part_surface.t
    at, turn = true.T_i_j.apply(centre), Pose.random(np.random.default_rng(0)).R
    turned = replace(true, T_i_j=Pose(turn, at - turn @ centre), confidence=0.25)
    assembly = leaving(held, [true, turned])[0]
    assert assembly.groups == [[0, 1, 2, 3]]
    assert assembly.poses[3] == pytest.approx(assembly.poses[2] @ true.T_i_j.matrix())  # of these the likeliest
    elsewhere = replace(turned, T_i_j=Pose(turn, turned.T_i_j.t + 2))
    assert leaving(held, [true, elsewhere])[0].unplaced == [3]


def test_patience_is_for_what_is_left_and_where_somebody_says_what_is_broken(egg, leaving, monkeypatch):
    T = egg[1]
    held = [join(T, 0, 1, 0.95), join(T, 1, 2, 0.95)]
    assert not any(leaving([*held, join(T, 2, 3, 0.95)], [])[1])
    assert not any(leaving(held, [], network=False)[1])
    monkeypatch.setattr(looks, "LEFT", 1)
    assert not any(leaving(held, [])[1])


def test_guesses_know_what_patience_has_given_up(egg, monkeypatch):
    T = egg[1]
    surfaces = [replace(s, broken=np.zeros(len(s.points))) for s in egg[0]]
    held, given_up, instead = [join(T, 0, 1, 0.95), join(T, 1, 2, 0.95)], join(T, 0, 3, 0.03), join(T, 2, 3, 0.04)
    seen = []

    def between(self, groups, known=()):
        if self.belong:
            seen.append([join.parts for join in known])
        return [instead] if self.same and not self.belong else []

    monkeypatch.setattr(looks.Rematcher, "between", between)
    monkeypatch.setattr(looks.Rematcher, "across", lambda self, groups, known=(): [])
    give = lambda: list(surfaces)  # noqa: E731
    look_again(surfaces, [*held, given_up], give, list, {}, lambda work, count: [], of_one_object("abcd"), BLIND)
    assert sorted(seen[0]) == [(0, 1), (0, 3), (1, 2)]


@pytest.fixture
def guessing(egg, monkeypatch):
    """Put parts together by joins and, of so many groups known to belong together, by guesses."""
    surfaces = egg[0]
    give = lambda: list(surfaces)  # noqa: E731

    def put(held, guesses, groups, constraints, stages=BLIND):
        found = lambda self, among, known=(): guesses if self.same and len(among) == groups else []  # noqa: E731
        monkeypatch.setattr(looks.Rematcher, "between", found)
        monkeypatch.setattr(looks.Rematcher, "across", lambda self, among, known=(): [])
        return look_again(surfaces, held, give, list, {}, lambda work, count: [], constraints, stages)

    return put


def test_of_one_object_a_guess_is_better_than_nothing(egg, guessing):
    """Below RELAXED: only where it is known to belong, and only by what looks for that."""
    T = egg[1]
    held, guess = [join(T, 0, 1, 0.95), join(T, 1, 2, 0.95)], [join(T, 2, 3, 0.04)]
    assert guessing(held, guess, 2, of_one_object("abcd")).groups == [[0, 1, 2, 3]]
    assert guessing(held, guess, 2, None).unplaced == [3]


def test_a_guess_counts_instead_of_what_cannot_be(egg, guessing):
    """A surer join puts part 3 into part 0."""
    surfaces, T = egg[0], [pose.inverse() for pose in egg[1]]
    held, known = [join(T, 0, 1, 0.95), join(T, 1, 2, 0.95)], of_one_object("abcd")
    at_0, at_3 = (surfaces[k].T_part_surface.t for k in (0, 3))
    inside = replace(join(T, 0, 3, 0.4), T_i_j=Pose(np.eye(3), at_0 - at_3))
    assert guessing([*held, inside], [], 2, known, ALL).unplaced == [3]
    assembly = guessing([*held, inside], [join(T, 2, 3, 0.2)], 2, known, ALL)
    assert used(assembly) == {(0, 1), (1, 2), (2, 3)}


@pytest.fixture
def halves(egg):
    """Two pairs of parts, the larger one first."""
    return sorted(((0, 1), (2, 3)), key=lambda pair: -sum(egg[0][k].area for k in pair))


@pytest.mark.parametrize(("sure", "groups"), [(0.3, [[0, 1, 2, 3]]), (0.9, [[0, 1], [2, 3]])])
def test_of_one_object_what_fits_nowhere_is_taken_apart_unless_it_is_sure(egg, halves, guessing, sure, groups):
    T, largest, (i, j) = egg[1], *halves
    held = [join(T, *largest, 0.95), wrong(i, j, sure, seed=1)]
    assembly = guessing(held, [join(T, largest[0], i, 0.04), join(T, largest[1], j, 0.04)], 3, of_one_object("abcd"))
    assert assembly.groups == groups or assembly.groups == groups[::-1]
    assert [k.parts for k in assembly.joins if not k.used] == ([(i, j)] if len(groups) == 1 else [])


def test_of_one_object_what_was_taken_apart_in_vain_holds_together_again(egg, halves, guessing):
    T, largest, (i, j) = egg[1], *halves
    held = [join(T, *largest, 0.95), join(T, i, j, 0.3)]
    assert sorted(guessing(held, [], 3, of_one_object("abcd")).groups) == [[0, 1], [2, 3]]
    one = guessing(held, [join(T, largest[0], i, 0.04)], 3, of_one_object("abcd"))
    assert one.groups == [[0, 1, 2, 3]]  # where one goes, the other goes along
    assert (i, j) in used(one)


def test_of_one_object_what_a_constraint_joins_is_not_taken_apart(egg, halves, guessing):
    T, largest, (i, j) = egg[1], *halves
    known = replace(of_one_object("abcd"), join=(Touch((i, j)),))
    held, guesses = [join(T, *largest, 0.95), wrong(i, j, 0.3, seed=1)], [join(T, largest[0], i, 0.04)]
    assert sorted(guessing(held, guesses, 3, known).groups) == [[0, 1], [2, 3]]
