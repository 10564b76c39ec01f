"""Put fragments together.

worked examples:
  cmnet assemble fragments/ -o vase                  a folder, one file per fragment
  cmnet assemble "Scherbe 1.stl" "Scherbe 2.stl" -o vase
  cmnet assemble scan.glb -o vase                    one file: its nodes or bodies are the fragments
  cmnet assemble pile.zip -o vase --force --json
  cmnet assemble fragments/ -o vase --one-object     nothing foreign among them: place what is unsure, too
  cmnet assemble fragments/ -o vase --constraints known.json
  cmnet assemble fragments/ -o vase --set first.tolerances.touch=0.012
  cmnet assemble fragments/ -o vase --executor dask://10.0.0.7:8786

Meshes (.ply .obj .stl .off .glb .gltf) and point clouds (.ply .xyz .pcd), in any unit, in any position.
OUT gets report.html (open it in a browser), assembly.json, assembled.glb, placed/NAME.ply,
gaps/NAME.ply (coloured by the distance to the next part), joins.csv and config.yaml.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cmnet.cli.arguments import overrides, seed
from cmnet.model.weights import DEFAULT

SOLVERS = ("robust", "paper")

if TYPE_CHECKING:
    from rich.console import Console

    from cmnet.parts.part import Part
    from cmnet.parts.preflight import Preflight
    from cmnet.processes import Executor
    from cmnet.report.document import Run
    from cmnet.solving.assembly import Assembly


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("input", nargs="+", metavar="INPUT", help="a folder, files, a zip, or one file of many bodies")
    parser.add_argument("-o", "--out", type=Path, required=True, help="folder for the result, which must be new")
    parser.add_argument(
        "--weights", default=DEFAULT, help="a .safetensors file, or none: geometry alone (default: %(default)s)"
    )
    parser.add_argument("--solver", choices=SOLVERS, default=SOLVERS[0], help="robust (default), or the paper's")
    parser.add_argument("--one-object", action="store_true", help="all are of one object: place what is unsure, too")
    parser.add_argument("--constraints", type=Path, help="JSON file: what is known about joins, places and objects")
    parser.add_argument("--seed", type=seed, default=0, help="the same seed gives the same result (default 0)")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="overrides",
        help="a tolerance, a budget or what is accepted, by its name in config.yaml; repeatable",
    )
    parser.add_argument("--executor", metavar="dask://HOST:PORT", help="a Dask cluster that does the work on surfaces")
    parser.add_argument("--force", action="store_true", help="replace an earlier result in OUT; other files there stay")
    parser.add_argument("--json", action="store_true", help="print assembly.json and nothing else")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")


def run(args: argparse.Namespace) -> int:
    from contextlib import nullcontext

    from cmnet.cluster import executor_of
    from cmnet.parts.meshfile import quiet
    from cmnet.report.document import Run
    from cmnet.settings import Settings, with_changes

    known = None if args.constraints is None else str(args.constraints)
    inputs = tuple(args.input)
    how = Run(
        weights=args.weights,
        solver=args.solver,
        seed=args.seed,
        inputs=inputs,
        constraints=known,
        one_object=args.one_object,
        settings=with_changes(Settings(), overrides(args.overrides)),
    )
    silent = args.quiet or args.json
    with (
        quiet("cmnet") if args.quiet else nullcontext(),
        executor_of(args.executor) if args.executor else nullcontext() as executor,
    ):
        content = assemble_into(args.out, args.input, how, args.force, silent, executor)
    if args.json:
        print(_for_console(content), end="")  # noqa: T201
    return 0


def _for_console(content: dict[str, Any]) -> str:
    """assembly.json as it is, or with escapes where the console lacks a letter."""
    import json
    import sys

    from cmnet.report.document import to_json

    text = to_json(content)
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return json.dumps(content, indent=1) + "\n"
    return text


def assemble_into(
    out: Path,
    source: Sequence[Any],
    how: Run,
    force: bool = False,
    silent: bool = False,
    executor: Executor | None = None,
) -> dict[str, Any]:
    """Assemble what `source` holds into the folder `out`, telling about it unless `silent`.

    Returns what assembly.json says.
    """
    from dataclasses import replace

    from rich.console import Console

    from cmnet.assembler import Assembler
    from cmnet.folders import replacing_folder
    from cmnet.model.weights import fingerprint
    from cmnet.parts.health import require_parts
    from cmnet.parts.load import load_parts, shown_name
    from cmnet.parts.preflight import preflight
    from cmnet.report.folder import RESULT, require_space_for, write_results
    from cmnet.solving.constraints import load_constraints

    console = Console(quiet=silent)
    _keep_inputs_out(out, source)
    with _reading():
        assembler = Assembler(how.weights, how.solver, seed=how.seed, executor=executor, settings=how.settings)
        how = replace(how, fingerprint=fingerprint(how.weights))
    with replacing_folder(out, RESULT, force) as folder:
        with _reading():
            parts = load_parts(source)
            require_parts(parts)
            known = how.constraints and load_constraints(how.constraints, parts)
        require_space_for(folder, parts)
        seen = preflight(parts, how.seed)
        _show_parts(console, seen)
        given: dict[str, Any] = {"constraints": known, "one_object": how.one_object}
        assembly, seconds = _timed(lambda progress: assembler.assemble_loaded(parts, progress, **given), silent)
        how = replace(how, seconds=seconds, warnings=(*seen.advice, *assembly.notes))
        content = write_results(folder, assembly, parts, how, title=shown_name(Path(out).resolve().name))
    _show_result(console, assembly, parts, how)
    _show_files(console, out, content["gap_limit"])
    return content


def _keep_inputs_out(out: Path, source: Sequence[Any]) -> None:
    """Refuse an output folder that the fragments lie in, for they may be of the result that is replaced."""
    import os

    from cmnet.errors import InputError
    from cmnet.reading import expanded

    place = os.path.realpath(expanded(out))
    for item in source:
        path = os.path.realpath(expanded(item))
        if Path(path).is_relative_to(place):
            raise InputError(f"the fragments {item} lie in {out} itself; choose another folder for the result")


@contextmanager
def _reading() -> Iterator[None]:
    """Blames a file that may not be read, not the folder that is written."""
    from cmnet.errors import InputError

    try:
        yield
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        raise InputError(f"cannot read {what}; check the path and its permissions") from error


def _timed(assemble: Callable[[Any], Assembly], silent: bool) -> tuple[Assembly, float]:
    """The assembly, and the seconds that it took. assemble : is given where to tell about progress, or None"""
    import time
    from contextlib import nullcontext

    from rich.console import Console

    from cmnet.cli.progress import Progress
    from cmnet.errors import InputError

    terminal = Console(stderr=True)
    start = time.perf_counter()
    try:
        with nullcontext() if silent or not terminal.is_terminal else Progress(terminal) as progress:
            assembly = assemble(progress)
    except MemoryError as error:
        raise InputError("the parts do not fit into memory; thin them out, or give fewer at a time") from error
    return assembly, time.perf_counter() - start


def _show_parts(console: Console, seen: Preflight) -> None:
    from rich.text import Text

    from cmnet.cli.assembly_tables import parts_table

    console.print(parts_table(seen))
    for line in seen.advice:
        console.print(Text(f"! {line}", style="yellow"))


def _show_result(console: Console, assembly: Assembly, parts: Sequence[Part], how: Run) -> None:
    from rich.text import Text

    from cmnet.cli.assembly_tables import joins_table, summary

    for note in assembly.notes:
        console.print(Text(f"! {note}", style="yellow"))
    if any(join.used for join in assembly.joins):
        console.print(joins_table(assembly, parts))
    console.print(Text(summary(assembly, parts, how.seconds)))
    if assembly.unplaced and not any(join.used for join in assembly.joins):
        console.print("No two parts fit with confidence: are they of one object, and scanned with their breaks?")
    elif (assembly.unplaced or len(assembly.groups) > 1) and how.solver == "robust" and not how.one_object:
        console.print("If all parts are of one object, --one-object puts the rest where it most likely belongs.")


def _show_files(console: Console, out: Path, gap_limit: float) -> None:
    """Where everything is. gap_limit : where the colours of the gap maps end"""
    from rich.text import Text

    from cmnet.report.gap_colors import legend

    for name in ("report.html", "assembled.glb", "placed", "gaps", "joins.csv", "assembly.json"):
        if (Path(out) / name).exists():
            console.print(Text(f"  {Path(out) / name}"), soft_wrap=True)
    if (Path(out) / "gaps").exists():
        console.print(Text(f"colours in gaps: {legend(format(gap_limit, 'g'))}"))
    console.print(Text(f"next: cmnet view {_quoted(out)}"), soft_wrap=True)


def _quoted(path: Path) -> str:
    import shlex

    return shlex.quote(str(path))
