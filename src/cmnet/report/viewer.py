"""`report.html`: the assembly to turn, take apart and check, in one file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path

from cmnet import __version__
from cmnet.files import write_text
from cmnet.parts.part import Part
from cmnet.report.measured import Measured, measure
from cmnet.report.viewer_data import page_data
from cmnet.solving.assembly import Assembly

SCRIPTS = (
    "math.js",
    "data.js",
    "shaders.js",
    "gl.js",
    "renderer.js",
    "scene.js",
    "camera.js",
    "panel.js",
    "controls.js",
    "print.js",
    "main.js",
)


def write_report(
    path: Path,
    assembly: Assembly,
    parts: Sequence[Part],
    *,
    title: str,
    unit: str = "",
    measured: Measured | None = None,
) -> None:
    """Write the page, atomically.

    unit     : of the parts' coordinates, such as "mm"; shown behind every length
    measured : the assembly, if that is done already
    """
    facts, numbers = page_data(assembly, measured or measure(assembly, parts), title, unit)
    write_text(path, page({**facts, "version": __version__}, numbers))


def page(facts: Mapping[str, object], numbers: bytes) -> str:
    """The whole page. Nothing in it is markup but the template: names are data, which the script shows as text."""
    script = "(() => {\n'use strict';\n" + "\n".join(_template(name) for name in SCRIPTS) + "\n})();\n"
    style = _template("style.css")
    filled = {
        "policy": _policy(script, style),
        "title": html.escape(str(facts["title"])),
        "style": style,
        "script": script,
        "facts": json.dumps(facts, ensure_ascii=True, allow_nan=False).replace("<", "\\u003c"),
        "numbers": base64.b64encode(zlib.compress(numbers, 9)).decode("ascii"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: filled[found[1]], _template("page.html"))


def _policy(script: str, style: str) -> str:
    """Only this script and this style run, and nothing is fetched from anywhere."""
    return (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def _template(name: str) -> str:
    return resources.files("cmnet.report").joinpath("template", name).read_text(encoding="utf-8")
