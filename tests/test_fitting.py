"""Tables of confidence are fitted to what was observed, and kept with the weights."""

import json
import sys

import numpy as np
import pytest

import confidence
from cmnet.errors import InputError
from cmnet.judgement import NAMES
from cmnet.model.network import CMNet

SMALL = {"widths": (2, 3, 4, 5), "features": 6, "descriptor": 8, "attention": 4}


@pytest.fixture
def weights(tmp_path):
    CMNet.from_preset("cmnet-base", **SMALL).save(tmp_path / "mine.safetensors")
    return tmp_path / "mine.safetensors"


def evidence(rng, right, broken=True):
    """Closed rims on breaks are right, whatever else is seen."""
    names = ("rim", "contact", "gap", "near", "inside", "depth", "hold", "grip", "relief", "width")
    seen = {name: float(rng.uniform(0, 0.1)) for name in names}
    said = 0.7 * right + float(rng.uniform(0, 0.3)) if broken else None
    return {**seen, "closure": 0.6 * right + float(rng.uniform(0, 0.4)), "broken": said}


def log(path, kind="most", twice=False, broken=True):
    """One of three candidates is right, or none is, in 60 pairs."""
    rng, rows = np.random.default_rng(0), []
    for number in range(60):
        found = []
        for k in range(3):
            right = k == 0 and number % 2 == 0
            seen = evidence(rng, right, broken)
            if twice:
                seen = {"close": seen, "far": evidence(rng, right), "relief": 100.0 * right}
            off = {"turn": 0.0 if right else 180.0, "shift": 0.0 if right else 1.0, "right": right}
            found.append({**off, "evidence": seen})
        rows.append({"name": f"object {number}", "kind": kind, "candidates": found})
    path.write_text(json.dumps(rows))
    return path


def run(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["confidence.py", *map(str, words)])
    confidence.main()


def test_tables_are_fitted_one_on_the_other_and_kept_in_the_weights(weights, tmp_path, monkeypatch, capsys):
    logs = [
        log(tmp_path / "one.json"),
        log(tmp_path / "two.json", twice=True),
        log(tmp_path / "belonging.json", "belonging", twice=True),
    ]
    stored = []
    for path in logs:
        run(monkeypatch, path, "--weights", weights, "--fit", "--store", "my pots")
        stored.append(CMNet.from_pretrained(weights).judgement)
    said = capsys.readouterr().out
    for kind, judgement in zip(NAMES, stored, strict=True):
        assert f'"constant": {getattr(judgement, kind)["constant"]:.2f},' in said
    assert stored[0].fitted_on == "my pots"
    assert stored[0].one_look["closure"] > 0
    assert stored[0].one_look["broken"] > 0
    assert stored[0].two_looks is stored[0].belonging is None
    assert stored[2].one_look == stored[1].one_look == stored[0].one_look
    assert stored[2].two_looks == stored[1].two_looks
    run(monkeypatch, logs[1], "--weights", weights)
    assert "1.000 of 30 pairs" in capsys.readouterr().out
    run(monkeypatch, logs[0], "--weights", weights, "--fit", "--store", "more pots")
    assert CMNet.from_pretrained(weights).judgement.two_looks is None  # it was fitted with another table


def test_a_table_that_says_nothing_of_breaks_is_of_no_network(weights, tmp_path, monkeypatch):
    before = weights.read_bytes()
    with pytest.raises(InputError, match="one_look lacks broken"):
        run(monkeypatch, log(tmp_path / "l.json", broken=False), "--weights", weights, "--fit", "--store", "pots")
    assert weights.read_bytes() == before


def test_logs_that_give_no_table_are_refused(weights, tmp_path, monkeypatch, capsys):
    one, two = log(tmp_path / "one.json"), log(tmp_path / "two.json", twice=True)
    for words, said in (
        ((one, two, "--fit"), "of different kinds"),
        ((two, "--weights", weights), "no table two_looks to judge by"),
        ((one, "--fit", "--store", "pots"), "--store goes with"),
    ):
        with pytest.raises(SystemExit):
            run(monkeypatch, *words)
        assert said in capsys.readouterr().err
