"""Constraints that exclude each other are reported, and the stricter ones stay."""

import numpy as np
import pytest

from cmnet.solving.constraints import FORMAT, load_constraints
from cmnet.solving.contradictions import without_contradictions
from worlds import world

NAMES = ["a", "b", "c", "d"]
POSES = [T.matrix().tolist() for T in world(4)]


def settled(**keys):
    return without_contradictions(load_constraints({"format": FORMAT, **keys}, NAMES), np.zeros((4, 3)), 0.03)


def relative(i, j):
    T = world(4)
    return (T[i].inverse() @ T[j]).matrix().tolist()


def test_constraints_that_agree_are_left_alone():
    found, notes = settled(
        join=[["a", "b"], {"parts": ["b", "c"], "pose": relative(1, 2)}],
        forbid=[["a", "c"]],
        fix=[{"part": "b", "pose": POSES[1]}, {"part": "c", "pose": POSES[2]}, {"part": "b", "pose": POSES[1]}],
        same=[["a", "b", "c"]],
        different=[["a", "d"]],
    )
    assert notes == []
    assert [touch.parts for touch in found.join] == [(0, 1), (1, 2)]
    assert [part for part, _ in found.fix] == [1, 2]


def test_forbid_wins_over_join():
    found, notes = settled(join=[["a", "b"], ["b", "c"]], forbid=[["b", "a"]])
    assert [touch.parts for touch in found.join] == [(1, 2)]
    assert len(notes) == 1
    assert "a and b" in notes[0]
    assert "forbid" in notes[0]


def test_different_wins_over_join():
    found, notes = settled(join=[["a", "b"]], different=[["a", "b"]])
    assert found.join == ()
    assert found.different == ((0, 1),)
    assert len(notes) == 1


def test_same_and_different_contradict_by_any_chain():
    for keys in (
        {"same": [["a", "b"], ["b", "c"]]},
        {"same": [["a", "b", "c"]]},
        {"same": [["a", "b"]], "join": [["c", "b"]]},
    ):
        found, notes = settled(**keys, different=[["a", "c"]])
        assert len(notes) == 1
        assert "a – b – c" in notes[0]
        assert found.different == ((0, 2),)
    assert settled(same=[["a", "b"], ["c", "d"]], different=[["a", "c"]])[1] == []


@pytest.mark.parametrize(
    "keys",
    [
        {"fix": [{"part": "a", "pose": POSES[0]}, {"part": "a", "pose": POSES[1]}]},
        {
            "fix": [{"part": "a", "pose": POSES[0]}, {"part": "b", "pose": POSES[1]}],
            "join": [{"parts": ["a", "b"], "pose": POSES[3]}],
        },
        {"join": [{"parts": ["a", "b"], "pose": POSES[0]}, {"parts": ["a", "b"], "pose": POSES[1]}]},
        {
            "join": [
                {"parts": ["a", "b"], "pose": relative(0, 1)},
                {"parts": ["b", "c"], "pose": relative(1, 2)},
                {"parts": ["c", "a"], "pose": POSES[3]},
            ]
        },
    ],
    ids=["fixed twice", "fixed and joined", "joined twice", "in a ring"],
)
def test_given_poses_must_close(keys):
    found, notes = settled(**keys)
    assert len(notes) == 1
    entries = len(keys.get("fix", [])) + len(keys.get("join", []))
    assert len(found.fix) + len(found.join) == entries - 1
