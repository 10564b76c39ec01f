"""The documentation: every example runs, every link leads somewhere, the reference is complete, the site builds."""

import argparse
import ast
import contextlib
import html
import importlib.util
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import trimesh

import cmnet
import cmnet.assembler
from breaking import broken, solid_bar
from cmnet.assembling.passes import plan
from cmnet.cli import VERBS, build_parser, main
from cmnet.data.fracture import fracture
from cmnet.data.shapes import make_shape
from cmnet.geometry.pose import Pose
from documented import PAGES, ROOT, RUN, Runner, blocks, run_command

HELP = {"cmnet COMMAND --help"}  # not meant to be typed as it stands


def name(page):
    return page.name if page.parent == ROOT else page.relative_to(ROOT / "docs").as_posix()


def with_slow(page):
    return any(block.marker == "slow" for block in blocks(page))


EXAMPLES = [page for page in PAGES if any(block.kind in (*RUN, "json") for block in blocks(page))]
SLOW = [page for page in EXAMPLES if with_slow(page)]


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    """What readers have: a mug in three parts, an unbroken vase, weights of their own, an earlier result."""
    folder = tmp_path_factory.mktemp("reader")
    rng = np.random.default_rng(3)
    (folder / "fragments").mkdir()
    mug = fracture(make_shape("mug", rng), 3, rng, "weakest", min_volume=0.05)
    for part, called in zip(mug.parts, ("base", "handle", "rim")):
        scattered = part.moved(Pose.random(rng, 0.5))
        mesh = trimesh.Trimesh(100 * scattered.vertices, scattered.faces, process=False)
        mesh.export(folder / "fragments" / f"{called}.ply")
    make_shape("vase", rng).export(folder / "vase.stl")
    (folder / "photos").mkdir()
    (folder / "photos/IMG_1.jpg").touch()
    (folder / "wrong.json").write_text('{"format": "cmnet.constraints/1", "join": [["base", "handel"]]}')
    weights = folder / "runs/toy/last.safetensors"
    weights.parent.mkdir(parents=True)
    cmnet.CMNet.from_preset("cmnet-base", points=512, widths=(4, 8, 8, 8), features=8, descriptor=8).save(weights)
    return folder


@pytest.fixture(scope="session")
def result(prepared):
    """The folder that `cmnet assemble fragments/ -o result` writes."""
    with contextlib.chdir(prepared), contextlib.redirect_stdout(io.StringIO()):
        assert main(["assemble", "fragments", "-o", "result"]) == 0
    return prepared / "result"


@pytest.fixture
def reader(request, prepared, tmp_path, monkeypatch):
    """An own copy of all that, and the right folder to be in."""
    for thing in prepared.iterdir():
        if thing.name != "result":
            (shutil.copytree if thing.is_dir() else shutil.copy)(thing, tmp_path / thing.name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "96")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    return request


def run_page(page, reader, slow):
    found, runner = blocks(page), Runner(slow)
    made = any("-o result" in block.text for block in found if runner.runs(block))
    if not made and any("result/" in block.text for block in found if runner.runs(block)):
        shutil.copytree(reader.getfixturevalue("result"), "result")
    for block in found:
        try:
            runner.run(block)
        except Exception as error:
            error.add_note(f"in the example at {block.place}")
            raise


@pytest.mark.parametrize("page", EXAMPLES, ids=name)
def test_examples_run(page, reader):
    run_page(page, reader, slow=False)


@pytest.mark.slow
@pytest.mark.parametrize("page", SLOW, ids=name)
def test_slow_examples_run(page, reader):
    run_page(page, reader, slow=True)


@pytest.mark.parametrize(
    "text",
    [
        "```sh\ncmnet assemble fragments -o out --no-such-option\n```\n",
        "<!-- test: slow -->\n```sh\ncmnet train -o runs/x --set no_such_setting=1\n```\n",
        "<!-- test: skip because of it -->\n```sh\ncmnet fractur x\n```\n",
        "<!-- test: skip because of it -->\n```python\nthis is no python\n```\n",
        "<!-- test: slowly -->\n```python\n1\n```\n",
        "```python\nimport cmnet\n\ncmnet.no_such_name\n```\n",
        "```sh\ncmnet assemble nothing/ -o out\n```\n",
        "```console\n$ cmnet assemble nothing/ -o out\ncmnet: another sentence\n```\n",
        "```sh\nmake no-such-target\n```\n",
        "```json\n{\n```\n",
    ],
)
def test_broken_examples_are_found(text, reader, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(text)
    with pytest.raises((AssertionError, AttributeError, SyntaxError, ValueError)):
        run_page(page, reader, slow=False)


def test_examples_of_the_help_parse():
    """They stand in the command reference as well."""
    found = re.findall(r"^  (cmnet .+?)(?:  .*)?$", "\n".join(described()), flags=re.MULTILINE)
    assert len(found) > 20
    for line in set(found) - HELP:
        run_command(shlex.split(line), "", line, real=False)


def described():
    parser = build_parser()
    yield parser.epilog
    yield from (sub.description for _, sub in hooks().parsers(parser))


def hooks():
    spec = importlib.util.spec_from_file_location("docs_hooks", ROOT / "docs/hooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def links(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.findall(r"\]\(([^)\s]+)\)", text)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    """Anchors are checked when the site is built."""
    for link in links(page):
        if not link.startswith(("https://", "#")):
            assert (page.parent / link.partition("#")[0]).is_file(), link


def test_every_command_and_option_is_in_the_reference():
    made = hooks()
    text = made.filled((ROOT / "docs/commands.md").read_text())
    for command, parser in made.parsers(build_parser()):
        section = re.split(r"\n##+ ", text.partition(f"# {command}\n")[2])[0]
        for action in parser._actions:
            if not isinstance(action, argparse._HelpAction | argparse._SubParsersAction):
                assert all(
                    f"`{flag}" in section for flag in action.option_strings or [action.metavar or action.dest]
                ), action
    assert all(f"`{setting}`" in text for setting in ("occupancy_branch", "learning_rate", "tolerances.touch"))


def test_every_public_name_is_in_the_reference():
    text = (ROOT / "docs/api.md").read_text()
    for public in cmnet.__all__:
        assert re.search(rf"^::: cmnet\.[\w.]*\.{public}$|cmnet\.{public}\b", text, flags=re.MULTILINE), public
    for directive in re.findall(r"^::: ([\w.]+)\.(\w+)$", text, flags=re.MULTILINE):
        assert hasattr(importlib.import_module(directive[0]), directive[1]), directive


def sentences():
    """Every text in the source, what is filled in standing for anything."""
    for path in (ROOT / "src/cmnet").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                pieces = [re.escape(v.value) if isinstance(v, ast.Constant) else ".+?" for v in node.values]
                yield "".join(pieces), sum(len(v.value) for v in node.values if isinstance(v, ast.Constant))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield re.sub(r"%[sd]", ".+?", re.escape(node.value)), len(node.value)


def test_messages_are_those_of_the_program():
    """The first column of the tables of docs/failures.md, in code."""
    text = (ROOT / "docs/failures.md").read_text(encoding="utf-8")
    quoted = [m for m in re.findall(r"^\| `([^`]+)` \|", text, flags=re.MULTILINE) if " " in m]
    known = [re.compile(pattern) for pattern, length in sentences() if length > 11]
    assert len(quoted) > 15
    for message in quoted:
        said = max((len(m[0]) for k in known if (m := k.search(message))), default=0)
        assert said > 0.4 * len(message), message


def test_keys_of_the_result_are_described(result):
    text = (ROOT / "docs/files.md").read_text(encoding="utf-8")
    written = json.loads((result / "assembly.json").read_text())
    for key in [*written, *written["parts"][0], *written["joins"][0]]:
        assert re.search(rf"`[^`\n]*\b{key}\b[^`\n]*`", text), key
    for path in result.iterdir():
        assert path.name in text
    for column in (result / "joins.csv").read_text().splitlines()[0].split(",")[:7]:
        assert f"`{column}`" in text


def test_files_that_pages_name_are_there():
    files = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py") if ".venv" not in path.parts]
    for page in PAGES:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for named in re.findall(r"`(\w+/[\w/]+\.py)`", text):
            assert any(f"/{file}".endswith(f"/{named}") for file in files), (page.name, named)


def rows(page, columns):
    """The cells of the tables of a page that have so many columns, without the ticks around code."""
    lines = (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip(" `") for cell in line.strip("| ").split(" | ")] for line in lines if line.startswith("| ")]
    return [row for row in cells if len(row) == columns]


def test_the_table_of_passes_is_the_plan():
    shown = [row[:5] for row in rows("assembly.md", 6)]
    for step, row in zip(plan(), shown, strict=True):
        who = step.who.__name__ if step.who else "nobody"
        accept = f"{step.accept:g}" + (f" ({step.relaxed:g})" if step.relaxed < step.accept else "")
        assert row == [step.name, who, ", ".join(step.scales), step.judge.name, accept]


def test_the_steps_of_an_assembly_run_in_the_order_in_which_they_are_told(prepared, tmp_path, monkeypatch):
    """By the first call of each."""
    steps = [(row[2], row[1]) for row in rows("assembly.md", 5) if row[0].isdigit()]
    assert 10 < len(steps) <= 15
    source, called = ROOT / "src/cmnet", []

    def note(frame, *_):
        code = frame.f_code
        if code.co_filename.startswith(str(source)):
            step = (Path(code.co_filename).relative_to(source).as_posix(), code.co_name)
            called.extend([step] if step in steps and step not in called else [])

    monkeypatch.setattr(cmnet.assembler, "cores", lambda: 1)
    weights, before = prepared / "runs/toy/last.safetensors", sys.gettrace()
    for part in broken(solid_bar(), np.random.default_rng(1)):
        trimesh.Trimesh(part.vertices, part.faces, process=False).export(tmp_path / f"{part.name}.ply")
    sys.settrace(note)
    try:
        assert main(["assemble", str(tmp_path), "-o", str(tmp_path / "out"), "--quiet", "--weights", str(weights)]) == 0
    finally:
        sys.settrace(before)
    assert called == steps


def test_the_site_builds_and_asks_for_nothing(tmp_path):
    pytest.importorskip("mkdocs")
    site = tmp_path / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(site)]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = list(site.rglob("*.html"))
    assert {f"{Path(name(p)).stem}.html" for p in PAGES[1:]} <= {page.name for page in pages}
    fetched = r"<(?:script|link|img|iframe|source)[^>]*?(?:src|href)=[\"']?(?:https?:)?//[^>]*>"
    for page in pages:
        assert not re.findall(fetched, page.read_text(encoding="utf-8")), page
    for sheet in site.rglob("*.css"):
        assert not re.findall(r"url\([\"']?(?:https?:)?//|@import", sheet.read_text(encoding="utf-8")), sheet
    text = html.unescape((site / "commands.html").read_text(encoding="utf-8"))
    assert all(f"cmnet {verb}" in text for verb in VERBS)
    api = (site / "api.html").read_text(encoding="utf-8")
    assert all(f'id="{where}.{public}"' in api for public, where in cmnet._WHERE.items())
