"""`cmnet evaluate --task assembly` on a folder of two broken bars, put together by geometry alone."""

import json

import numpy as np
import pytest

import cmnet.assembler
from breaking import broken, solid_bar
from cmnet.cli import main
from cmnet.evaluation.selection import HALVES
from cmnet.parts.save import save_part


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    root = tmp_path_factory.mktemp("data")
    for k in range(2):
        for j, part in enumerate(broken(solid_bar(), np.random.default_rng(k), (0, 0, 0.1))):
            save_part(part, root / f"set/Bar/{k}/fractured_0/piece_{j}.ply")
    return root


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def run(data, *argv: str) -> dict:
    words = ["evaluate", str(data), "--task", "assembly", "--points", "1000", "--quiet", "--json", "out.json", *argv]
    assert main(words) == 0
    with open("out.json", encoding="utf-8") as file:
        return json.load(file)


def test_geometry_puts_bars_together(data) -> None:
    report = run(data, "--weights", "none", "--predictions", "p.jsonl")
    rows = {row["method"]: row for row in report["rows"] if (row["subset"], row["pieces"]) == ("all", "all")}
    own, guess = rows["cmnet"], rows["chance"]
    assert own["n"] == guess["n"] == 2
    assert own["pa_crd"] == own["placed"] == own["precision"] == 100
    assert own["geodesic_r"] < 1 < guess["geodesic_r"]
    assert own["pa_crd_low"] <= own["pa_crd"] <= own["pa_crd_high"]
    assert guess["precision"] is None
    assert report["protocol"]["solver"] == "robust"
    assert any("anchor's group" in choice for choice in report["protocol"]["choices"])
    assert report == run(data, "--weights", "none", "--predictions", "p.jsonl")  # scored again, times included
    told = run(data, "--weights", "none", "--one-object")
    assert (told["protocol"]["one_object"], report["protocol"]["one_object"]) == (True, False)
    assert [o["crd"] for o in told["objects"]] == [o["crd"] for o in report["objects"]]  # nothing was left open


def test_bars_as_a_scanner_gives_them(data) -> None:
    report = run(data, "--weights", "none", "--scan", "missing=1,noise=0.0002", "--limit", "1")
    assert report["protocol"]["scan"] == "missing=1,noise=0.0002"
    (own,) = (row for row in report["rows"] if (row["method"], row["subset"], row["pieces"]) == ("cmnet", "all", "all"))
    assert own["in_place"] == own["precision"] == 100
    stored = run(data, "--method", "chance")["objects"][0]
    scanned = run(data, "--method", "chance", "--scan", "cloud-10k,foreign=1")["objects"][0]
    assert (stored["foreign"], scanned["foreign"], scanned["pieces"]) == (0, 1, 2)
    assert scanned["foreign_out"] == 0  # chance places everything
    assert scanned["geodesic_r"] != stored["geodesic_r"]


def test_the_same_by_chance_in_two_processes(data) -> None:
    alone, together = (run(data, "--method", "chance", "--workers", n) for n in "12")
    for report in (alone, together):
        for row in report["rows"] + report["objects"]:
            row["seconds"] = row.get("intervals", {})["seconds"] = 0
    assert alone == together


@pytest.mark.parametrize("workers", ["1", "2"])
def test_scans_of_unknown_places_are_told_once(tmp_path, workers, caplog, capfd) -> None:
    for folder in ("real/museum/bar", "real/museum/rod", "real/hospital/hip"):
        for j, part in enumerate(broken(solid_bar(), np.random.default_rng(0), (0, 0, 0.1))):
            save_part(part, tmp_path / folder / f"piece_{j}.ply")
        if "museum" in folder:
            (tmp_path / folder / "contacts.json").write_text("{}")
    run("real", "--method", "chance", "--workers", workers)
    said = caplog.text + capfd.readouterr().err  # by this process, and by its workers
    assert said.count("nothing says where these fragments belong") == 1


def test_halves_share_the_objects_out(data, capsys) -> None:
    counts = []
    for half in HALVES:
        words = ["evaluate", str(data), "--task", "assembly", "--method", "chance", "--quiet", "--half", half]
        code = main([*words, "--points", "1000", "--json", "out.json"])
        with open("out.json", encoding="utf-8") as file:
            counts.append(len(json.load(file)["objects"]) if code == 0 else 0)
    assert sum(counts) == 2


def test_what_is_missing_is_named(data, capsys) -> None:
    assert main(["evaluate", str(data), "--quiet", "--weights", "none"]) == 2
    assert "--solver robust" in capsys.readouterr().err


@pytest.mark.parametrize("argv", [["--task", "pairs"], ["--method", "chance"], ["--solver", "paper"]])
def test_who_does_not_ask_is_not_told(data, argv, capsys) -> None:
    assert main(["evaluate", str(data), "--quiet", "--task", "assembly", "--one-object", *argv]) == 2
    assert "--one-object" in capsys.readouterr().err


@pytest.mark.parametrize("argv", [["--weights", "none"], ["--method", "chance"], ["--task", "pairs"]])
def test_points_of_a_network_that_is_not_asked_are_refused(data, argv, capsys) -> None:
    assert main(["evaluate", str(data), "--quiet", "--task", "assembly", "--network-points", "500", *argv]) == 2
    assert "--network-points" in capsys.readouterr().err


def test_the_points_of_the_network_are_its_own(data, monkeypatch) -> None:
    asked, allocate = [], cmnet.assembler.allocate_as_published
    monkeypatch.setattr(
        cmnet.assembler,
        "allocate_as_published",
        lambda areas, total, least: asked.append(total) or allocate(areas, total, least),
    )
    report = run(data, "--solver", "paper", "--network-points", "500", "--limit", "1")
    assert report["protocol"]["network_points"] == 500
    assert asked == [1000]  # half of what is drawn is seen
