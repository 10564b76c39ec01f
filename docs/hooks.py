"""What MkDocs fills in: the command reference, from the real parsers, and the settings, from the real dataclasses.

A page asks for it by a comment of its own: <!-- generated: commands -->, <!-- generated: settings MODULE CLASS --> or
<!-- generated: assembly GROUP … -->
"""

from __future__ import annotations

import argparse
import ast
import functools
import importlib
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cmnet.cli import build_parser
from cmnet.settings import Settings, to_dict

ASKED = re.compile(r"<!-- generated: (\w+)(.*?) -->")
RESULTS = "results.md"
FEW = 3  # choices that stand in the name of an option; more stand behind it


def on_config(config: Any) -> Any:
    """The page of results is in the navigation once it has been measured."""
    if (Path(config.docs_dir) / RESULTS).exists():
        measure = next(entry["Train and measure"] for entry in config.nav if "Train and measure" in entry)
        if not any(RESULTS in entry.values() for entry in measure):
            measure.append({"Results": RESULTS})
    return config


def on_page_markdown(markdown: str, **_: Any) -> str:
    return filled(markdown)


def filled(markdown: str) -> str:
    """A page with what it asks for in place of its comments."""
    makers = {"commands": commands, "settings": settings, "assembly": assembly}
    return ASKED.sub(lambda asked: makers[asked[1]](*asked[2].split()), markdown)


def commands() -> str:
    """All verbs: what they do, examples, arguments."""
    return "\n\n".join(_command(name, parser) for name, parser in parsers(build_parser()))


def parsers(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every command with its parser, sub-commands after their own."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for sub in action.choices.values():
                yield sub.prog, sub
                yield from parsers(sub)


def _command(name: str, parser: argparse.ArgumentParser) -> str:
    level = "#" * len(name.split())
    usage = _usage(parser)
    return f"{level} {name}\n\n```text\n{usage}\n```\n\n{_described(parser.description or '')}\n\n{_arguments(parser)}"


def _usage(parser: argparse.ArgumentParser) -> str:
    parser.formatter_class = lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=84)
    return parser.format_usage().removeprefix("usage: ").strip()


def _described(text: str) -> str:
    """Indented lines are examples."""
    lines, out = text.strip().splitlines(), []
    for k, line in enumerate(lines):
        example, before = line.startswith("  "), k > 0 and lines[k - 1].startswith("  ")
        if example != before:
            out += ["```sh"] if example else ["```", ""]
        if example:
            out += _example(line.strip())
        elif not line.startswith("worked example"):
            out.append(_marked(line))
        elif out and out[-1]:
            out.append("")
    return "\n".join(out + ["```"] * lines[-1].startswith("  ")) if lines else ""


def _example(line: str) -> list[str]:
    """What stands behind a command, some blanks away, is said before it."""
    command, _, remark = (part.strip() for part in line.partition("  "))
    return [f"# {remark}", command] if remark else [command]


def _arguments(parser: argparse.ArgumentParser) -> str:
    rows = [_row(a) for a in parser._actions if not isinstance(a, argparse._HelpAction | argparse._SubParsersAction)]
    return "\n".join(["| | |", "|---|---|", *rows]) if rows else ""


def _row(action: argparse.Action) -> str:
    few = "{" + ",".join(action.choices) + "}" if action.choices and len(action.choices) <= FEW else None
    value = action.metavar or few or (action.dest.upper() if action.option_strings else action.dest)
    flags = [f"{flag} {value}" if action.nargs != 0 else flag for flag in action.option_strings[-1:]]
    names = ", ".join(f"`{name}`" for name in [*action.option_strings[:-1], *flags] or [value])
    meaning = (action.help or "") % {**vars(action), "prog": "cmnet"}
    if action.choices and not few:
        meaning += f"; one of {', '.join(action.choices)}"
    return f"| {names} | {_marked(meaning)} |"


def _marked(text: str) -> str:
    """Plain text as Markdown: nothing of it is a tag, options are code."""
    text = text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
    return re.sub(r"(?<![\w`-])(--[a-z][a-z-]*)", r"`\1`", text) if "`" not in text else text


def settings(module: str, name: str) -> str:
    """The fields of a dataclass: name, default, and the comment that stands behind it, in tables by subject."""
    source = inspect.getsource(getattr(importlib.import_module(module), name)).splitlines()
    out: list[str] = []
    for k, field in enumerate(source):
        if subject := re.fullmatch(r"    # (\w.*)", field):
            out += ["", f"**{subject[1]}**", "", "| setting | default | meaning |", "|---|---|---|"]
        elif found := re.fullmatch(r"    (\w+): .+? = (.+?)  # (.+)", field):
            if not any(line.startswith("|") for line in out):
                out += ["| setting | default | meaning |", "|---|---|---|"]
            out.append(f"| `{found[1]}` | `{_default(found[2])}` | {_marked(found[3])} |")
        elif field.startswith("    def ") and k:
            break
    return "\n".join(out)


def assembly(*groups: str) -> str:
    """All settings in some groups of those of an assembly: name, default, or those of the groups, and meaning."""
    every = to_dict(Settings())
    names = [name.partition(".")[2] for name in every if name.startswith(f"{groups[0]}.")]
    rows = [f"| setting | {' | '.join(groups)} | meaning |", "|---" * (2 + len(groups)) + "|"]
    for name in names:
        values = " | ".join(f"`{json.dumps(every[f'{group}.{name}'])}`" for group in groups)
        rows.append(f"| `{name}` | {values} | {_marked(_meaning(f'{groups[0]}.{name}'))} |")
    return "\n".join(rows)


def _meaning(name: str) -> str:
    """The comment behind a setting."""
    *path, last = name.split(".")
    group = functools.reduce(getattr, path, Settings())
    source = "".join(inspect.getsource(cls) for cls in type(group).__mro__[:-1])
    found = re.search(rf"^    {last}: .+?  # (.+)$", source, flags=re.MULTILINE)
    assert found, f"{name} needs a comment that says what it means"
    return found[1]


def _default(text: str) -> str:
    value = ast.literal_eval(text)
    return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
