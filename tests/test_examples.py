"""The examples run."""

import importlib.util
import json
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_toy_demo(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    spec = importlib.util.spec_from_file_location("toy_demo", EXAMPLES / "toy_demo.py")
    toy_demo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(toy_demo)
    assert toy_demo.demo(tmp_path / "demo", time="2s", limit=2) == 0
    result = json.loads((tmp_path / "demo" / "evaluation.json").read_text())
    assert {row["method"] for row in result["rows"]} == {"cmnet", "chance"}
    assert "PA_CRD" in capsys.readouterr().out
