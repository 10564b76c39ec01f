"""The examples of the documentation, taken out of its pages and run.

Blocks fenced as python, sh or console are run in the order of their page, in one folder per page, python blocks with
common variables. Of a console block, lines that begin with $ are run and the lines below them are what must come out:
... stands for anything, a number for any number, and tables may be wider. json blocks must be JSON. A comment on the
line before a block changes that:

    <!-- test: slow -->                takes long: run by `make test-slow`, otherwise its arguments are parsed
    <!-- test: skip because ... -->    needs data or hours: its arguments are parsed, its python compiled
    <!-- test: add --steps 2 ... -->   run with these arguments added
    <!-- test: file known.json -->     the block is written to this file
"""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cmnet.cli import build_parser, main
from cmnet.cli.train import resolve
from cmnet.cli.view import server

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUN = ("python", "sh", "console")
MARKER = re.compile(r"<!-- test: (slow|skip because|add|file)\b ?(.*?) ?-->")
FENCE = re.compile(r"```(\w*)\s*")
LOOSELY = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    page: Path
    line: int
    kind: str
    text: str
    marker: str = ""
    detail: str = ""

    @property
    def place(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found, lines = [], page.read_text(encoding="utf-8").splitlines()
    start = None
    for k, line in enumerate(lines):
        if start is None and (opening := FENCE.fullmatch(line)):
            start, kind = k, opening[1]
        elif start is not None and line == "```":
            before = next((x for x in reversed(lines[:start]) if x.strip()), "")
            marker = MARKER.fullmatch(before)
            assert marker or "<!-- test" not in before, f"{page.name}:{start}: no such marker: {before}"
            text = "\n".join(lines[start + 1 : k]) + "\n"
            found.append(Block(page, start + 2, kind, text, *(marker.groups() if marker else ())))
            start = None
    assert start is None, f"{page.name}:{start}: a block that does not end"
    return found


def commands(block: Block) -> Iterator[tuple[list[str], str]]:
    """The commands of a sh or console block as words, each with the output that should follow."""
    text = block.text.replace("\\\n", " ")
    if block.kind == "sh":
        yield from ((words, "") for line in text.splitlines() if (words := shlex.split(line, comments=True)))
        return
    for entry in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = entry.partition("\n")
        yield shlex.split(command, comments=True), output


@dataclass
class Runner:
    """Runs the blocks of one page in the current folder."""

    slow: bool = False
    names: dict[str, Any] = field(default_factory=dict)

    def runs(self, block: Block) -> bool:
        """Whether a block is run, and not only looked at."""
        return block.marker != "skip because" and (self.slow or block.marker != "slow")

    def run(self, block: Block) -> None:
        if block.kind == "json":
            json.loads(block.text)
        if block.marker == "file":
            Path(block.detail).write_text(block.text, encoding="utf-8")
        if block.kind not in RUN:
            return
        real = self.runs(block)
        if block.kind == "python":
            self._python(block, real)
            return
        for words, output in commands(block):
            added = shlex.split(block.detail) if block.marker == "add" else []
            run_command([*words, *added], output, block.place, real)

    def _python(self, block: Block, real: bool) -> None:
        code = compile("\n" * (block.line - 1) + block.text, str(block.page), "exec")
        if real:
            exec(code, self.names)


def run_command(words: list[str], output: str, place: str, real: bool) -> None:
    """Run one command, or, where it is not run for real, only look whether it could be."""
    assert not {"|", ">", "&&", ";"} & set(words), f"{place}: only plain commands can be run: {shlex.join(words)}"
    if words[0] != "cmnet":
        _check_other(words, place)
        return
    args = parsed(words[1:], place)
    if args.verb == "train":
        resolve(args)
    if not real:
        return
    if args.verb == "view":
        server(args.out, args.port).server_close()
        return
    code, said = _said(words[1:])
    wrong = any(line.startswith("cmnet: ") for line in output.splitlines())
    assert (code != 0) == wrong, f"{place}: {shlex.join(words)} ended with {code}:\n{said}"
    if output:
        fits = doctest.OutputChecker().check_output(_plain(output), _plain(said), LOOSELY)
        assert fits, f"{place}: {shlex.join(words)} should print\n{output}\nbut prints\n{said}"


def parsed(words: list[str], place: str) -> Any:
    """The arguments as the real parser sees them."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return build_parser().parse_args(words)
    except SystemExit:
        raise AssertionError(f"{place}: cmnet {shlex.join(words)}\n{said.getvalue()}") from None


def _said(words: list[str]) -> tuple[int, str]:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        return main(words), said.getvalue()


def _plain(text: str) -> str:
    """Any number is #, lines of a table are as long as any, and nothing is blank at either end."""
    text = re.sub(r"\d[\d,.]*(?:e-?\d+)?", "#", text)
    return re.sub(r"([━─])[━─]*", r"\1", text).strip() + "\n"


def _check_other(words: list[str], place: str) -> None:
    """make has the target, pip the extras, python the script."""
    if words[0] == "make":
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
        assert set(words[1:]) <= set(targets), f"{place}: make has no target {words[1:]}"
    elif words[:2] == ["pip", "install"]:
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        asked = re.findall(r"\[([\w,]+)\]", words[-1])
        assert set(",".join(asked).split(",")) <= {*extras, ""}, f"{place}: no extra {words[-1]}"
    elif words[0] == "python":
        assert (ROOT / words[1]).is_file(), f"{place}: there is no {words[1]}"
    else:
        raise AssertionError(f"{place}: not a command that the tests know: {shlex.join(words)}")
