"""Constraints are obeyed, or said not to be: on made-up joins."""

import numpy as np
import pytest

from cmnet.geometry.pose import Pose
from cmnet.solving.assembly import to_assembly
from cmnet.solving.constraints import FORMAT, load_constraints
from cmnet.solving.groups import standing
from cmnet.solving.growth import Problem
from cmnet.solving.solve import solve as solved
from cmnet.solving.terms import terms, unmet
from worlds import error, join, jolt, numbered, pile, world, wrong


def solve(joins, count, against=lambda i, j, T: 0.0, **keys):
    """Through the same steps as an assembly, without surfaces: parts are points."""
    names = [chr(ord("a") + k) for k in range(count)]
    centres, shift, joins = np.zeros((count, 3)), 0.03, numbered(joins)
    known = terms(load_constraints({"format": FORMAT, **keys}, names), centres, shift)
    believed = known.believed(joins, centres, shift)
    problem = Problem(believed, centres, shift, against, 0.5, 0.1, known.start, known.rules)
    groups = solved(problem, 1.0, known.fixed)
    held = standing(groups, np.arange(count, 0, -1.0), known.fixed)
    return to_assembly(held, count, known.listed(joins), [*known.notes, *unmet(known, groups, believed)])


def placed(assembly, parts):
    return {k: Pose.from_matrix(assembly.poses[k]) for k in parts}


def used(assembly):
    return {k.parts for k in assembly.joins if k.used}


def test_a_weak_join_that_is_known_is_used():
    T = world(3)
    joins = [join(T, 0, 1, 0.9), join(T, 1, 2, 0.02), wrong(1, 2, 0.01, 1)]
    assert solve(joins, 3).unplaced == [2]
    assembly = solve(joins, 3, join=[["b", "c"]])
    assert assembly.groups == [[0, 1, 2]]
    assert error(placed(assembly, range(3)), T) < 1e-6
    assert assembly.notes == []
    assert {k.confidence for k in assembly.joins} == {0.9, 0.02, 0.01}


def test_the_way_two_parts_touch_is_what_the_rest_agrees_with():
    T = world(3)
    joins = [join(T, 0, 1, 0.9), join(T, 0, 2, 0.4), wrong(1, 2, 0.02, 1), join(T, 1, 2, 0.015)]
    assembly = solve(joins, 3, join=[["b", "c"]])
    assert error(placed(assembly, range(3)), T) < 1e-6


def test_parts_that_touch_are_not_put_together_otherwise():
    """A surer chain over the third part would put them elsewhere."""
    T = world(3)
    joins = [join(T, 0, 1, 0.9), wrong(1, 2, 0.9, 1), join(T, 0, 2, 0.05)]
    assembly = solve(joins, 3, join=[["a", "c"]])
    assert (0, 2) in used(assembly)
    assert assembly.notes == []


def test_a_join_that_nothing_was_found_for_is_reported():
    T = world(3)
    assembly = solve([join(T, 0, 1, 0.9)], 3, join=[["b", "c"]])
    assert assembly.unplaced == [2]
    assert len(assembly.notes) == 1
    assert "b and c" in assembly.notes[0]


def test_a_join_that_runs_into_a_part_is_reported_and_others_need_their_evidence():
    bad, weak = wrong(0, 1, 0.6, 1), wrong(0, 1, 0.1, 2)
    assembly = solve([bad, weak], 2, against=lambda i, j, T: 99.0, join=[["a", "b"]])
    assert assembly.groups == []
    assert len(assembly.notes) == 1
    assert "runs into" in assembly.notes[0]


def test_a_given_relative_pose_is_taken_as_it_is():
    T = world(3)
    true = T[0].inverse() @ T[2]
    entry = {"parts": ["a", "c"], "pose": true.matrix().tolist()}
    joins = [join(T, 0, 1, 0.9), wrong(0, 2, 0.95, 1)]
    assembly = solve(joins, 3, against=lambda i, j, T: 99.0 if (i, j) == (0, 2) else 0.0, join=[entry])
    assert error(placed(assembly, range(3)), T) < 1e-6
    assert len(assembly.joins) == 3
    assert [k.confidence for k in assembly.joins if k.used] == [1.0, 0.9]
    given = assembly.joins[0]
    assert (given.contact_area, given.gap_rms, given.penetration) == (None, None, None)  # nobody has measured it


def test_forbidden_parts_are_never_joined_directly():
    T = world(3)
    assembly = solve([join(T, 0, 1, 0.9), join(T, 1, 2, 0.9)], 3, forbid=[["a", "b"]])
    assert assembly.groups == [[1, 2]]
    assert len(assembly.joins) == 2
    assembly = solve([join(T, i, j, 0.9) for i, j in ((0, 1), (1, 2), (0, 2))], 3, forbid=[["a", "b"]])
    assert assembly.groups == [[0, 1, 2]]
    assert used(assembly) == {(1, 2), (0, 2)}


@pytest.mark.parametrize("turned", [False, True])
def test_parts_are_not_joined_in_a_pose_that_is_known_to_be_wrong(turned):
    """Nor beside it; any other pose of theirs counts as it did."""
    T, rng = world(3), np.random.default_rng(0)
    mistaken, true = wrong(1, 2, 0.8, 1), join(T, 1, 2, 0.6)
    joins = [join(T, 0, 1, 0.9), mistaken, true]
    assert error(placed(solve(joins, 3), range(3)), T) > 0.1
    pose = (mistaken.T_i_j @ jolt(rng, 0.005)).matrix()
    entry = {"parts": ["c", "b"], "pose": np.linalg.inv(pose)} if turned else {"parts": ["b", "c"], "pose": pose}
    entry["pose"] = entry["pose"].tolist()
    assembly = solve(joins, 3, forbid=[entry])
    assert error(placed(assembly, range(3)), T) < 1e-6
    assert {k.confidence for k in assembly.joins if not k.used} == {0.8}  # listed still
    assert solve(joins[:2], 3, forbid=[entry]).unplaced == [2]


def test_different_parts_never_come_together():
    T = world(4)
    joins = [join(T, 0, 1, 0.9), join(T, 1, 2, 0.8), join(T, 2, 3, 0.9)]
    assembly = solve(joins, 4, different=[["a", "d"]])
    assert sorted(assembly.groups) == [[0, 1], [2, 3]]
    assert assembly.notes == []


def test_same_parts_need_less_evidence():
    T = world(3)
    joins = [join(T, 0, 1, 0.9), join(T, 1, 2, 0.3)]
    assert solve(joins, 3, same=[["a", "c"]]).groups == [[0, 1, 2]]
    assert solve(joins, 3, same=[["a", "b"]]).groups == [[0, 1]]
    assembly = solve(joins[:1], 3, same=[["a", "b", "c"]])
    assert len(assembly.notes) == 1
    assert assembly.notes[0] == "all parts could not be made one object: no joins connect a, b with c."
    assert solve(joins[:1], 4, same=[["a", "b", "c"]]).notes[0].startswith("same a, b, c could not be obeyed: no joins")


def test_a_group_stands_where_its_part_is_fixed():
    T = world(4)
    joins = [join(T, 0, 1, 0.9), join(T, 2, 3, 0.9)]
    assembly = solve(joins, 4, fix=[{"part": "b", "pose": T[1].matrix().tolist()}])
    for k in (0, 1):
        assert np.allclose(assembly.poses[k], T[k].matrix(), atol=1e-6)
    assert np.array_equal(assembly.poses[2], np.eye(4))  # the other group stands where its largest part lies


def test_fixed_parts_hold_together_and_stay_exactly_where_they_are():
    rng = np.random.default_rng(0)
    T = world(4)
    joins = [join(T, i, j, 0.9, 0.01, rng) for i in range(4) for j in range(i + 1, 4)]
    fix = [{"part": k, "pose": T[k].matrix().tolist()} for k in (1, 3)]
    assembly = solve(joins, 4, fix=fix)
    assert assembly.groups == [[0, 1, 2, 3]]
    for k in (1, 3):
        assert np.allclose(assembly.poses[k], T[k].matrix(), atol=1e-9)
    assert error(placed(assembly, range(4)), T) < 0.05
    apart = solve([join(T, 0, 1, 0.9)], 4, fix=fix)
    assert apart.groups == [[0, 1, 3]]
    assert apart.unplaced == [2]


def test_one_fixed_part_alone_is_placed():
    T = world(2)
    assembly = solve([], 2, fix=[{"part": "b", "pose": T[1].matrix().tolist()}])
    assert assembly.groups == [[1]]
    assert assembly.unplaced == [0]
    assert np.allclose(assembly.poses[1], T[1].matrix())


def test_fixed_parts_of_different_objects_stay_apart():
    T = world(4)
    joins = [join(T, 0, 1, 0.9), join(T, 2, 3, 0.9), join(T, 1, 2, 0.9)]
    fix = [{"part": k, "pose": T[k].matrix().tolist()} for k in (0, 3)]
    assembly = solve(joins, 4, fix=fix, different=[["a", "d"]])
    assert len(assembly.groups) == 2
    assert all(np.allclose(assembly.poses[k], T[k].matrix(), atol=1e-6) for k in range(4))


@pytest.mark.parametrize(
    "keys",
    [
        {"join": [["a", "b"]], "forbid": [["a", "b"]]},
        {"join": [["a", "b"]], "different": [["a", "b"]]},
        {"same": [["a", "b", "c"]], "different": [["a", "c"]]},
        {"join": [["a", "b"], ["b", "c"]], "different": [["a", "c"]]},
        {"fix": [{"part": 0, "pose": world(1)[0].matrix().tolist()}, {"part": 0, "pose": np.eye(4).tolist()}]},
    ],
)
def test_contradictions_are_reported_and_the_stricter_is_obeyed(keys):
    T = world(3)
    joins = [join(T, i, j, 0.9) for i in range(3) for j in range(i + 1, 3)]
    assembly = solve(joins, 3, **keys)
    assert assembly.notes
    for a, b in keys.get("forbid", []):
        assert (ord(a) - 97, ord(b) - 97) not in used(assembly)
    for a, b in keys.get("different", []):
        assert not any({ord(a) - 97, ord(b) - 97} <= set(group) for group in assembly.groups)


@pytest.mark.parametrize("seed", range(3))
def test_true_constraints_keep_the_truth(seed):
    rng = np.random.default_rng(seed)
    T, joins = pile(8, rng)
    touching = [list(k.parts) for k in joins[:2]]
    fix = [{"part": k, "pose": T[k].matrix().tolist()} for k in (2, 5)]
    assembly = solve(joins, 8, join=touching, fix=fix, same=[[0, 7]])
    assert assembly.groups == [list(range(8))]
    assert all(np.linalg.norm(assembly.poses[k][:3, 3] - T[k].t) < 0.05 for k in range(8))
