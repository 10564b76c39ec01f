"""Why parts stay out: is the true pose not found, or is it found and not believed in?

    python benchmarks/lost.py ROOT --weights cmnet-base --json benchmarks/results/lost.json

Small parts of broken objects are tried on the rest, of which some other small parts are missing, as where groups are
matched: by the first look and the coarse one. Of every part: what would be said of the true pose if somebody pointed to
it ("believed": at least a half), whether it is among the poses found, and whether it is accepted. What is believed and
not found is the search's fault; what is not believed does not show, in what is looked at, that it belongs there.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from cmnet.assembler import Assembler
from cmnet.evaluation.metrics import crd
from cmnet.evaluation.selection import drawn
from cmnet.matched import breaks_of, judgement_of
from cmnet.model.weights import DEFAULT
from cmnet.pairing.surface.combined import combine
from cmnet.pairing.surface.surface import prepare, unit_of
from cmnet.pairing.two_looks import examine_twice
from cmnet.settings import COARSE, FIRST, Acceptance
from pairs import ACCEPTED, Case, find, load_case, places
from reporting import show, write_result

ACCEPTANCE = Acceptance()  # as it is by default
SIZES = {"below 0.5 %": (0.0, 0.005), "0.5 to 2 %": (0.005, 0.02), "2 to 10 %": (0.02, 0.1)}  # of all surface
MISSING = 0.3  # of the other small parts are not there
NEAR = 0.03  # mean distance of a part's points from their true places, over the object's size: what counts as right


def measure(case: Case, assembler: Assembler, tried: int) -> list[dict[str, Any]]:
    """One row for each of some small parts of a fracture that touch the rest."""
    areas = np.array([part.area for part in case.parts])
    small = areas < SIZES["2 to 10 %"][1] * areas.sum()
    described = assembler.describe(case.parts)
    unit, judgement = unit_of(case.parts), judgement_of(assembler.net)
    breaks = [breaks_of(d) for d in described]
    surfaces = [
        [prepare(p, unit, look, 0, b, judgement) for look in (FIRST, COARSE)] for p, b in zip(case.parts, breaks)
    ]
    rows = []
    for j in [int(k) for k in case.rng.permutation(len(areas)) if small[k]][:tried]:
        there = case.rng.random(len(areas)) >= MISSING
        group = [k for k in range(len(areas)) if k != j and (there[k] or not small[k])]
        if not case.contact[group, j].any():
            continue
        T = places(case, group)
        whole = surfaces[group[0]]
        if len(group) > 1:
            whole = [combine([surfaces[k][n] for k in group], T) for n in range(2)]
        suggested = assembler.suggestions(described, [(k, j) for k in group])
        learned = [T_k @ pose for k, T_k in zip(group, T) for pose in suggested[k, j][: ACCEPTANCE.from_pair]]
        found = find(whole, surfaces[j], learned[: ACCEPTANCE.from_groups], patient=False)
        truth = case.T[group[0]] @ case.T[j].inverse()
        close, far = zip(whole, surfaces[j])
        (pointed,) = examine_twice(close, far, [truth])
        right = [crd(case.parts[j].vertices, c.T, truth) < NEAR * case.size for c in found]
        accepted = bool(found) and found[0].confidence >= ACCEPTED
        rows.append(
            {
                "name": case.name,
                "share": float(areas[j] / areas.sum()),
                "true": pointed.confidence,
                "found": any(right),
                "accepted": accepted,
                "right": accepted and right[0],
            }
        )
    return rows


def summary(rows: list[dict[str, Any]]) -> dict[str, int]:
    believed = [row for row in rows if row["true"] >= ACCEPTED]
    return {
        "parts": len(rows),
        "believed": len(believed),
        "found": sum(row["found"] for row in rows),
        "both": sum(row["found"] for row in believed),
        "accepted": sum(row["accepted"] for row in rows),
        "right": sum(row["right"] for row in rows),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, help="folder in Breaking Bad's layout")
    parser.add_argument("--pieces", type=int, nargs="+", default=None, help="numbers of pieces (default: all)")
    parser.add_argument("--limit", type=int, default=None, help="fractures per number of pieces, at most")
    parser.add_argument("--tried", type=int, default=4, help="small parts of a fracture (default: %(default)s)")
    parser.add_argument("--weights", default=DEFAULT, help="default: %(default)s")
    parser.add_argument("--json", type=Path, default=None, help="write the table and one line a part there")
    args = parser.parse_args()
    assembler = Assembler(args.weights)
    rows: list[dict[str, Any]] = []
    for fracture in drawn(args.root.expanduser(), None, args.pieces, args.limit):
        rows += measure(load_case(fracture), assembler, args.tried)
    parts = {name: [r for r in rows if low <= r["share"] < high] for name, (low, high) in SIZES.items()}
    lines = {name: summary(part) for name, part in {**parts, "all": rows}.items()}
    show(lines)
    if args.json:
        write_result(args.json, {"table": lines, "parts": rows})


if __name__ == "__main__":
    main()
