"""Measure accuracy on broken objects whose assembled places are known.

DATA is a folder in Breaking Bad's layout: pieces stored in their assembled places. Each fracture is judged by its
most-touching pair, with the paper's metrics and a row for chance beside them. Predictions can be kept in a file; the
same command then scores them again without predicting, or goes on where an interrupted run stopped.

worked examples:
  cmnet evaluate data/breaking_bad --subset everyday --split val --pieces 2 --weights W    the paper's pairwise protocol
  cmnet evaluate data/toy --split test --weights runs/toy/last.safetensors --json toy.json
  cmnet evaluate data/breaking_bad --pieces 2-8 --weights W --predictions bb.jsonl --markdown bb.md --latex bb.tex
  cmnet evaluate data/breaking_bad --method chance --limit 50                               what guessing scores
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cmnet.cli.arguments import natural, pieces, seed

if TYPE_CHECKING:
    from cmnet.data.objects import FolderObjects, SampledObject
    from cmnet.evaluation.methods import Makers
    from cmnet.evaluation.predictions import Prediction, Settings
    from cmnet.evaluation.protocol import ObjectScore
    from cmnet.evaluation.tables import Row

WIDTH = 130  # columns the table needs; narrower terminals wrap its lines rather than lose figures


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", type=Path, metavar="DATA", help="folder in Breaking Bad's layout")
    parser.add_argument("--subset", metavar="S", help="only this subset, such as everyday (default: all)")
    parser.add_argument("--split", metavar="SPLIT", help="only what data_split/*.SPLIT.txt lists (default: all found)")
    parser.add_argument(
        "--pieces", type=pieces, metavar="N|N-M", help="only fractures of so many pieces (default: all)"
    )
    parser.add_argument(
        "--method", choices=("cmnet", "chance"), default="cmnet", help="default: cmnet, chance beside it"
    )
    parser.add_argument("--weights", metavar="W", help="a .safetensors file that `cmnet train` wrote")
    parser.add_argument("--points", type=natural, default=5000, metavar="N", help="per object (default: %(default)s)")
    parser.add_argument("--limit", type=natural, metavar="N", help="only N fractures, evenly spaced over all")
    parser.add_argument("--seed", type=seed, default=0, metavar="S", help="of samples, motions, chance (default: 0)")
    parser.add_argument("--predictions", type=Path, metavar="FILE", help="keep predictions here and reuse them")
    parser.add_argument("--overwrite", action="store_true", help="predict again even if FILE holds predictions")
    parser.add_argument("--json", type=Path, metavar="OUT.json", help="write rows and objects as JSON")
    parser.add_argument("--markdown", type=Path, metavar="OUT.md", help="write the table as Markdown")
    parser.add_argument("--latex", type=Path, metavar="OUT.tex", help="write the table as LaTeX (booktabs)")
    parser.add_argument("--quiet", action="store_true", help="no progress bar, no table")


def run(args: argparse.Namespace) -> int:
    from cmnet.errors import InputError
    from cmnet.evaluation.methods import method_makers
    from cmnet.evaluation.protocol import score
    from cmnet.evaluation.tables import make_rows

    if args.method == "cmnet" and not args.weights:
        raise InputError("the method cmnet needs --weights FILE: train some with `cmnet train`, or try --method chance")
    settings = _settings(args)
    known = _known(args, settings)
    objects = _objects(args)
    makers = method_makers(args.method, args.weights, args.points, args.seed)
    predictions = _predict(args, settings, known, _each(objects, args, "predict"), makers)
    scores = score(_each(objects, args, "score"), predictions, tuple(makers), args.seed)
    if not scores:
        raise InputError(f"nothing in {args.data} can be judged: in no fracture do two parts touch")
    _write(args, settings, make_rows(scores), scores)
    if not args.quiet:
        _show(settings, make_rows(scores))
    return 0


def _settings(args: argparse.Namespace) -> Settings:
    from cmnet.evaluation.methods import weights_hash
    from cmnet.evaluation.predictions import Settings

    weights = args.weights if args.method == "cmnet" else None
    low, high = args.pieces or (None, None)
    return Settings(
        data=str(args.data),
        subset=args.subset,
        split=args.split,
        pieces="all" if low is None else f"{low}" if low == high else f"{low}-{high}",
        points=args.points,
        seed=args.seed,
        method=args.method,
        weights=weights,
        weights_sha256=weights and weights_hash(weights),
        limit=args.limit,
    )


def _known(args: argparse.Namespace, settings: Settings) -> list[Prediction]:
    from cmnet.evaluation.predictions import read_predictions

    if args.overwrite or args.predictions is None or not args.predictions.exists():
        return []
    return read_predictions(args.predictions, settings)


def _objects(args: argparse.Namespace) -> FolderObjects:
    from cmnet.data.breaking_bad import BROKEN
    from cmnet.data.objects import FolderObjects

    pieces = args.pieces or BROKEN
    return FolderObjects(args.data, args.subset, args.split, pieces, total_points=args.points, seed=args.seed)


def _each(objects: FolderObjects, args: argparse.Namespace, what: str) -> Iterator[SampledObject]:
    """The fractures to judge, read one by one, with a progress bar."""
    from rich.console import Console
    from rich.progress import track

    chosen = spread(len(objects), args.limit)
    for k in track(chosen, what, console=Console(stderr=True), transient=True, disable=args.quiet):
        yield objects[k]


def spread(count: int, limit: int | None) -> list[int]:
    """At most `limit` indices below `count`, evenly spaced: neighbours in a sorted folder are alike."""
    kept = min(count, limit or count)
    return [k * count // kept for k in range(kept)]


def _predict(
    args: argparse.Namespace,
    settings: Settings,
    known: list[Prediction],
    objects: Iterable[SampledObject],
    makers: Makers,
) -> list[Prediction]:
    from cmnet.evaluation.predictions import export
    from cmnet.evaluation.protocol import predict

    done = {(prediction.name, prediction.method) for prediction in known}
    fresh = predict(objects, makers, args.seed, done)
    if args.predictions is None:
        return list(fresh)
    return export(args.predictions, settings, known, fresh)


def _write(args: argparse.Namespace, settings: Settings, rows: list[Row], scores: list[ObjectScore]) -> None:
    from cmnet.evaluation.tables import shown, to_json, to_latex, to_markdown
    from cmnet.files import write_text

    if args.json:
        write_text(args.json, to_json(settings, rows, scores))
    if args.markdown:
        write_text(args.markdown, to_markdown(settings, shown(rows)))
    if args.latex:
        write_text(args.latex, to_latex(settings, shown(rows)))


def _show(settings: Settings, rows: list[Row]) -> None:
    from rich.console import Console

    from cmnet.evaluation.protocol import CHOICES
    from cmnet.evaluation.tables import describe, shown, to_console

    console = Console(width=max(WIDTH, Console().width), highlight=False)
    console.print(to_console(shown(rows)))
    for line in (describe(settings), *CHOICES):
        console.print(line, style="dim", markup=False)
