import json
import signal
from dataclasses import replace

import numpy as np
import pytest

from cmnet.cli.ending import in_good_order
from cmnet.errors import InputError
from cmnet.evaluation.methods import chance, pairwise
from cmnet.evaluation.predictions import (
    FORMAT,
    Prediction,
    Settings,
    export,
    read_predictions,
    read_with_settings,
    write_predictions,
)
from cmnet.evaluation.protocol import predict, score
from cmnet.geometry.pose import Pose
from cmnet.model.weights import fingerprint
from cmnet.pairing.join import FIGURES, Join

SETTINGS = Settings(data="somewhere", pieces="2", method="chance")
CHANCE = {"chance": lambda: chance(0)}


def test_scores_from_a_file_equal_scores_without_one(tmp_path, bars) -> None:
    predictions = list(predict(bars, CHANCE))
    write_predictions(tmp_path / "p.jsonl", SETTINGS, predictions)
    again = read_predictions(tmp_path / "p.jsonl", SETTINGS)
    assert score(bars, again, ("chance",)) == score(bars, predictions, ("chance",))


def test_unplaced_parts_survive_the_file_as_null(tmp_path, make_bar) -> None:
    lost = pairwise(lambda p, q, unit: Pose(np.full((3, 3), np.nan), np.zeros(3)))
    write_predictions(tmp_path / "p.jsonl", SETTINGS, predict([make_bar()], {"lost": lambda: lost}))
    assert "NaN" not in (tmp_path / "p.jsonl").read_text()
    (again,) = read_predictions(tmp_path / "p.jsonl", SETTINGS)
    assert again.placed.tolist() == [False, True]


def test_joins_that_nobody_has_measured_survive_the_file(tmp_path, bars) -> None:
    unknown = Join((0, 1), Pose.identity(), None, None, None, None, True)
    made = [replace(prediction, joins=(unknown,)) for prediction in predict(bars, CHANCE)]
    write_predictions(tmp_path / "p.jsonl", SETTINGS, made)
    for prediction in read_predictions(tmp_path / "p.jsonl", SETTINGS):
        assert [getattr(prediction.joins[0], name) for name in FIGURES] == [None] * 4


@pytest.mark.parametrize(
    "change",
    [
        {"points": 99},
        {"seed": 1},
        {"data": "elsewhere"},
        {"weights_sha256": "0"},
        {"split": "val"},
        {"task": "assembly"},
        {"one_object": True},
    ],
)
def test_stale_files_are_refused_with_what_differs_and_what_to_do(tmp_path, bars, change) -> None:
    write_predictions(tmp_path / "p.jsonl", SETTINGS, predict(bars, CHANCE))
    with pytest.raises(InputError, match=rf"{next(iter(change))} = .*--overwrite"):
        read_predictions(tmp_path / "p.jsonl", replace(SETTINGS, **change))


def test_a_setting_that_an_older_file_does_not_know_was_at_its_default(tmp_path, bars) -> None:
    write_predictions(tmp_path / "p.jsonl", SETTINGS, predict(bars, CHANCE))
    header, *lines = (tmp_path / "p.jsonl").read_text().splitlines()
    older = json.loads(header)
    del older["protocol"]["one_object"]
    (tmp_path / "p.jsonl").write_text("\n".join([json.dumps(older), *lines]) + "\n")
    assert len(read_predictions(tmp_path / "p.jsonl", SETTINGS)) == len(lines)
    with pytest.raises(InputError, match="one_object = False, not True"):
        read_predictions(tmp_path / "p.jsonl", replace(SETTINGS, one_object=True))


@pytest.mark.parametrize("text", ["", "no json", "[]", "{}", '{"format": "other/1", "protocol": {}}'])
def test_files_of_another_kind_are_refused(tmp_path, text) -> None:
    (tmp_path / "p.jsonl").write_text(text)
    with pytest.raises(InputError, match="--overwrite"):
        read_predictions(tmp_path / "p.jsonl", SETTINGS)


@pytest.mark.parametrize(
    "row",
    ["[" * 100_000, '{"parts": [' + "9" * 5000 + "]}", "[]", "5", '{"poses": 5, "centres": []}', "\udcff"],
    ids=["deep", "digits", "list", "number", "poses", "bytes"],
)
def test_rows_that_are_no_predictions_are_refused_in_one_sentence(tmp_path, row) -> None:
    header = json.dumps({"format": FORMAT, "protocol": {"data": "x"}})
    for text in (row, f"{header}\n{row}", json.dumps({"format": FORMAT, "protocol": [1]})):
        (tmp_path / "p.jsonl").write_text(text, errors="surrogateescape")
        with pytest.raises(InputError, match=r"p\.jsonl"):
            read_with_settings(tmp_path / "p.jsonl")


def test_a_cut_off_file_is_refused(tmp_path, bars) -> None:
    write_predictions(tmp_path / "p.jsonl", SETTINGS, predict(bars, CHANCE))
    text = (tmp_path / "p.jsonl").read_text()
    (tmp_path / "p.jsonl").write_text(text[:-50])
    with pytest.raises(InputError, match=r"p\.jsonl, row 5, is not JSON: .*; predict again"):
        read_predictions(tmp_path / "p.jsonl", SETTINGS)


def test_a_pose_that_is_not_rigid_is_refused(tmp_path, make_bar) -> None:
    write_predictions(tmp_path / "p.jsonl", SETTINGS, predict([make_bar()], CHANCE))
    header, line = map(json.loads, (tmp_path / "p.jsonl").read_text().splitlines())
    line["poses"][0][0][0] += 0.1
    (tmp_path / "p.jsonl").write_text(f"{json.dumps(header)}\n{json.dumps(line)}\n")
    with pytest.raises(InputError, match="rigid"):
        read_predictions(tmp_path / "p.jsonl", SETTINGS)


def test_poses_stand_in_the_frame_of_the_anchor() -> None:
    poses = np.tile(Pose.random(np.random.default_rng(0), 1).matrix(), (2, 1, 1))
    with pytest.raises(ValueError, match="anchor"):
        Prediction("a", "m", (0, 1), 0, poses, np.zeros((2, 3)), 0.0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_export_keeps_what_it_had(tmp_path, bars, number) -> None:
    def interrupted():
        yield from list(predict(bars, CHANCE))[:2]
        signal.raise_signal(number)

    with pytest.raises((KeyboardInterrupt, SystemExit)), in_good_order():
        export(tmp_path / "p.jsonl", SETTINGS, [], interrupted())
    known = read_predictions(tmp_path / "p.jsonl", SETTINGS)
    assert len(known) == 2
    done = {(p.name, p.method) for p in known}
    kept = export(tmp_path / "p.jsonl", SETTINGS, known, predict(bars, CHANCE, done=done))
    assert [p.name for p in kept] == [b.name for b in bars]
    assert len(read_predictions(tmp_path / "p.jsonl", SETTINGS)) == len(bars)


def test_the_hash_of_weights_notices_another_content(tmp_path) -> None:
    file = tmp_path / "w.safetensors"
    file.write_bytes(b"a")
    before = fingerprint(str(file))
    file.write_bytes(b"b")
    assert before != fingerprint(str(file))
    assert fingerprint("none") is None
