"""Build a data set of broken objects.

worked examples:
  cmnet dataset build -o data/everyday --objects 1000 --seed 0 --workers 2
  cmnet dataset build -o data/benchmark --preset benchmark --workers 2
  cmnet dataset build -o data/v2 --preset volume-constrained --objects 500
  cmnet dataset build -o data/clouds --objects 100 --scan cloud-10k-noise

An interrupted build goes on where it was when the command is given again.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cmnet.data.build import Plan

PRESETS = ("everyday", "training", "volume-constrained", "many-pieces", "worn", "benchmark")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--out", type=Path, required=True, help="root of the data set")
    parser.add_argument("--objects", type=int, help="number of objects (default 200; benchmark 120)")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same bytes (default 0)")
    parser.add_argument("--workers", type=int, default=1, help="processes (default 1)")
    parser.add_argument("--preset", choices=PRESETS, default="everyday", help="the recipe (default everyday)")
    parser.add_argument("--fractures", type=int, default=1, help="fractures an object (default 1)")
    parser.add_argument("--shapes", help="comma-separated categories instead of the preset's")
    parser.add_argument("--pieces", metavar="A-B", help="evenly drawn number of pieces (default: as in Breaking Bad)")
    parser.add_argument("--mechanism", help="weakest, impact, chips, recursive or voronoi (default: drawn)")
    parser.add_argument("--wear", help="none, light, heavy, scan, or key=value,... (default: the preset's)")
    parser.add_argument("--scan", metavar="CONDITION", help="scan the pieces: a name, or key=value,... (default: not)")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def run(args: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from cmnet.data.build import build_dataset

    plan = _plan(args)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, disable=args.quiet) as progress:
        task = progress.add_task("breaking objects", total=plan.objects)
        for _ in build_dataset(args.out, plan, args.workers):
            progress.advance(task)
    subsets = ", ".join(name for name, _ in plan.subsets)
    Console().print(f"{plan.objects} objects with {plan.fractures} fracture(s) each in {args.out} ({subsets})")
    return 0


def _plan(args: argparse.Namespace) -> Plan:
    from dataclasses import replace

    from cmnet.data.build import Plan, benchmark_plan
    from cmnet.data.generated import RECIPES
    from cmnet.data.scan import parse_condition
    from cmnet.data.wear import Wear, parse_wear
    from cmnet.errors import InputError

    if args.seed < 0:
        raise InputError(f"the seed must not be negative, not {args.seed}")
    if args.preset == "benchmark":
        given = [name for name in ("shapes", "pieces", "mechanism", "wear", "scan") if getattr(args, name) is not None]
        if given or args.seed or args.fractures != 1:
            raise InputError("the benchmark is a fixed recipe: only --objects and --workers may be given with it")
        return benchmark_plan(args.objects if args.objects is not None else 120)
    recipe = RECIPES[args.preset]
    if args.shapes is not None:
        recipe = replace(recipe, shapes=tuple(name.strip() for name in args.shapes.split(",")))
    if args.pieces is not None:
        recipe = replace(recipe, pieces=_range(args.pieces))
    if args.mechanism is not None:
        recipe = replace(recipe, mechanism=args.mechanism)
    if args.wear is not None:
        wear = parse_wear(args.wear)
        recipe = replace(recipe, wear=None if wear == Wear() else wear)
    objects = args.objects if args.objects is not None else 200
    condition = None if args.scan is None else parse_condition(args.scan)
    return Plan(recipe, objects, args.seed, args.fractures, ((args.preset, None),), scan=condition)


def _range(text: str) -> tuple[int, int]:
    from cmnet.errors import InputError

    low, _, high = text.partition("-")
    try:
        return int(low), int(high or low)
    except ValueError:
        raise InputError(f"--pieces {text!r} is no range; write for example 2-20") from None
