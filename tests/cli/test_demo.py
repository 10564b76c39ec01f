import json
from pathlib import Path

import numpy as np
import pytest

import cmnet
from cmnet.cli import main
from cmnet.parts.preflight import preflight
from cmnet.solving.assembly import Assembly


def test_the_shipped_vessel_is_small_and_sound():
    folder = Path(cmnet.__file__).parent / "assets/example"
    assert sum(p.stat().st_size for p in folder.iterdir()) < 1_500_000
    seen = preflight(cmnet.load_parts(folder))
    assert len(seen.looks) == 7
    assert not seen.advice
    assert all(p.holes == 0 for p in seen.looks)


def test_the_demo_can_be_repeated(tmp_path, monkeypatch, capsys):
    def nothing(self, parts, progress=None, **settings):
        return Assembly(np.tile(np.eye(4), (len(parts), 1, 1)), [], list(range(len(parts))), [])

    monkeypatch.setattr(cmnet.Assembler, "assemble_loaded", nothing)
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    assert main(["demo"]) == 0
    assert "cmnet-demo/assembled.glb" in capsys.readouterr().out


@pytest.mark.slow
def test_the_demo_puts_the_vessel_together(tmp_path):
    assert main(["demo", "-o", str(tmp_path / "out")]) == 0
    content = json.loads((tmp_path / "out/assembly.json").read_text())
    assert {part["group"] for part in content["parts"]} == {0}
    whole = np.concatenate([p.vertices for p in cmnet.load_parts(tmp_path / "out/placed")])
    assert np.ptp(whole[:, 1]) == pytest.approx(240, abs=1)  # as high as it was before it broke
