import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import trimesh

from cmnet.cli import evaluate, main
from cmnet.data.breaking_bad import BROKEN, FractureFolder
from cmnet.data.scan import Condition
from cmnet.errors import InputError
from cmnet.evaluation.choices import PUBLISHED_CHOICES
from cmnet.geometry.sampling import allocate, allocate_as_published


@dataclass(frozen=True)
class Cloud:
    xyz: Any
    normals: Any
    area: float

    def moved(self, T_b_a):
        return Cloud(T_b_a.apply(self.xyz), T_b_a.rotate(self.normals), self.area)


@dataclass(frozen=True)
class Halves:
    name: str
    points: tuple[Cloud, ...]
    contact: Any
    unit: float = 1.0
    foreign: tuple[int, ...] = ()


class Folder:
    """Twelve boxes in halves, and a record of what was asked for."""

    asked: tuple = ()
    share: Any = None

    def __init__(
        self, root, subset=None, split=None, pieces=(2, 20), total_points=5000, seed=0, condition=None, share=None
    ) -> None:
        type(self).asked = (str(root), subset, split, pieces, total_points, seed, condition)
        type(self).share = share
        names = [f"everyday/Box/{k}" for k in range(12)]
        self.fractures = [FractureFolder(Path(name), name, (), "everyday", "Box", name[-1]) for name in names]

    def __len__(self) -> int:
        return len(self.fractures)

    def __getitem__(self, index: int) -> Halves:
        k = int(self.fractures[index].name.rpartition("/")[2])
        rng = np.random.default_rng(k)
        clouds = tuple(Cloud(rng.random((30, 3)) + np.array([0, 0, z]), rng.random((30, 3)), 1.0 + z) for z in (0, 1))
        return Halves(f"everyday/Box/{k}", clouds, np.ones((2, 2)))


@pytest.fixture
def cli(monkeypatch, tmp_path):
    """Run the verb on the stand-in folder, by chance unless told otherwise, quietly."""
    module = ModuleType("cmnet.data.objects")
    module.FolderObjects = Folder  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cmnet.data.objects", module)
    monkeypatch.chdir(tmp_path)

    def run(*argv: str) -> int:
        return evaluate.run(parse(*argv))

    return run


def parse(*argv: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    evaluate.add_arguments(parser)
    return parser.parse_args([*argv])


def test_writes_json_markdown_and_latex(cli, tmp_path) -> None:
    outputs = "--json", "out/a.json", "--markdown", "a.md", "--latex", "a.tex"
    assert cli("data", "--method", "chance", "--quiet", *outputs) == 0
    report = json.loads((tmp_path / "out/a.json").read_text())
    assert [row["n"] for row in report["rows"]] == [12] * 4
    assert len(report["objects"]) == 12
    assert report["protocol"]["weights"] is None
    assert "| chance | everyday | 2 | 12 |" in (tmp_path / "a.md").read_text()
    assert r"\toprule" in (tmp_path / "a.tex").read_text()


def test_prints_the_table_and_the_protocol_unless_quiet(cli, capsys) -> None:
    cli("data", "--method", "chance")
    out = capsys.readouterr().out
    assert "RMSE(R)" in out
    assert "anchor" in out
    cli("data", "--method", "chance", "--quiet")
    assert capsys.readouterr() == ("", "")


def test_hands_the_choice_of_data_on(cli) -> None:
    cli(
        "d",
        "--method",
        "chance",
        "--quiet",
        *["--subset", "s", "--split", "val", "--pieces", "2-8", "--points", "99", "--seed", "3"],
        *["--scan", "cloud-10k,noise=0.5e-3"],
    )
    assert Folder.asked == ("d", "s", "val", (2, 8), 99, 3, Condition(points=10_000, noise=0.0005))


def test_the_papers_protocol_brings_its_fractures_samples_figures_and_references(cli, tmp_path) -> None:
    argv = "data", "--method", "chance", "--quiet", "--json", "a.json", "--markdown", "a.md"
    for task, span in ("pairs", (2, 2)), ("assembly", (2, 20)):
        cli(*argv, "--protocol", "paper", "--task", task)
        assert (Folder.asked[3], Folder.share) == (span, allocate_as_published)
        report = json.loads((tmp_path / "a.json").read_text())
        assert report["protocol"]["protocol"] == "paper"
        assert {row["method"] for row in report["rows"]} == {"identity", "chance", "oracle"}
        assert "PA_CRD (%) | earned (%)" in (tmp_path / "a.md").read_text()
        assert report["protocol"]["choices"] == list(PUBLISHED_CHOICES[task])
    cli(*argv, "--protocol", "paper", "--pieces", "3-5")
    assert Folder.asked[3] == (3, 5)
    cli(*argv)
    assert (Folder.asked[3], Folder.share) == (BROKEN, allocate)
    assert "earned" not in (tmp_path / "a.md").read_text()


def test_predictions_of_another_protocol_are_stale(cli) -> None:
    argv = "data", "--method", "chance", "--quiet", "--predictions", "p.jsonl"
    cli(*argv)
    with pytest.raises(InputError, match=r"pieces = 'all', not '2'; protocol = 'strict', not 'paper'"):
        cli(*argv, "--protocol", "paper")


def test_a_second_run_scores_the_predictions_of_the_first(cli, tmp_path) -> None:
    argv = "data", "--method", "chance", "--quiet", "--predictions", "p.jsonl", "--json"
    cli(*argv, "a.json")
    made = (tmp_path / "p.jsonl").read_bytes()
    cli(*argv, "b.json")
    assert (tmp_path / "a.json").read_text() == (tmp_path / "b.json").read_text()  # times of answers included
    assert (tmp_path / "p.jsonl").read_bytes() == made


def test_a_limited_run_is_carried_on_by_a_full_one(cli, tmp_path) -> None:
    argv = "data", "--method", "chance", "--quiet", "--predictions", "p.jsonl"
    cli(*argv, "--limit", "5")
    first = (tmp_path / "p.jsonl").read_text().splitlines()[1:]
    cli(*argv)
    assert (tmp_path / "p.jsonl").read_text().splitlines()[1:6] == first
    cli(*argv, "--limit", "2", "--json", "a.json")
    assert json.loads((tmp_path / "a.json").read_text())["rows"][0]["n"] == 2


def test_stale_predictions_need_overwrite(cli) -> None:
    argv = "data", "--method", "chance", "--quiet", "--predictions", "p.jsonl"
    cli(*argv)
    with pytest.raises(InputError, match=r"seed = 0, not 1.*--overwrite"):
        cli(*argv, "--seed", "1")
    assert cli(*argv, "--seed", "1", "--overwrite") == 0
    assert cli(*argv, "--seed", "1") == 0


def test_a_folder_of_whole_objects_is_an_error(tmp_path, capsys) -> None:
    """Through the real reader: one piece is no fracture."""
    box = trimesh.creation.box()
    folder = tmp_path / "set" / "object" / "fractured_0"
    folder.mkdir(parents=True)
    box.export(folder / "piece_0.ply")
    assert main(["evaluate", str(tmp_path), "--method", "chance", "--quiet"]) == 2
    assert "no fracture of 2 or more pieces" in capsys.readouterr().err


def test_the_network_has_chance_beside_it(cli, monkeypatch, tmp_path) -> None:
    from cmnet.geometry.pose import Pose

    class Assembler:
        def __init__(self, weights, points, seed) -> None:
            assert (weights, points, seed) == ("w", 70, 2)

        def pose(self, p, q, unit) -> Pose:
            assert p.area < q.area
            return Pose.identity()

    module = ModuleType("cmnet.assembler")
    module.Assembler = Assembler  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cmnet.assembler", module)
    (tmp_path / "w").touch()
    cli("data", *["--weights", "w", "--points", "70", "--seed", "2", "--quiet", "--json", "a.json"])
    report = json.loads((tmp_path / "a.json").read_text())
    assert list(dict.fromkeys(row["method"] for row in report["rows"])) == ["cmnet", "chance"]
    assert report["protocol"]["weights"] == "w"


@pytest.mark.parametrize(("text", "span"), [("2", (2, 2)), ("2-8", (2, 8)), ("3-3", (3, 3))])
def test_pieces(text, span) -> None:
    assert evaluate.pieces(text) == span


@pytest.mark.parametrize(
    "argv",
    ["--pieces 1", "--pieces 8-2", "--pieces x", "--pieces 2-", "--points 0", "--limit 0", "--seed -1", "--method x"],
)
def test_bad_arguments_end_with_code_2(argv, capsys) -> None:
    with pytest.raises(SystemExit) as end:
        parse("data", *argv.split())
    assert end.value.code == 2
