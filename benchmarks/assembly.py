"""What every pass and every proposer is worth: all of them, each left out in turn, and the published solver.

    python benchmarks/assembly.py ROOT [ROOT ...] --half held-out --weights W --json benchmarks/results/assembly.json

All variants put together the same fractures, taken apart alike, and are judged like `cmnet evaluate --task assembly`;
one of them is told that all pieces belong to one object, which the published solver takes for granted.
With --predictions an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from cmnet.assembler import Assembler
from cmnet.assembling.passes import Pass, plan
from cmnet.data.breaking_bad import BROKEN
from cmnet.data.objects import FolderObjects, SampledObject
from cmnet.errors import InputError
from cmnet.evaluation.answers import Answer
from cmnet.evaluation.cases import Puzzle
from cmnet.evaluation.choices import ASSEMBLY, CHOICES
from cmnet.evaluation.methods import Makers, Method, assembled, chance
from cmnet.evaluation.predictions import Prediction, Settings, export, read_predictions
from cmnet.evaluation.protocol import predict, score
from cmnet.evaluation.runs import question
from cmnet.evaluation.selection import HALVES, drawn, loader
from cmnet.evaluation.tables import ALL, Row, make_rows
from cmnet.geometry.pose import Pose
from cmnet.model.weights import DEFAULT, NO_WEIGHTS, fingerprint
from cmnet.settings import Acceptance
from reporting import show, write_result

# What suggests poses, by the functions that do, where they are used
PROPOSERS = {
    "creases": ["cmnet.pairing.pair.propose"],
    "coarse creases": ["cmnet.assembling.match.suggestions"],
    "breaks": ["cmnet.pairing.pair.propose_touching", "cmnet.pairing.two_looks.propose_touching"],
    "relief": ["cmnet.pairing.two_looks.propose_faces"],
    "gaps": ["cmnet.pairing.two_looks.propose_in_holes"],
    "matches": ["cmnet.assembler.poses_from_matches"],
}
OF_NETWORK = ("breaks", "relief", "gaps", "matches")  # those that need one
Replaced = dict[str, Callable[..., Any]]  # functions by the names that they are used by
FIGURES = ("pa_crd", "pa_crd_low", "pa_crd_high", "pa_cd", "placed", "precision", "joins", "whole", "seconds")


def variants(weights: str, seed: int) -> Makers:
    """The methods to compare, by name."""

    def solver(name: str = "robust", one_object: bool = False, out: Replaced | None = None) -> Callable[[], Method]:
        method = lambda: assembled(Assembler(weights, solver=name, seed=seed), seed, one_object)  # noqa: E731
        return lambda: with_replaced(method(), out or {})

    makers = {"all": solver(), "one object": solver(one_object=True)}
    for step in plan()[1:]:  # the first one finds what all others start from
        name = f"without {step.name}"
        makers[name] = solver(one_object=step.told, out={"cmnet.session.plan": partial(plan_without, step.name)})
    for proposer, functions in PROPOSERS.items():
        if weights != NO_WEIGHTS or proposer not in OF_NETWORK:
            makers[f"without {proposer}"] = solver(out=dict.fromkeys(functions, nothing))
    if weights != NO_WEIGHTS:
        makers["paper"] = solver("paper")
    return {**makers, "chance": lambda: chance(seed)}


def plan_without(name: str, acceptance: Acceptance) -> tuple[Pass, ...]:
    return tuple(step for step in plan(acceptance) if step.name != name)


def nothing(*_: object, **__: object) -> list[Pose]:
    """What a proposer suggests that is left out."""
    return []


def with_replaced(method: Method, out: Replaced) -> Method:
    """The same while some functions are replaced."""

    def judged(puzzle: Puzzle) -> Answer:
        with ExitStack() as stack:
            for name, function in out.items():
                stack.enter_context(patch(name, function))
            return method(puzzle)

    return judged


def sources(args: argparse.Namespace) -> list[FolderObjects]:
    """The fractures to put together, by root."""
    found = []
    for root in args.roots:
        objects = FolderObjects(root, pieces=BROKEN, seed=args.seed)
        objects.fractures = drawn(objects.root, args.half, args.pieces, args.limit)
        found.append(objects)
    names = [fracture.name for objects in found for fracture in objects.fractures]
    if len(set(names)) < len(names):
        raise InputError("two of the roots hold fractures of the same name; measure them one by one")
    return found


def every(found: Sequence[FolderObjects]) -> Iterable[SampledObject]:
    return (objects[k] for objects in found for k in range(len(objects)))


def answers(args: argparse.Namespace, makers: Makers, found: Sequence[FolderObjects]) -> list[Prediction]:
    settings = Settings(
        data=" ".join(root.name for root in args.roots),
        pieces="all" if args.pieces is None else " ".join(map(str, args.pieces)),
        seed=args.seed,
        half=args.half,
        method="parts left out",
        weights=args.weights,
        weights_sha256=fingerprint(args.weights),
        task=ASSEMBLY,
        limit=args.limit,
    )
    kept = args.predictions is not None and args.predictions.exists()
    known = read_predictions(args.predictions, settings) if kept else []
    load = loader(*found)
    done = {(p.name, p.method) for p in known}
    fresh = predict(every(found), makers, args.seed, done, question(ASSEMBLY, load))
    return list(fresh) if args.predictions is None else export(args.predictions, settings, known, fresh)


def line(row: Row) -> dict[str, float]:
    return {"n": row.n, **{name: getattr(row, name) for name in FIGURES}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("roots", type=Path, nargs="+", help="folders in Breaking Bad's layout")
    parser.add_argument("--half", choices=HALVES, help="only objects of one half (default: all)")
    parser.add_argument("--pieces", type=int, nargs="+", help="numbers of pieces (default: all)")
    parser.add_argument("--limit", type=int, help="fractures per number of pieces and root, at most")
    parser.add_argument("--weights", default=DEFAULT, help="none: geometry alone (default: %(default)s)")
    parser.add_argument("--only", nargs="+", metavar="VARIANT", help="only these variants, such as 'all'")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--predictions", type=Path, help="keep predictions here and reuse them")
    parser.add_argument("--json", type=Path, help="write the table, all rows and one line a fracture there")
    args = parser.parse_args()
    found = sources(args)
    makers = variants(args.weights, args.seed)
    makers = {name: make for name, make in makers.items() if name in (args.only or makers)}
    scores = score(every(found), answers(args, makers, found), tuple(makers), args.seed, question(ASSEMBLY))
    rows = make_rows(scores, args.seed)
    table = {row.method: line(row) for row in rows if row.subset == ALL and row.pieces == ALL}
    show(table)
    if args.json:
        content = {"protocol": CHOICES[ASSEMBLY], "table": table, "rows": [asdict(row) for row in rows]}
        write_result(args.json, {**content, "objects": [asdict(s) for s in scores]})


if __name__ == "__main__":
    main()
