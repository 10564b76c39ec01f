from pathlib import Path

import pytest

from cmnet.cli import main


def test_a_folder_without_pieces_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(["dataset", "stats", str(tmp_path)]) == 2
    assert "no fracture in" in capsys.readouterr().err
    assert main(["dataset", "stats", str(tmp_path), "--limit", "0"]) == 2
    assert "at least 1" in capsys.readouterr().err
