from pathlib import Path

import pytest

from cmnet.cli import main


def test_build_then_stats(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    root = str(tmp_path / "data")
    options = ["--objects", "2", "--shapes", "cup,plate", "--pieces", "2-3", "--seed", "4", "--quiet"]
    assert main(["dataset", "build", "-o", root, *options]) == 0
    assert len(list((tmp_path / "data").rglob("fracture.json"))) == 2
    out = [str(tmp_path / "stats.json"), str(tmp_path / "stats.png")]
    assert main(["dataset", "stats", root, "--json", out[0], "--plot", out[1]]) == 0
    assert "largest piece" in capsys.readouterr().out
    assert all(Path(path).stat().st_size > 0 for path in out)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--preset", "benchmark", "--pieces", "2-4"], "fixed recipe"),
        (["--preset", "benchmark", "--seed", "3"], "fixed recipe"),
        (["--pieces", "few"], "no range"),
        (["--pieces", "1-4"], "within 2-50"),
        (["--shapes", "unicorn"], "unicorn"),
        (["--objects", "0"], "at least 1"),
    ],
)
def test_bad_options_are_one_sentence(
    options: list, message: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    assert main(["dataset", "build", "-o", str(tmp_path / "data"), "--quiet", *options]) == 2
    assert message in capsys.readouterr().err
