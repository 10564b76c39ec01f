"""Shapes in docstrings as tables: lines such as `points : (n, 3) float` become rows, the rest stays as it is."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

ENTRY = re.compile(r"(\w[\w, ]*?) *: (.+)")


class Shapes(Extension):
    """For mkdocstrings."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = with_tables(obj.docstring.value)


def with_tables(text: str) -> str:
    """Markdown of a docstring."""
    out: list[str] = []
    rows: list[list[str]] = []
    for line in [*text.splitlines(), ""]:
        entry = ENTRY.fullmatch(line)
        if entry and " : " in line:
            rows.append([entry[1].strip(), entry[2]])
        elif rows and line.startswith(" "):
            rows[-1][1] += " " + line.strip()
        else:
            out += _table(rows)
            rows = []
            out.append(line)
    return "\n".join(out).strip()


def _table(rows: list[list[str]]) -> list[str]:
    if not rows:
        return []
    lines = [f"| {_code(names)} | {_marked(meaning)} |" for names, meaning in rows]
    return ["", "| | |", "|---|---|", *lines, ""]


def _code(names: str) -> str:
    return ", ".join(f"`{name.strip()}`" for name in names.split(","))


def _marked(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
