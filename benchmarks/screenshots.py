"""The pictures of report.html in the docs: a broken jug and a stray piece, assembled, as a browser shows them.

python benchmarks/screenshots.py [-o docs/images] [--seed S] [--frames N]      needs Chromium or Chrome
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from browser import Browser, Page
from PIL import Image

import cmnet
from cmnet.data.fracture import fracture
from cmnet.data.shapes import make_shape
from cmnet.geometry.pose import Pose
from cmnet.parts.part import Part
from cmnet.report.viewer import write_report

SIZE = (1200, 750)
MILLIMETRES = 240  # height of the jug
LARGEST = 400_000  # bytes of one picture
SHOTS = {  # name: colours of the page, keys to press
    "report-light": ("light", ""),
    "report-exploded": ("light", "e"),
    "report-join": ("light", "jjjj"),
    "report-dark": ("dark", "eg"),
}


def fragments(seed: int) -> list[Part]:
    """Eight pieces of a jug and one of a bowl, each turned and moved at random."""
    rng = np.random.default_rng(seed)
    jug = fracture(make_shape("jug", rng), 8, rng, "impact", min_volume=0.02).parts
    stray = fracture(make_shape("bowl", rng), 5, rng, "impact", min_volume=0.05).parts[-1]
    parts = []
    for k, part in enumerate([*jug, stray]):
        scaled = Part(f"fragment {k + 1}", MILLIMETRES * part.vertices, part.faces)
        parts.append(scaled.moved(Pose.random(rng, spread=100.0)))
    return parts


def slim(path: Path) -> None:
    """Drop the lowest bits of a picture until it is small enough: noise that no eye sees and no PNG packs."""
    pixels = np.asarray(Image.open(path).convert("RGB")).astype(int)
    for bits in range(4):
        rounded = (pixels + (1 << bits >> 1)) >> bits << bits
        Image.fromarray(rounded.clip(0, 255).astype(np.uint8)).save(path, optimize=True)
        if path.stat().st_size < LARGEST:
            return


def take(page: Page, keys: str, frames: int, path: Path) -> None:
    """A picture of the window after some keys."""
    page.wait("!cmnet.state().moving")
    for key in keys:
        page.press(key)
        page.wait("!cmnet.state().moving")
    page.evaluate(f"cmnet.finish({frames})")
    page.screenshot(path)
    slim(path)


def take_paper(page: Page, path: Path) -> None:
    """A picture of the printed page, which the browser lays out as it would for a printer."""
    page.wait("!cmnet.state().moving")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.call("Emulation.setEmulatedMedia", media="print")
    page.evaluate("document.body.style.padding = '48px 56px'")  # the printer's margins
    page.resize((860, 1110))
    page.screenshot(path)
    slim(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--out", type=Path, default=Path("docs/images"))
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--frames", type=int, default=96, help="of every picture; fewer are quicker and noisier")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    parts = fragments(args.seed)
    assembly = cmnet.assemble(parts)
    with tempfile.TemporaryDirectory() as folder, Browser(patience=1800) as browser:
        report = Path(folder) / "report.html"
        write_report(report, assembly, parts, title="Jug, context 114", unit="mm")
        for name, (scheme, keys) in SHOTS.items():
            with browser.open(f"{report.as_uri()}#fine", SIZE, scheme, still=True) as page:
                take(page, keys, args.frames, args.out / f"{name}.png")
        with browser.open(f"{report.as_uri()}#fine", SIZE, still=True) as page:
            take_paper(page, args.out / "report-print.png")


if __name__ == "__main__":
    main()
