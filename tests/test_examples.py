"""The examples run."""

import importlib.util
import json
from pathlib import Path

import pytest

import cmnet

EXAMPLES = Path(__file__).parent.parent / "examples"


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_broken_vessel_makes_what_is_shipped(tmp_path):
    example("broken_vessel").main(tmp_path)
    shipped = Path(cmnet.__file__).parent / "assets/example"
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(p.name for p in shipped.glob("*.ply"))
    for made, kept in zip(cmnet.load_parts(tmp_path), cmnet.load_parts(shipped)):
        assert made.area == pytest.approx(kept.area, rel=1e-3)
        assert made.colors is not None


def test_toy_demo(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    toy_demo = example("toy_demo")
    assert toy_demo.demo(tmp_path / "demo", time="2s", limit=2) == 0
    result = json.loads((tmp_path / "demo" / "evaluation.json").read_text())
    assert {row["method"] for row in result["rows"]} == {"cmnet", "chance"}
    assert "PA_CRD" in capsys.readouterr().out
