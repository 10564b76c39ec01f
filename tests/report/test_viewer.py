"""The page as a file: what it carries and what it forbids. What it does is tested in test_viewer_browser.py."""

import base64
import hashlib
import json
import re
import zlib
from dataclasses import replace

import numpy as np
import pytest
import trimesh

from cmnet.geometry.pose import Pose
from cmnet.pairing.join import Join
from cmnet.parts.part import Part
from cmnet.report.measured import gap_limit, measure
from cmnet.report.viewer import write_report
from cmnet.report.viewer_data import page_data
from cmnet.report.viewer_joins import SPARE, shown_joins
from cmnet.solving.assembly import Assembly


@pytest.fixture(scope="module")
def page(vase, tmp_path_factory):
    assembly, parts = vase
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_report(path, assembly, parts, title="Find </title><b>7</b>", unit="mm")
    return path.read_text(encoding="utf-8")


def content(page, kind):
    return re.search(rf'<script type="{kind}" id="\w+">(.*?)</script>', page, re.DOTALL)[1]


def test_the_facts_are_all_there_and_no_name_is_markup(page, vase):
    assembly, parts = vase
    facts = json.loads(content(page, "application/json"))
    assert [part["name"] for part in facts["parts"]] == [part.name for part in parts]
    assert facts["notes"] == assembly.notes
    assert len(facts["joins"]) == len(assembly.joins)
    assert facts["joins"][0]["matches"]["shape"] == [0.8] * 40
    assert [join.get("off") for join in facts["joins"][:2]] == [[0.2, 1.2], None]
    assert [part.get("off") for part in facts["parts"]] == [[0, 0], *[[0.2, 1.2]] * (len(parts) - 2), None]
    for text in (parts[0].name, parts[1].name, "</title><b>", "<b>fixed</b>"):
        assert text not in page
    assert page.count("<script") == 3


def test_numbers_lead_back_to_the_parts(page, vase):
    facts = json.loads(content(page, "application/json"))
    numbers = zlib.decompress(base64.b64decode(content(page, "application/octet-stream")))
    for known, part in zip(facts["parts"], vase[1], strict=True):
        start, count = known["positions"]
        stored = np.frombuffer(numbers, "<u2", count, start).reshape(-1, 3) / 65535 * known["scale"] + known["low"]
        box = np.array([part.vertices.min(axis=0), part.vertices.max(axis=0)])
        assert np.allclose([stored.min(axis=0), stored.max(axis=0)], box, atol=1e-4 * np.ptp(box))
        start, count = known["faces"]
        assert np.frombuffer(numbers, "<u2", count, start).max() < len(stored)
        assert known["gaps"][1] == len(stored)


def test_only_its_own_script_and_style_may_run(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "http" not in policy
    for tag, kind in (("script", "script-src"), ("style", "style-src")):
        text = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy
    assert not re.search(r'(src|href)="', page)


@pytest.mark.parametrize("far", [0.0, 1e8])
def test_lines_between_matches_end_on_the_parts_however_far_they_lie(vase, far):
    assembly, parts = vase
    join, away = assembly.joins[0], np.full(3, far)
    found = assembly.matches[join.parts]
    found = replace(found, points_i=found.points_i + away, points_j=found.points_j + away)
    parts = [replace(part, vertices=part.vertices + away) for part in parts]
    facts, numbers = page_data(replace(assembly, matches={join.parts: found}), measure(assembly, parts), "vase", "")
    start, count = facts["joins"][0]["matches"]["ends"]
    ends = np.frombuffer(numbers, "<f4", count, start).reshape(-1, 2, 3)
    low = [facts["parts"][k]["low"] for k in join.parts]
    strongest_first = np.stack([found.points_i, found.points_j], axis=1)[np.argsort(-found.weights)]
    assert np.allclose(ends + low, strongest_first, rtol=0, atol=1e-6)


def test_joined_parts_touch_and_the_weakest_link_is_known(vase):
    assembly, parts = vase
    facts, numbers = page_data(assembly, measure(assembly, parts), "vase", "")
    for step in facts["steps"]:
        start, count = facts["parts"][step["part"]]["gaps"]
        gaps = np.frombuffer(numbers, np.uint8, count, start)
        assert ((gaps > 110) & (gaps < 144)).sum() > 20  # within an eighth of the scale: they were broken apart exactly
    contact = facts["joins"][0]["contact"]
    assert np.isclose(np.linalg.norm(contact["normal"]), 1)
    assert contact["radius"] > 0


def test_the_scale_of_gaps_is_a_round_number(vase):
    limit = gap_limit(*vase)
    assert limit / 10 ** np.floor(np.log10(limit)) == pytest.approx(round(limit / 10 ** np.floor(np.log10(limit))))
    wide = replace(vase[0], joins=[replace(join, gap_rms=np.inf) for join in vase[0].joins])
    assert gap_limit(wide, vase[1]) <= limit


def test_every_used_join_is_shown_and_few_others():
    joins = [Join((0, 1), Pose.identity(), p, 1.0, 0.0, 0.0, p < 0.05) for p in np.linspace(0, 1, 100)]
    shown = shown_joins(Assembly(np.tile(np.eye(4), (2, 1, 1)), [[0, 1]], [], joins))
    assert len(shown) == SPARE + 5
    assert shown == sorted(shown, reverse=True)


def test_scanned_colours_and_clouds(tmp_path):
    ball = trimesh.creation.icosphere(3)
    red = np.tile(np.array([200, 10, 20, 255], dtype=np.uint8), (len(ball.vertices), 1))
    whole = Part("red", np.asarray(ball.vertices), np.asarray(ball.faces), colors=red)
    cloud = Part("cloud", np.asarray(ball.vertices) + 2.0, None, np.asarray(ball.vertex_normals))
    assembly = Assembly(np.tile(np.eye(4), (2, 1, 1)), [], [0, 1], [])
    facts, numbers = page_data(assembly, measure(assembly, [whole, cloud]), "two", "")
    start, count = facts["parts"][0]["colours"]
    assert np.array_equal(np.frombuffer(numbers, np.uint8, count, start).reshape(-1, 3), red[: count // 3, :3])
    assert "colours" not in facts["parts"][1]
    assert "faces" not in facts["parts"][1]


def test_twenty_dense_parts_stay_under_ten_megabytes(tmp_path):
    rng = np.random.default_rng(0)
    ball = trimesh.creation.icosphere(5)
    parts, places = [], [(i, j, k) for i in range(5) for j in range(2) for k in range(2)]
    for n, place in enumerate(places):  # 20,000 noisy faces each, more than are shown, touching their neighbours
        noisy = np.asarray(ball.vertices) * (1 + 0.004 * rng.standard_normal((len(ball.vertices), 1)))
        parts.append(Part(f"piece_{n}", noisy + 1.98 * np.array(place), np.asarray(ball.faces)))
    apart = np.linalg.norm(np.subtract.outer(places, places)[:, [0, 1, 2], :, [0, 1, 2]], axis=0)
    joins = [
        Join((int(i), int(j)), Pose.identity(), 0.9, 1.0, 0.01, 0.0, True)
        for i, j in zip(*np.nonzero(np.triu(apart == 1)))
    ]
    assembly = Assembly(np.tile(np.eye(4), (20, 1, 1)), [list(range(20))], [], joins)
    write_report(tmp_path / "report.html", assembly, parts, title="twenty")
    assert (tmp_path / "report.html").stat().st_size < 10_000_000
