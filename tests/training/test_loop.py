"""Exact resume, data parallel, interruption, refusals: through the command line, as a person would."""

import csv
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from cmnet.cli import main
from cmnet.data.build import Plan, build_dataset
from cmnet.data.generated import Recipe
from cmnet.data.toy import ToySizes, build_toy
from cmnet.training.loop import _threads

SMALL = ["points=600", "widths=4,6,8,10", "features=12", "descriptor=16", "attention=8", "neighbors=8", "warmup=3"]
ENV = dict(os.environ)
LOSSES = Path(__file__).parents[2] / "benchmarks" / "results" / "losses.json"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    ENV["XDG_CACHE_HOME"] = os.environ["XDG_CACHE_HOME"]
    root = tmp_path_factory.mktemp("data") / "toy"
    build_toy(root, seed=0, sizes=ToySizes(train=2, val=1, test=1))
    yield root
    del os.environ["XDG_CACHE_HOME"]


def command(data: Path, run: Path, *more: str, steps: int = 12, accumulate: int = 2) -> list[str]:
    settings = [*SMALL, f"accumulate={accumulate}", "validate_every=4", "validate_on=3", "average=0.9"]
    sets = [word for setting in settings for word in ("--set", setting)]
    return ["train", "--data", str(data), "-o", str(run), "--steps", str(steps), "--accelerator", "cpu", *sets, *more]


def rows(run: Path, name: str = "losses.csv") -> list[dict[str, str]]:
    with (run / name).open() as file:
        return list(csv.DictReader(file))


def spawn(arguments: list[str]) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-m", "cmnet.cli", *arguments], env=ENV, stderr=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def started(data, tmp_path_factory):
    """Two runs from start to end at the same time: by one process, and by two that accumulate half as much each."""
    one, two = (tmp_path_factory.mktemp(name) / "run" for name in ("whole", "parallel"))
    processes = {
        one: spawn(command(data, one, "--quiet")),
        two: spawn(command(data, two, "--devices", "2", "--strategy", "ddp", "--quiet", accumulate=1)),
    }
    yield processes
    for process in processes.values():
        process.kill()
        process.communicate()


def finished(started, number):
    run, process = list(started.items())[number]
    assert process.wait(timeout=240) == 0, process.stderr.read()
    return run


@pytest.fixture(scope="module")
def whole(started):
    """A run from start to end, without interruption."""
    return finished(started, 0)


def test_a_run_leaves_weights_logs_and_config(whole):
    from cmnet.model.network import CMNet

    names = {path.name for path in whole.iterdir()}
    assert {"last.ckpt", "last.safetensors", "best.safetensors", "config.json", "losses.csv", "tensorboard"} <= names
    assert [int(row["step"]) for row in rows(whole)] == list(range(1, 13))
    assert [int(row["step"]) for row in rows(whole, "validation.csv")] == [4, 8, 12]
    assert CMNet.from_pretrained(whole / "last.safetensors").config.widths == (4, 6, 8, 10)
    assert not [name for name in names if name.startswith(".")]


def test_sigterm_in_the_middle_and_resume_give_the_same_losses(data, whole, tmp_path):
    run = tmp_path / "run"
    process = spawn(command(data, run, "--quiet"))
    deadline = time.monotonic() + 120
    while not (run / "losses.csv").exists() or len(rows(run)) < 5:
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0
    done = len(rows(run))
    assert 5 <= done < 12
    resumed = spawn(command(data, run, "--quiet", "--resume"))
    assert resumed.wait(timeout=240) == 0, resumed.stderr.read()
    assert rows(run) == rows(whole)
    assert rows(run, "validation.csv") == rows(whole, "validation.csv")
    assert (run / "last.safetensors").read_bytes() == (whole / "last.safetensors").read_bytes()


def test_two_processes_take_the_steps_of_one_that_accumulates_twice_as_much(started, whole):
    run = finished(started, 1)
    one, two = (load_file(folder / "last.safetensors") for folder in (whole, run))
    for name, value in one.items():
        assert (value - two[name]).abs().max() < 1e-4, name
    assert [int(row["step"]) for row in rows(run)] == list(range(1, 13))


def test_breaking_bad_by_one_command(tmp_path, monkeypatch, capsys):
    """Objects in Breaking Bad's layout that lists no validation objects: some are left out to validate on."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root, run = tmp_path / "bb", tmp_path / "run"
    plan = Plan(Recipe(shapes=("tile", "cookie"), pieces=(2, 3)), objects=12)
    assert len(list(build_dataset(root, plan))) == 12
    for split in ("val", "test"):
        (root / "data_split" / f"everyday.{split}.txt").unlink()
    names = [str(path.relative_to(root)) for path in sorted(root.glob("everyday/*/*"))]
    (root / "data_split" / "everyday.train.txt").write_text("\n".join(names) + "\n")
    arguments = [*command(root, run, "--preset", "breaking-bad", "--quiet", steps=4)]
    assert main(arguments) == 0
    assert len(rows(run)) == 4
    assert float(rows(run, "validation.csv")[0]["break_precision"]) > 0
    assert main(["train", "--preset", "breaking-bad", "-o", str(tmp_path / "other")]) == 2
    assert "needs --data" in capsys.readouterr().err


def test_a_run_can_start_from_weights(data, whole, tmp_path, capsys):
    run = tmp_path / "run"
    init = ["--init", str(whole / "last.safetensors"), "--quiet"]
    assert main(command(data, run, *init, "--set", "learning_rate=0", steps=1)) == 0
    before, after = (load_file(folder / "last.safetensors") for folder in (whole, run))
    assert all((value - after[name]).abs().max() < 1e-6 for name, value in before.items())
    assert main(command(data, tmp_path / "other", *init, "--set", "features=13")) == 2
    assert "another make" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


def test_time_is_up(data, tmp_path):
    assert main(command(data, tmp_path / "run", "--quiet", "--max-time", "1s", steps=100_000)) == 0
    taken = len(rows(tmp_path / "run"))
    assert 1 <= taken < 1000
    assert main(command(data, tmp_path / "run", "--quiet", "--max-time", "0.01s", "--resume", steps=100_000)) == 0
    assert len(rows(tmp_path / "run")) == taken + 1


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--set", "wdths=3"], "no setting is called 'wdths'"),
        (["--set", "norm=batch"], "choose one of instance, rms"),
        (["--set", "norm"], "write --set NAME=VALUE"),
        (["--preset", "huge"], "no preset is called 'huge'"),
        (["--resume"], "there is no run to resume"),
        (["--subset", "nothing"], "nothing"),
        (["--pieces", "7"], "no fracture of 7 pieces"),
    ],
)
def test_wrong_settings_are_one_clear_sentence(data, tmp_path, capsys, more, message):
    assert main(command(data, tmp_path / "run", "--quiet", *more)) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error
    assert error.count("\n") == 1


def test_an_existing_run_is_not_overwritten_nor_resumed_with_other_settings(data, whole, capsys):
    assert main(command(data, whole, "--quiet")) == 2
    assert "--resume" in capsys.readouterr().err
    assert main(command(data, whole, "--quiet", "--resume", "--set", "learning_rate=0.5")) == 2
    assert "learning_rate" in capsys.readouterr().err


def test_a_run_killed_before_its_first_checkpoint_starts_anew(data, whole, tmp_path, caplog, capsys):
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    (run / "last.ckpt").unlink()
    assert main(command(data, run, "--quiet", steps=2)) == 2
    assert "--resume" in capsys.readouterr().err
    assert main(command(data, run, "--quiet", "--resume", steps=2)) == 0
    assert "it starts anew" in caplog.text
    assert [row["step"] for row in rows(run)] == ["1", "2"]
    assert json.loads((run / "config.json").read_text())["training"]["steps"] == 2


def test_torn_files_do_not_keep_a_run_from_going_on(data, tmp_path):
    """Whatever a loss of power leaves of the files, with a whole checkpoint."""
    run, step = tmp_path / "run", ["--quiet", "--max-time", "0.01s"]
    assert main(command(data, run, *step)) == 0
    config, losses = (run / "config.json").read_text(), (run / "losses.csv").read_text()
    last = losses.splitlines()[-1]
    (run / "config.json").write_text('{"cmnet"')
    (run / "losses.csv").write_text(f"{losses}\0\0{last[1:]}\n1,2\n{last[:-3]}")
    (run / "validation.csv").write_text("")
    assert main(command(data, run, *step, "--resume")) == 0
    assert (run / "losses.csv").read_text().startswith(losses)
    assert [row["step"] for row in rows(run)] == ["1", "2"]
    assert not (run / "validation.csv").exists()
    assert (run / "config.json").read_text() == config
    (run / "config.json").unlink()
    (run / "losses.csv").write_text("")
    assert main(command(data, run, *step, "--resume", "--set", "learning_rate=0.5")) == 2  # the checkpoint knows
    assert main(command(data, run, *step, "--resume")) == 0
    assert [row["step"] for row in rows(run)] == ["3"]


@pytest.mark.parametrize("damage", ["torn", "empty", "pickle", "other", "old"])
def test_a_damaged_checkpoint_is_one_sentence(data, whole, tmp_path, capsys, damage):
    run = tmp_path / "run"
    run.mkdir()
    path, text = run / "last.ckpt", (whole / "last.ckpt").read_bytes()
    damaged = {"torn": text[: len(text) // 2], "empty": b"", "pickle": pickle.dumps(Path("x"))}
    path.write_bytes(damaged.get(damage, b""))
    if damage == "other":
        torch.save([1], path)
    if damage == "old":  # without the settings, which config.json does not know either
        torch.save({"global_step": 3}, path)
    assert main(command(data, run, "--quiet", "--resume")) == 2
    error = capsys.readouterr().err
    assert "damaged" in error
    assert "weights_only" not in error
    assert error.count("\n") == 1
    assert [name.name for name in run.iterdir()] == ["last.ckpt"]
    assert main(command(data, run, "--quiet")) == 2  # and is not replaced
    assert "already holds a run" in capsys.readouterr().err


def test_a_run_has_its_threads_and_gives_them_back():
    before = torch.get_num_threads()
    with _threads(1):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before
    with _threads(0):
        assert torch.get_num_threads() == before


@pytest.mark.slow
def test_the_preset_begins_with_the_losses_of_the_shipped_weights(tmp_path):
    run = tmp_path / "run"
    assert main(["train", "--preset", "cmnet-base", "-o", str(run), "--accelerator", "cpu", "--max-time", "60s"]) == 0
    known = json.loads(LOSSES.read_text())["losses"]
    found = [float(row["total"]) for row in rows(run)]
    assert len(found) >= 10
    # Exactly the same on the same kind of processor; others round otherwise.
    assert found == pytest.approx(known[: len(found)], rel=1e-3)
