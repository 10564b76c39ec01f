import hashlib
import io
import json
import logging
import os
import sys
from dataclasses import replace

import numpy as np
import pytest
import trimesh

import cmnet.assembler
from cmnet.cli import main
from cmnet.cli.assembly_tables import joins_table
from cmnet.geometry.pose import Pose
from cmnet.model.weights import find_weights
from cmnet.pairing.join import Join
from cmnet.parts.load import load_parts
from cmnet.report.measured import measure
from cmnet.report.viewer_data import page_data
from cmnet.solving.assembly import Assembly
from results import hand_made, unmeasured

BALL = trimesh.creation.icosphere(3)


@pytest.fixture
def quick(monkeypatch):
    """No geometry: the first two parts are joined, the rest stays loose."""

    def assemble(self, parts, progress=None, **settings):
        (progress or (lambda *words: None))("joins", 0, 1)
        poses = np.tile(np.eye(4), (len(parts), 1, 1))
        join = Join((0, 1), Pose.identity(), 0.5, 0.1, 0.2, 0.3, True)
        return Assembly(poses, [[0, 1]], list(range(2, len(parts))), [join])

    monkeypatch.setattr(cmnet.assembler.Assembler, "assemble_loaded", assemble)


@pytest.fixture
def pile(tmp_path):
    folder = tmp_path / "my pile"
    folder.mkdir()
    for k, name in enumerate(("Scherbe Ä", "[red]b", "c")):
        BALL.copy().apply_scale(1 + k / 5).export(folder / f"{name}.stl")
    return folder


def test_a_folder_becomes_a_folder(quick, pile, tmp_path, capsys):
    out = tmp_path / "result of today"
    assert main(["assemble", str(pile), "-o", str(out)]) == 0
    shown = capsys.readouterr().out
    for words in (
        "1,280",
        "yes",
        "50 %",
        "2 of 3 parts placed",
        "Not placed: c",
        "[red]b",
        "unit of the files",
        "colours in gaps: yellow touches",
    ):
        assert words in shown
    assert f"next: cmnet view '{out}'" in shown
    content = json.loads((out / "assembly.json").read_text(encoding="utf-8"))
    assert [p["file"] for p in content["parts"]] == ["Scherbe Ä.stl", "[red]b.stl", "c.stl"]
    files = {"report.html", "assembly.json", "assembled.glb", "placed", "gaps", "joins.csv", "config.yaml"}
    assert {p.name for p in out.iterdir()} == files
    assert len(load_parts(out / "placed")) == 3


def test_what_was_not_measured_is_unknown_in_the_table():
    assembly, parts = hand_made(("a", "b", "c"))
    shown = [list(column.cells) for column in joins_table(unmeasured(assembly), parts).columns[2:]]
    assert shown == [["unknown"]] * 5


@pytest.mark.parametrize("confidence", [0.0, 0.004, 0.5, 0.986, 0.9999, None])
def test_terminal_and_page_say_the_same_of_a_join(confidence):
    assembly, parts = hand_made(("a", "b", "c"))
    assembly = replace(assembly, joins=[replace(assembly.joins[0], confidence=confidence)])
    facts, _ = page_data(assembly, measure(assembly, parts), "x", "")
    (said,) = joins_table(assembly, parts).columns[2].cells
    assert facts["joins"][0]["sure"].replace("\u00a0", " ") == said


@pytest.mark.parametrize(("more", "hinted"), [([], True), (["--one-object"], False), (["--solver", "paper"], False)])
def test_where_parts_stay_out_it_says_what_may_help(quick, pile, tmp_path, capsys, more, hinted):
    assert main(["assemble", str(pile), "-o", str(tmp_path / "out"), *more]) == 0
    assert ("--one-object puts the rest" in capsys.readouterr().out) == hinted


def test_json_prints_the_file_and_nothing_else(quick, pile, tmp_path, capsys):
    assert main(["assemble", str(pile), "-o", str(tmp_path / "out"), "--json", "--seed", "4"]) == 0
    shown = capsys.readouterr()
    assert shown.out == (tmp_path / "out/assembly.json").read_text(encoding="utf-8")
    assert json.loads(shown.out)["seed"] == 4
    assert shown.err == ""


def test_quiet_prints_nothing(quick, pile, tmp_path, capsys, caplog):
    crumb = BALL.copy().apply_scale(0.001).apply_translation([9, 0, 0])
    trimesh.util.concatenate([BALL, BALL.copy().apply_translation([5, 0, 0]), crumb]).export(tmp_path / "two.ply")
    assert main(["assemble", str(tmp_path / "two.ply"), "-o", str(tmp_path / "out"), "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert not caplog.records
    assert not logging.getLogger("cmnet").disabled


def test_an_earlier_result_is_replaced_by_force_only(quick, pile, tmp_path, capsys):
    out = str(tmp_path / "out")
    assert main(["assemble", str(pile), "-o", out, "--quiet"]) == 0
    assert main(["assemble", str(pile), "-o", out]) == 2
    assert "--force" in capsys.readouterr().err
    assert main(["assemble", str(pile), "-o", out, "--force", "--seed", "9", "--quiet"]) == 0
    assert json.loads((tmp_path / "out/assembly.json").read_text())["seed"] == 9
    assert sorted(p.name for p in tmp_path.iterdir()) == ["my pile", "out"]


def test_a_console_that_lacks_a_letter_breaks_nothing(quick, pile, tmp_path, monkeypatch):
    def printed(*more):
        monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), encoding="cp1252"))
        assert main(["assemble", str(pile), "-o", str(tmp_path / "out"), "--force", *more]) == 0
        sys.stdout.seek(0)
        return sys.stdout.read()

    BALL.export(pile / "αβγ.stl")
    assert "???" in printed()
    assert {part["name"] for part in json.loads(printed("--json"))["parts"]} == {"Scherbe Ä", "[red]b", "c", "αβγ"}


def test_force_keeps_what_is_not_of_the_result(quick, pile, tmp_path):
    out = tmp_path / "out"
    assert main(["assemble", str(pile), "-o", str(out), "--quiet"]) == 0
    known, own = out / "known.json", out / "placed/own.ply"
    known.write_text('{"format": "cmnet.constraints/1", "forbid": [["b", "d"]]}')
    own.write_text("mine")
    for old, new in (("[red]b", "b"), ("c", "d")):
        (pile / f"{old}.stl").rename(pile / f"{new}.stl")
    assert main(["assemble", str(pile), "-o", str(out), "--quiet", "--force", "--constraints", str(known)]) == 0
    assert sorted(p.name for p in (out / "placed").iterdir()) == ["Scherbe Ä.ply", "b.ply", "d.ply", "own.ply"]
    assert "forbid" in known.read_text()
    assert own.read_text() == "mine"


def test_the_folder_in_which_one_works(quick, pile, tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path / "out")
    assert main(["assemble", str(pile), "-o", ".", "--quiet"]) == 0
    assert "assembly.json" in os.listdir()


def test_an_interruption_leaves_nothing(pile, tmp_path, monkeypatch, capsys):
    def interrupted(*words, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr(cmnet.assembler.Assembler, "assemble_loaded", interrupted)
    assert main(["assemble", str(pile), "-o", str(tmp_path / "out")]) == 130
    assert [p.name for p in tmp_path.iterdir()] == ["my pile"]


def test_settings_reach_the_assembler_and_the_result(pile, tmp_path, monkeypatch, capsys):
    def assemble(self, parts, progress=None, constraints=None, one_object=False):
        given.append((self.solver, self.seed, constraints, one_object))
        return Assembly(np.tile(np.eye(4), (3, 1, 1)), [], [0, 1, 2], [], ["a and b contradict each other."])

    given, known = [], tmp_path / "known.json"
    known.write_text('{"format": "cmnet.constraints/1", "forbid": [["c", "[red]b"]]}')
    monkeypatch.setattr(cmnet.assembler.Assembler, "assemble_loaded", assemble)
    arguments = ["--constraints", str(known), "--one-object", "--seed", "5", "-o", str(tmp_path / "out")]
    assert main(["assemble", str(pile), *arguments]) == 0
    ((solver, seed, constraints, one_object),) = given
    assert (solver, seed, constraints.forbid, one_object) == ("robust", 5, ((1, 2),), True)
    assert "a and b contradict each other." in capsys.readouterr().out
    content = json.loads((tmp_path / "out/assembly.json").read_text(encoding="utf-8"))
    assert "a and b contradict each other." in content["warnings"]
    config = (tmp_path / "out/config.yaml").read_text()
    assert f"constraints: {json.dumps(str(known))}" in config
    assert "one_object: true" in config


def test_what_is_set_reaches_the_assembler_and_config_yaml(pile, tmp_path, monkeypatch, capsys):
    def assemble(self, parts, progress=None, **known):
        given.append(self.settings)
        return Assembly(np.tile(np.eye(4), (len(parts), 1, 1)), [], list(range(len(parts))), [])

    given, out = [], tmp_path / "out"
    monkeypatch.setattr(cmnet.assembler.Assembler, "assemble_loaded", assemble)
    some = ["--set", "first.samples=4000", "--set", "fine.budget.rough.radii=0.02,0.01"]
    assert main(["assemble", str(pile), "-o", str(out), "--quiet", *some]) == 0
    assert (given[0].first.samples, given[0].fine.budget.rough.radii) == (4000, (0.02, 0.01))
    lines = (out / "config.yaml").read_text().splitlines()
    assert {"first.samples: 4000", "fine.budget.rough.radii: [0.02, 0.01]", "coarse.samples: 30000"} <= {*lines}
    weights = hashlib.sha256(find_weights("cmnet-base").read_bytes()).hexdigest()
    assert f'weights_sha256: "{weights}"' in lines
    assert main(["assemble", str(pile), "-o", str(tmp_path / "other"), "--set", "samples=0"]) == 2
    assert (
        "no setting is called 'samples'; the nearest are fine.samples, first.samples, coarse.samples, "
        in capsys.readouterr().err
    )
    assert main(["assemble", str(pile), "-o", str(tmp_path / "other"), "--set", "first.samples"]) == 2
    assert "has no value" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


def test_files_folders_and_zips_may_be_mixed(quick, pile, tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "more.zip", "w") as more:
        more.writestr("d.ply", BALL.export(file_type="ply"))
    BALL.copy().apply_scale(3).export(tmp_path / "e.glb")
    inputs = [str(pile), str(tmp_path / "more.zip"), str(tmp_path / "e.glb")]
    assert main(["assemble", *inputs, "-o", str(tmp_path / "out"), "--quiet"]) == 0
    content = json.loads((tmp_path / "out/assembly.json").read_text(encoding="utf-8"))
    assert [p["name"] for p in content["parts"]] == ["Scherbe Ä", "[red]b", "c", "d", "e"]
