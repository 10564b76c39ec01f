"""Reading constraints: every mistake becomes one sentence that names the entry."""

import json
from pathlib import Path

import numpy as np
import pytest

from cmnet import reading
from cmnet.errors import InputError
from cmnet.geometry.pose import Pose
from cmnet.parts.part import Part
from cmnet.solving.constraints import FORMAT, load_constraints, of_one_object

NAMES = ["rim", "base", "handle", "foot"]
EYE = np.eye(4).tolist()


def read(**keys):
    return load_constraints({"format": FORMAT, **keys}, NAMES)


def test_everything_is_read(tmp_path):
    T = Pose.random(np.random.default_rng(0), spread=1.0)
    path = tmp_path / "constraints.json"
    path.write_text(
        json.dumps(
            {
                "format": FORMAT,
                "join": [["base", "rim"], {"parts": [3, "rim"], "pose": T.matrix().tolist()}],
                "forbid": [["handle", 1]],
                "fix": [{"part": "base.ply", "pose": EYE}],
                "same": [["rim", "base", "foot"]],
                "different": [["rim", "handle", "foot"]],
            }
        )
    )
    found = load_constraints(path, NAMES)
    assert found.names == tuple(NAMES)
    assert [touch.parts for touch in found.join] == [(0, 1), (0, 3)]
    assert np.allclose(found.join[1].T_i_j.matrix(), T.inverse().matrix())  # turned round with its parts
    assert found.forbid == ((1, 2),)
    assert found.fix[0][0] == 1
    assert found.same == ((0, 1, 3),)
    assert found.different == ((0, 2), (0, 3), (2, 3))


def test_a_pose_is_forbidden_or_a_pair():
    T = Pose.random(np.random.default_rng(0), spread=1.0)
    found = read(forbid=[["rim", "base"], {"parts": ["foot", 0], "pose": T.matrix().tolist()}, {"parts": [1, 2]}])
    assert found.forbid == ((0, 1), (1, 2))
    (wrong,) = found.wrong
    assert wrong.parts == (0, 3)
    assert np.allclose(wrong.T_i_j.matrix(), T.inverse().matrix())  # turned round with its parts
    with pytest.raises(InputError, match="entry 1 of 'forbid': a pose is 4 rows"):
        read(forbid=[{"parts": ["rim", "base"], "pose": EYE[:3]}])


def test_of_one_object_all_are_the_same_and_the_rest_is_kept():
    assert of_one_object(NAMES).same == ((0, 1, 2, 3),)
    known = of_one_object(NAMES, read(forbid=[["handle", "base"]], same=[["rim", "base"]]))
    assert (known.forbid, known.same, known.names) == (((1, 2),), ((0, 1, 2, 3),), tuple(NAMES))


def test_parts_are_found_by_name_before_file_name():
    points = np.zeros((3, 3))
    parts = [Part("a", points, file=Path("x/b.ply")), Part("b", points, file=Path("x/a.ply")), Part("a.obj", points)]
    found = load_constraints({"format": FORMAT, "same": [["b", "b.ply"], ["a.obj", "y/a.ply"]]}, parts)
    assert found.same == ((1, 0), (2, 1))
    with pytest.raises(InputError, match="several parts"):
        load_constraints({"format": FORMAT, "same": [["v.ply", "w"]]}, [*_twice("v.ply"), Part("w", points)])


def _twice(file):
    return [Part(name, np.zeros((3, 3)), file=Path(folder) / file) for folder, name in (("x", "v_1"), ("y", "v_2"))]


def test_a_rounded_rotation_becomes_an_exact_one():
    angle = np.radians(30)
    M = np.eye(4)
    M[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    ((_, T),) = read(fix=[{"part": 0, "pose": M.round(4).tolist()}]).fix
    assert np.allclose(T.R @ T.R.T, np.eye(3), atol=1e-12)
    assert np.allclose(T.R, M[:3, :3], atol=1e-3)


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"join": [["rim", "hadle"]]}, "entry 1 of 'join'.*no part 'hadle'.*did you mean 'handle'"),
        ({"join": [["rim", 4]]}, "no part 4.*0 to 3"),
        ({"join": [["rim", True]]}, "by name, file name or number"),
        ({"join": [["rim", "rim"]]}, "names a part twice"),
        ({"join": [["rim"]]}, "list of 2 parts"),
        ({"join": [["rim", "base", "foot"]]}, "list of 2 parts"),
        ({"join": "rim"}, "'join' is a list"),
        ({"joins": []}, "unknown key 'joins'.*did you mean 'join'"),
        ({"join": [{"parts": ["rim", "base"], "poes": EYE}]}, "unknown key 'poes'.*did you mean 'pose'"),
        ({"join": [{"pose": EYE}]}, "list of 2 parts"),
        ({"same": [["rim"]]}, "two or more parts"),
        ({"forbid": [["rim", "base"], ["rim", "x"]]}, "entry 2 of 'forbid'"),
        ({"fix": [["rim", EYE]]}, "must read"),
        ({"fix": [{"part": "rim"}]}, "must read"),
        ({"fix": [{"part": "rim", "pose": EYE[:3]}]}, "4 rows of 4 numbers"),
        ({"fix": [{"part": "rim", "pose": [["a"] * 4] * 4}]}, "4 rows of 4 numbers"),
        ({"fix": [{"part": "rim", "pose": [[1, 0], [0]]}]}, "4 rows of 4 numbers"),
        ({"fix": [{"part": "rim", "pose": np.diag([2.0, 2, 2, 1]).tolist()}]}, "not a rotation.*2"),
        ({"fix": [{"part": "rim", "pose": np.diag([1.0, 1, -1, 1]).tolist()}]}, "mirrors"),
        ({"fix": [{"part": "rim", "pose": np.full((4, 4), np.nan).tolist()}]}, "4 rows of 4 numbers"),
        ({"fix": [{"part": "rim", "pose": [[1, 0, 0, 1e300], *EYE[1:]]}]}, "numbers up to"),
        ({"fix": [{"part": "rim", "pose": [[1, 0, 0, 10**400], *EYE[1:]]}]}, "4 rows of 4 numbers"),
    ],
)
def test_mistakes_are_named(keys, says):
    with pytest.raises(InputError, match=says):
        read(**keys)


@pytest.mark.parametrize(
    "text",
    ["", "[", "[]", "{}", '{"format": "cmnet.assembly/1"}', "\udcff", "[" * 100_000, "9" * 5000, "-" + "9" * 301],
    ids=["nothing", "open", "list", "bare", "assembly", "bytes", "deep", "digits", "fewer digits"],
)
def test_files_that_hold_no_constraints_are_refused(tmp_path, text):
    path = tmp_path / "c.json"
    path.write_bytes(text.encode("utf-8", errors="surrogateescape"))
    with pytest.raises(InputError, match=r"c\.json"):
        load_constraints(path, NAMES)
    with pytest.raises(InputError, match="cannot read"):
        load_constraints(tmp_path, NAMES)
    with pytest.raises(InputError, match="cannot read"):
        load_constraints(tmp_path / "none.json", NAMES)


def test_a_file_may_begin_with_the_mark_of_windows_editors(tmp_path):
    (tmp_path / "c.json").write_text(json.dumps({"format": FORMAT, "join": [["rim", "base"]]}), encoding="utf-8-sig")
    assert len(load_constraints(tmp_path / "c.json", NAMES).join) == 1


def test_a_file_without_end_is_not_read_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "LARGEST", 1000)
    (tmp_path / "c.json").write_text("[" + " " * 2000 + "]")
    with pytest.raises(InputError, match="longer than"):
        load_constraints(tmp_path / "c.json", NAMES)


def test_other_things_than_constraints_are_refused():
    with pytest.raises(InputError, match="not a list of 1"):
        load_constraints([["rim", "base"]], NAMES)
