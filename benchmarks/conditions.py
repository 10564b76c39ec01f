"""How well whole objects are put together as they come from a scanner, and how honest confidence is then.

    python benchmarks/conditions.py ROOT --half held-out --limit 40 --keep runs/conditions --workers 2 \
        --json benchmarks/results/conditions.json

The same fractures under every condition (`cmnet.data.scan`): clouds with and without normals, noise, holes, chips,
other triangles, a part missing, a part of another object. Predictions are kept, one file a condition, and not made
again. Conditions that need closed meshes cannot be put on clouds: name others with --conditions.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from cmnet.data.scan import CONDITIONS
from cmnet.evaluation.choices import ASSEMBLY
from cmnet.evaluation.judged_joins import SHIFT, TURN
from cmnet.evaluation.predictions import Settings, export, read_predictions
from cmnet.evaluation.protocol import score
from cmnet.evaluation.runs import predict_shares, question, shares
from cmnet.evaluation.selection import HALVES, select
from cmnet.evaluation.tables import make_rows
from cmnet.model.weights import DEFAULT, NO_WEIGHTS, fingerprint
from reliability import claims_of_assemblies, figures
from reporting import show, write_result

COLUMNS = ("n", "pa_crd", "in_place", "in_place_low", "in_place_high", "placed", "joins", "precision", "foreign_out")
OWN = "cmnet"


def settings_of(args: argparse.Namespace) -> Settings:
    """Those of `cmnet evaluate ROOT --task assembly`."""
    return Settings(
        data=str(args.root),
        subset=args.subset,
        split=args.split,
        half=args.half,
        weights=args.weights,
        weights_sha256=fingerprint(args.weights),
        solver="robust",
        one_object=args.one_object,
        task=ASSEMBLY,
        limit=args.limit,
        pieces=args.pieces,
    )


def predict_all(file: Path, settings: Settings, workers: int) -> None:
    """Keep in a file what is asked for, chance left out; what it holds already is not made again."""
    known = read_predictions(file, settings) if file.exists() else []
    objects = select(settings)
    names = [fracture.name for fracture in objects.fractures]
    done = {(p.name, p.method) for p in known} | {(name, "chance") for name in names}
    if todo := shares(settings, names, done):
        answers = predict_shares(settings, objects, todo, workers)
        export(file, settings, known, (p for some in answers for p in some))


def judged(file: Path, settings: Settings) -> dict[str, Any]:
    """One line of the table: accuracy in per cent, and what the joins claim."""
    objects = select(settings)
    each = (objects[k] for k in range(len(objects)))
    rows = make_rows(score(each, read_predictions(file, settings), (OWN,), settings.seed, question(ASSEMBLY)))
    claims = figures(claims_of_assemblies(file))
    told = {kind: {key: claims[kind][key] for key in ("joins", "claimed", "right", "error")} for kind in claims}
    return {name: getattr(rows[0], name) for name in COLUMNS} | {"claims": told}


def brief(line: dict[str, Any]) -> dict[str, float | None]:
    """What is shown of a line."""
    errors = {f"{kind}: error": line["claims"][kind]["error"] for kind in ("all", "used")}
    return {name: line[name] for name in COLUMNS} | errors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, help="folder of broken objects, as cmnet evaluate takes")
    parser.add_argument("--subset")
    parser.add_argument("--split")
    parser.add_argument("--half", choices=HALVES, help="only objects of one half (default: all)")
    parser.add_argument("--pieces", default="all", help="N or N-M: only fractures of so many pieces")
    parser.add_argument("--limit", type=int, help="fractures under each condition, at most")
    parser.add_argument("--conditions", nargs="+", default=list(CONDITIONS), help="default: all that have a name")
    parser.add_argument("--weights", default=DEFAULT, help=f"{NO_WEIGHTS}: geometry alone (default: %(default)s)")
    parser.add_argument("--one-object", action="store_true", help="tell it that all parts belong to one object")
    parser.add_argument("--keep", type=Path, required=True, help="folder for the predictions")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write the figures there, anew after every condition")
    args = parser.parse_args()
    args.keep.mkdir(parents=True, exist_ok=True)
    table: dict[str, dict[str, Any]] = {}
    for name in args.conditions:
        settings, file = replace(settings_of(args), scan=name), args.keep / f"{name}.jsonl"
        predict_all(file, settings, args.workers)
        table[name] = judged(file, settings)
        if args.json:
            write_result(args.json, {"tolerance": {"degrees": TURN, "size": SHIFT}, "table": table})
    show({name: brief(line) for name, line in table.items()})


if __name__ == "__main__":
    main()
