"""Measure accuracy on broken objects whose assembled places are known.

DATA is a folder in Breaking Bad's layout: pieces stored in their assembled places. So may be real scans, any folder of
them beside a file contacts.json; beside two scans, gt_pose.json says where the second belongs. Each fracture is judged
by its most-touching pair, or, with --task assembly, with all its pieces taken apart; with the paper's metrics and a row
for chance beside them. Predictions can be kept in a file; the same command then scores them again without predicting,
or goes on where an interrupted run stopped.

worked examples:
  cmnet evaluate data/breaking_bad --subset everyday --split val --protocol paper          the paper's table of pairs
  cmnet evaluate data/breaking_bad --task assembly --weights none --predictions bb.jsonl   all pieces, geometry alone
  cmnet evaluate data/breaking_bad --task assembly --weights W --solver paper --workers 2  the published solver
  cmnet evaluate data/toy --split test --weights runs/toy/last.safetensors --json toy.json
  cmnet evaluate data/breaking_bad --pieces 2-8 --weights W --predictions bb.jsonl --markdown bb.md --latex bb.tex
  cmnet evaluate data/breaking_bad --task assembly --protocol paper --method identity      the field's own figures
  cmnet evaluate data/breaking_bad --task assembly --scan cloud-10k-noise                  the pieces as noisy clouds
  cmnet evaluate data/breaking_bad --method chance --limit 50                               what guessing scores
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from cmnet.cli.arguments import natural, pieces, seed
from cmnet.model.weights import DEFAULT, NO_WEIGHTS

if TYPE_CHECKING:
    from cmnet.data.objects import FolderObjects
    from cmnet.evaluation.predictions import Prediction, Settings
    from cmnet.evaluation.protocol import ObjectScore
    from cmnet.evaluation.tables import Row

WIDTH = 151  # columns the table needs; narrower terminals wrap its lines rather than lose figures
USUAL_POINTS = 5000  # samples of an object in the field's protocol
PUBLISHED_PIECES = {("paper", "pairs"): (2, 2), ("paper", "assembly"): (2, 20)}  # pieces of a fracture, by default
T = TypeVar("T")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", type=Path, metavar="DATA", help="folder of broken objects")
    parser.add_argument("--task", choices=("pairs", "assembly"), default="pairs", help="default: %(default)s")
    text = "strict: ours; paper: the field's samples, figures, fractures and references (default: %(default)s)"
    parser.add_argument("--protocol", choices=("strict", "paper"), default="strict", help=text)
    _add_choice_of_data(parser)
    _add_choice_of_method(parser)
    _add_outputs(parser)


def _add_choice_of_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--subset", metavar="S", help="only this subset, such as everyday (default: all)")
    text = "only what data_split/*.SPLIT.txt lists, or a .txt file of objects or fractures (default: all found)"
    parser.add_argument("--split", metavar="SPLIT", help=text)
    parser.add_argument(
        "--half", choices=("development", "held-out"), help="only objects of one half, by their names (default: all)"
    )
    parser.add_argument(
        "--pieces",
        type=pieces,
        metavar="N|N-M",
        help="only fractures of so many pieces (default: all; by the paper's protocol 2, of assemblies 2-20)",
    )
    parser.add_argument("--scan", metavar="CONDITION", help="scan the pieces: a name, or key=value,... (default: not)")
    parser.add_argument("--limit", type=natural, metavar="N", help="only N fractures, evenly spaced over all")


def _add_choice_of_method(parser: argparse.ArgumentParser) -> None:
    text = "default: cmnet, chance beside it; by the paper's protocol also identity, and oracle: true matches"
    parser.add_argument("--method", choices=("cmnet", "chance", "identity", "oracle"), default="cmnet", help=text)
    parser.add_argument(
        "--weights",
        metavar="W",
        default=DEFAULT,
        help="a .safetensors file that `cmnet train` wrote; none: geometry alone (default: %(default)s)",
    )
    parser.add_argument(
        "--solver",
        choices=("robust", "paper"),
        help="what puts the parts together (default: robust; with --task pairs the network's own pose, unsolved)",
    )
    parser.add_argument(
        "--one-object", action="store_true", help="tell the robust solver that all pieces belong to one object"
    )
    text = "samples of an object (default: as the network was trained; where parts are solved, to measure by: 5000)"
    parser.add_argument("--points", type=natural, metavar="N", help=text)
    text = "samples of an object that the network gets where parts are solved (default: as it was trained)"
    parser.add_argument("--network-points", type=natural, metavar="N", help=text)
    parser.add_argument("--seed", type=seed, default=0, metavar="S", help="of samples, motions, chance (default: 0)")
    parser.add_argument("--workers", type=natural, default=1, metavar="N", help="processes (default: %(default)s)")


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--predictions", type=Path, metavar="FILE", help="keep predictions here and reuse them")
    parser.add_argument("--overwrite", action="store_true", help="predict again even if FILE holds predictions")
    parser.add_argument("--json", type=Path, metavar="OUT.json", help="write rows and objects as JSON")
    parser.add_argument("--markdown", type=Path, metavar="OUT.md", help="write the table as Markdown")
    parser.add_argument("--latex", type=Path, metavar="OUT.tex", help="write the table as LaTeX (booktabs)")
    parser.add_argument("--quiet", action="store_true", help="no progress bar, no table")


def run(args: argparse.Namespace) -> int:
    from cmnet.errors import InputError
    from cmnet.evaluation.protocol import score
    from cmnet.evaluation.runs import makers_of, question
    from cmnet.evaluation.selection import select
    from cmnet.evaluation.tables import make_rows

    settings = _settings(args)
    known = _known(args, settings)
    objects = select(settings)
    predictions = _predict(args, settings, known, objects)
    each = _tracked(args, "score", (objects[k] for k in range(len(objects))), len(objects))
    scores = score(each, predictions, tuple(makers_of(settings)), args.seed, question(args.task))
    if not scores:
        raise InputError(f"nothing in {args.data} can be judged: in no fracture do two parts touch")
    rows = make_rows(scores, args.seed)
    _write(args, settings, rows, scores)
    if not args.quiet:
        _show(settings, rows)
    return 0


def _settings(args: argparse.Namespace) -> Settings:
    from cmnet.evaluation.predictions import Settings
    from cmnet.model.weights import fingerprint

    asked = args.method == "cmnet"
    if asked:
        _require_weights(args)
    if args.one_object:
        _require_robust(args)
    if args.network_points:
        _require_network(args)
    low, high = args.pieces or PUBLISHED_PIECES.get((args.protocol, args.task), (None, None))
    return Settings(
        data=str(args.data),
        subset=args.subset,
        split=args.split,
        pieces="all" if low is None else f"{low}" if low == high else f"{low}-{high}",
        points=args.points or (_own_points(args) if asked else USUAL_POINTS),
        network_points=args.network_points,
        seed=args.seed,
        half=args.half,
        method=args.method,
        weights=args.weights if asked else None,
        weights_sha256=fingerprint(args.weights) if asked else None,
        solver=_solver(args) if asked else None,
        one_object=args.one_object,
        protocol=args.protocol,
        task=args.task,
        scan=args.scan,
        limit=args.limit,
    )


def _own_points(args: argparse.Namespace) -> int:
    """What the network was trained with, where it alone says the pose. The assembler samples the parts by itself."""
    from cmnet.model.weights import load_network

    return USUAL_POINTS if _solver(args) else load_network(args.weights).config.samples()


def _solver(args: argparse.Namespace) -> str | None:
    return args.solver or ("robust" if args.task == "assembly" else None)


def _require_weights(args: argparse.Namespace) -> None:
    from cmnet.errors import InputError

    if args.weights == NO_WEIGHTS and _solver(args) is None:
        raise InputError("without weights no network says the pose of a pair; add --solver robust, or give --weights")


def _require_robust(args: argparse.Namespace) -> None:
    from cmnet.errors import InputError

    if args.method != "cmnet" or _solver(args) != "robust":
        raise InputError("--one-object is told to the robust solver only; add --solver robust, or leave it out")


def _require_network(args: argparse.Namespace) -> None:
    from cmnet.errors import InputError

    if args.method != "cmnet" or _solver(args) is None or args.weights == NO_WEIGHTS:
        raise InputError("--network-points are for a solver with a network; add --solver and weights, or leave it out")


def _known(args: argparse.Namespace, settings: Settings) -> list[Prediction]:
    from cmnet.evaluation.predictions import read_predictions

    if args.overwrite or args.predictions is None or not args.predictions.exists():
        return []
    return read_predictions(args.predictions, settings)


def _predict(
    args: argparse.Namespace, settings: Settings, known: list[Prediction], objects: FolderObjects
) -> list[Prediction]:
    from cmnet.evaluation.predictions import export
    from cmnet.evaluation.runs import predict_shares, shares

    done = {(prediction.name, prediction.method) for prediction in known}
    todo = shares(settings, [fracture.name for fracture in objects.fractures], done)
    answers = predict_shares(settings, objects, todo, args.workers) if todo else iter(())
    fresh = (p for some in _tracked(args, "predict", answers, len(todo)) for p in some)
    if args.predictions is None:
        return list(fresh)
    return export(args.predictions, settings, known, fresh)


def _tracked(args: argparse.Namespace, what: str, items: Iterable[T], total: int) -> Iterator[T]:
    """The same items, with a progress bar."""
    from rich.console import Console
    from rich.progress import track

    yield from track(items, what, total, console=Console(stderr=True), transient=True, disable=args.quiet)


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

    from cmnet.evaluation.tables import choices, describe, shown, to_console

    console = Console(width=max(WIDTH, Console().width), highlight=False)
    console.print(to_console(settings, shown(rows)))
    for line in (describe(settings), *choices(settings)):
        console.print(line, style="dim", markup=False)
