import argparse

import pytest

from cmnet.cli import dataset
from cmnet.data import toy
from cmnet.errors import InputError


def call(*words):
    parser = argparse.ArgumentParser()
    dataset.add_arguments(parser)
    return dataset.run(parser.parse_args(words))


def test_toy_is_made_and_reported(tmp_path, monkeypatch, capsys):
    few = toy.ToySizes(train=2, val=1, test=1)
    monkeypatch.setattr(toy, "ToySizes", lambda: few)
    assert call("toy", "-o", str(tmp_path / "toy"), "--seed", "3") == 0
    assert (tmp_path / "toy/data_split/toy.test.txt").exists()
    assert "6 train, 3 val, 3 test" in capsys.readouterr().out


def test_wrong_use(tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").write_text("")
    with pytest.raises(InputError, match="not an empty folder"):
        call("toy", "-o", str(tmp_path / "full"))
    with pytest.raises(InputError, match="negative"):
        call("toy", "-o", str(tmp_path / "new"), "--seed", "-1")
    with pytest.raises(SystemExit):
        call("unknown")
