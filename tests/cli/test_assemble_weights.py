"""With a network, the report shows which points it matched across a join."""

import json
import re

import numpy as np
import pytest
import torch
from browser import Browser, find_chromium

import cmnet
from cmnet.cli import main
from cmnet.data.toy import toy_object
from cmnet.parts.save import save_part
from cmnet.report import viewer_mesh

SMALL = {"widths": (4, 6, 8, 10), "features": 12, "descriptor": 16, "attention": 8, "points": 800}


@pytest.fixture(scope="module")
def pile(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pile")
    for part in toy_object(1, np.random.default_rng(0)):
        save_part(part, folder / f"{part.name}.ply")
    return folder


@pytest.fixture(scope="module")
def out(pile, tmp_path_factory):
    """The result of an untrained network."""
    folder = tmp_path_factory.mktemp("weights")
    torch.manual_seed(0)
    cmnet.CMNet.from_preset("cmnet-base", **SMALL).save(folder / "net.safetensors")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(viewer_mesh, "FACES", 6000)  # the processor draws
        arguments = ["--weights", str(folder / "net.safetensors"), "-o", str(folder / "out"), "--quiet"]
        assert main(["assemble", str(pile), *arguments, "--solver", "paper"]) == 0  # without the work on surfaces
    return folder / "out"


def facts(folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="\w+">(.*?)</script>', page, re.DOTALL)[1])


def test_every_join_comes_with_its_matches(out):
    joins = facts(out)["joins"]
    assert joins
    for join in joins:
        matches = join["matches"]
        assert len(matches["weights"]) == len(matches["shape"]) == len(matches["occupancy"]) == 128
        assert 0 <= min(matches["shape"]) <= max(matches["shape"]) <= 1


@pytest.mark.skipif(find_chromium() is None, reason="needs Chromium or Chrome (set CMNET_CHROMIUM)")
def test_the_browser_draws_them_by_each_score(out):
    with Browser(patience=120) as browser, browser.open((out / "report.html").as_uri(), (920, 460), still=True) as page:
        page.wait("cmnet.state().parts.length")
        page.click("#joins li button")
        page.wait("!cmnet.state().moving")
        assert page.evaluate("cmnet.state().lines") == 128
        card = page.evaluate("document.querySelector('#card').textContent")
        assert "Shape score" in card
        assert "Occupancy score" in card
        choices = page.evaluate("[...document.querySelectorAll('#card .lines button')].map(e => e.textContent)")
        assert choices == ["Off", "Matches", "Shape", "Occupancy"]
        page.click("#card .lines button:nth-child(1)")
        page.wait("!cmnet.state().moving")
        assert page.evaluate("cmnet.state().lines") == 0
        page.click("#card .lines button:nth-child(4)")
        page.wait("!cmnet.state().moving")
        assert page.evaluate("cmnet.state().lines") == 128
        assert page.errors == []
