"""The pictures of report.html in the docs: a broken jug and a stray piece, assembled by geometry alone, as a browser
shows them.

python benchmarks/screenshots.py [-o docs/images] [--seed S] [--frames N]      needs Chromium or Chrome
"""

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np
from browser import Browser, Page

import cmnet
from cmnet.data.fracture import fracture
from cmnet.data.shapes import make_shape
from cmnet.geometry.pose import Pose
from cmnet.parts.part import Part
from cmnet.report.viewer import write_report

SIZE = (1280, 800)
MILLIMETRES = 240  # height of the jug
SHOTS = {  # name: keys to press, and how the page is set up
    "report-light": ([], {}),
    "report-exploded": (["e"], {}),
    "report-join": (["j"], {}),
    "report-dark": (["e", "g"], {"scheme": "dark"}),
}


def fragments(seed: int) -> list[Part]:
    """Seven pieces of a jug and one of a bowl, each turned and moved at random."""
    rng = np.random.default_rng(seed)
    jug = fracture(make_shape("jug", rng), 8, rng, "impact", min_volume=0.02).parts
    stray = fracture(make_shape("bowl", rng), 5, rng, "impact", min_volume=0.05).parts[-1]
    parts = []
    for k, part in enumerate([*jug, stray]):
        scaled = Part(f"fragment {k + 1}", MILLIMETRES * part.vertices, part.faces)
        parts.append(scaled.moved(Pose.random(rng, spread=100.0)))
    return parts


def take(page: Page, keys: list[str], frames: int, path: Path) -> None:
    page.wait("cmnet.state().settled")
    for key in keys:
        page.press(key)
        page.wait("!cmnet.state().settled")
        page.wait("cmnet.state().settled")
    page.evaluate(f"cmnet.finish({frames})")
    page.screenshot(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--out", type=Path, default=Path("docs/images"))
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--frames", type=int, default=96, help="of every picture; fewer are quicker and noisier")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    parts = fragments(args.seed)
    assembly = cmnet.assemble(parts)
    print(json.dumps({"groups": assembly.groups, "unplaced": assembly.unplaced}))
    with tempfile.TemporaryDirectory() as folder, Browser(patience=900) as browser:
        report = Path(folder) / "report.html"
        write_report(report, assembly, parts, title="Jug, context 114", unit="mm")
        for name, (keys, setting) in SHOTS.items():
            page = browser.open(report.as_uri(), SIZE, still=True, **setting)
            take(page, keys, args.frames, args.out / f"{name}.png")
            print(args.out / f"{name}.png", (args.out / f"{name}.png").stat().st_size)


if __name__ == "__main__":
    main()
