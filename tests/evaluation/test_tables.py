import io
import json
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console
from scipy.spatial.transform import Rotation

from cmnet.evaluation.choices import CHOICES
from cmnet.evaluation.columns import COLUMNS
from cmnet.evaluation.methods import chance
from cmnet.evaluation.predictions import Settings
from cmnet.evaluation.protocol import predict, score
from cmnet.evaluation.tables import make_rows, shown, to_console, to_json, to_latex, to_markdown
from cmnet.geometry.pose import Pose

SETTINGS = Settings(data="somewhere")
ROW_KEYS = [
    "method",
    "subset",
    "pieces",
    "n",
    "crd",
    "cd",
    "rmse_r",
    "rmse_t",
    "geodesic_r",
    "pa_crd",
    "pa_cd",
    "seconds",
]
OBJECT_KEYS = ["path", "method", "pieces", "crd", "cd", "rmse_r", "rmse_t", "geodesic_r", "pa_crd", "pa_cd", "seconds"]


@pytest.fixture
def scores(bars):
    """Of two methods on everyday (2, 2 and 5 pieces) and artifact (3 pieces)."""
    makers = {"first": lambda: chance(1), "chance": lambda: chance(0)}
    return score(bars, predict(bars, makers), tuple(makers))


def test_rows_for_all_by_pieces_and_by_subset(scores) -> None:
    labels = [(r.subset, r.pieces, r.n) for r in make_rows(scores) if r.method == "chance"]
    assert labels == [
        ("all", "all", 4),
        ("all", "2", 2),
        ("all", "3", 1),
        ("all", "5", 1),
        ("artifact", "all", 1),
        ("artifact", "3", 1),
        ("everyday", "all", 3),
        ("everyday", "2", 2),
        ("everyday", "5", 1),
    ]
    assert {r.method for r in make_rows(scores)} == {"first", "chance"}


def test_rows_are_means_over_their_own_objects(scores) -> None:
    for row in make_rows(scores):
        mine = [
            s
            for s in scores
            if s.method == row.method and row.subset in ("all", s.subset) and row.pieces in ("all", str(s.pieces))
        ]
        assert row.n == len(mine)
        assert row.crd == pytest.approx(np.mean([s.crd for s in mine]))
        assert row.seconds == pytest.approx(np.mean([s.seconds for s in mine]))


def test_shares_within_an_angle(bars, make_oracle) -> None:
    turns = [Pose(Rotation.from_rotvec([0, 0, np.radians(a)]).as_matrix(), np.zeros(3)) for a in (4, 6, 20, 4.9)]
    scores = []
    for bar, turn in zip(bars, turns):
        scores += score([bar], predict([bar], {"m": lambda bar=bar, turn=turn: make_oracle([bar], turn)}), ("m",))
    row = make_rows(scores)[0]
    assert (row.within_5, row.within_10) == (50, 75)


def test_sums_over_one_thing_are_not_shown(scores) -> None:
    one = [s for s in scores if s.subset == "artifact" and s.method == "chance"]
    assert [(r.subset, r.pieces) for r in shown(make_rows(one))] == [("artifact", "3")]
    assert shown(make_rows(scores)) == make_rows(scores)


def test_json_has_the_agreed_keys(scores) -> None:
    report = json.loads(to_json(SETTINGS, make_rows(scores), scores))
    assert report["format"] == "cmnet.evaluation/1"
    assert report["protocol"]["data"] == "somewhere"
    assert report["protocol"]["points"] == 5000
    assert report["protocol"]["anchor"] == "largest"
    assert report["protocol"]["seed"] == 0
    assert report["protocol"]["choices"] == list(CHOICES["pairs"])
    for row in report["rows"]:
        assert set(ROW_KEYS) <= row.keys()
        assert isinstance(row["pieces"], str)
    for obj in report["objects"]:
        assert set(OBJECT_KEYS) <= obj.keys()
        assert isinstance(obj["pieces"], int)


def test_what_is_not_finite_becomes_null(scores) -> None:
    bad = [replace(scores[0], crd=float("nan"), cd=float("inf"))]
    report = json.loads(to_json(SETTINGS, make_rows(bad), bad), parse_constant=pytest.fail)
    assert report["objects"][0]["crd"] is None
    assert report["rows"][0]["cd"] is None


def test_markdown_has_one_line_per_row_and_states_the_choices(scores) -> None:
    rows = make_rows(scores)
    text = to_markdown(SETTINGS, rows)
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == len(rows) + 2
    assert {line.count("|") for line in table} == {len(COLUMNS["pairs"]) + 5}
    assert all(choice in text for choice in CHOICES["pairs"])
    low, high = rows[0].intervals["crd"]
    assert f"| {rows[0].crd:.2f} [{low:.2f}, {high:.2f}] |" in table[2]


def test_latex_is_a_balanced_booktabs_table(scores) -> None:
    rows = [replace(row, subset="a_b%", crd=float("nan")) for row in make_rows(scores)]
    text = to_latex(SETTINGS, rows)
    body = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert len(body) == len(rows) + 2
    assert {line.count("&") for line in body} == {len(COLUMNS["pairs"]) + 3}
    assert text.count(r"\midrule") == 2  # one over each method
    assert r"a\_b\%" in text
    assert "nan" not in text


def test_console_shows_every_figure(scores) -> None:
    rows = make_rows(scores)
    out = io.StringIO()
    Console(file=out, width=130).print(to_console(SETTINGS, rows))
    for row in rows:
        assert f"{row.geodesic_r:.2f}" in out.getvalue()
    assert "…" not in out.getvalue()
