"""Mixed piles: the pieces of two to four objects in one heap, every other time with a piece of yet another object.

    python benchmarks/piles.py ROOT [ROOT ...] --half held-out --piles 30 --json benchmarks/results/piles.json

The objects of a pile are of similar size. A pile comes out exactly if there is one group for every object and none
mixes two. The result is written anew after every pile.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from cmnet.assembler import Assembler
from cmnet.data.breaking_bad import FractureFolder, find_fractures
from cmnet.data.objects import sample_object
from cmnet.data.stored import read_stored
from cmnet.data.streams import stream
from cmnet.errors import InputError
from cmnet.evaluation.cases import Case, assembly_case
from cmnet.evaluation.piles import PileScore, judge_pile, make_pile
from cmnet.evaluation.selection import HALVES, half_of
from cmnet.model.weights import DEFAULT
from cmnet.parts.part import Part
from reporting import show, write_result

OBJECTS = (2, 3, 4)  # taken in turn
ALIKE = 1.5  # the objects of a pile differ in size by at most this factor
POINTS = 5000


def load_case(fracture: FractureFolder, seed: int) -> Case:
    """One object taken apart."""
    parts = read_stored(fracture).parts
    return assembly_case(sample_object(fracture.name, parts, POINTS, seed), seed, lambda _: parts)


def draw(fractures: Sequence[FractureFolder], count: int, seed: int, rng: np.random.Generator) -> list[Case]:
    """So many different objects of similar size; the size is what the area of the surface says."""
    cases: list[Case] = []
    used: set[tuple[str, str, str]] = set()
    for k in rng.permutation(len(fractures)):
        fracture = fractures[k]
        key = fracture.subset, fracture.category, fracture.object_id
        if key in used:
            continue
        case = load_case(fracture, seed)
        units = [c.puzzle.unit for c in (*cases, case)]
        if max(units) <= ALIKE * min(units):
            used.add(key)
            cases.append(case)
        if len(cases) == count:
            return cases
    raise InputError(f"there are no {count} objects of similar size among {len(fractures)} fractures; give more data")


def measure(number: int, fractures: Sequence[FractureFolder], assembler: Assembler, seed: int) -> PileScore:
    """Make pile `number`, put it together and judge what comes out."""
    rng = stream(seed, "pile", str(number))
    count = OBJECTS[number % len(OBJECTS)]
    with_foreign = number // len(OBJECTS) % 2 == 0
    *cases, other = draw(fractures, count + 1, seed, rng)
    foreign: Part | None = other.puzzle.parts[int(rng.integers(other.pieces))] if with_foreign else None
    pile = make_pile(cases, foreign, rng)
    start = time.perf_counter()
    assembly = assembler.assemble(list(pile.parts))
    return judge_pile(pile, assembly, time.perf_counter() - start)


def summary(scores: Sequence[PileScore]) -> dict[str, float | None]:
    """One line of the table; shares of piles, of joins, and of parts."""
    strangers = [s.foreign_out for s in scores if s.foreign_out is not None]
    joins = sum(s.joins for s in scores)
    return {
        "piles": len(scores),
        "pieces": float(np.mean([s.pieces for s in scores])),
        "groups": float(np.mean([s.groups for s in scores])),
        "pure": float(np.mean([s.pure for s in scores])),
        "exact": float(np.mean([s.exact for s in scores])),
        "foreign out": float(np.mean(strangers)) if strangers else None,
        "joins": joins,
        "precision": sum(s.joins_right for s in scores) / joins if joins else None,
        "PA_CRD": float(np.mean([s.pa_crd for s in scores])) / 100,
        "placed": float(np.mean([s.placed for s in scores])) / 100,
        "seconds": float(np.mean([s.seconds for s in scores])),
    }


def table(scores: Sequence[PileScore]) -> dict[str, dict[str, float | None]]:
    lines = {f"{k} objects": [s for s in scores if len(s.objects) == k] for k in OBJECTS}
    return {name: summary(some) for name, some in {**lines, "all": scores}.items() if some}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("roots", type=Path, nargs="+", help="folders in Breaking Bad's layout")
    parser.add_argument("--half", choices=HALVES, help="only objects of one half (default: all)")
    parser.add_argument("--pieces", type=int, nargs=2, default=(2, 8), metavar=("A", "B"), help="of an object")
    parser.add_argument("--piles", type=int, default=30, help="default: %(default)s")
    parser.add_argument("--weights", default=DEFAULT, help="none: geometry alone (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="write the table and one line a pile there")
    args = parser.parse_args()
    found = [f for root in args.roots for f in find_fractures(root, pieces=tuple(args.pieces))]
    fractures = [f for f in found if args.half in (None, half_of(f))]
    assembler = Assembler(args.weights, solver="robust", seed=args.seed)
    scores: list[PileScore] = []
    for number in range(args.piles):
        scores.append(measure(number, fractures, assembler, args.seed))
        if args.json:
            write_result(args.json, {"table": table(scores), "piles": [asdict(s) for s in scores]})
    show(table(scores))


if __name__ == "__main__":
    main()
