"""How much faster cells find the nearest samples of a part than a tree does, as joins are examined.

    python benchmarks/nearest.py [--json benchmarks/results/nearest.json]

Every piece of a generated object asks for the samples of every other that lie around its own, in the true pose, as
`verify` and `refine` do. Both answer the same questions, in turns; the fastest of a few runs counts.
"""

from __future__ import annotations

import argparse
import time
from itertools import permutations
from pathlib import Path

import numpy as np

from cmnet.data.fracture import fracture
from cmnet.data.fracture import prepare as prepare_shape
from cmnet.data.shapes import make_shape
from cmnet.geometry.pose import Pose
from cmnet.geometry.trees import even_tree, nearest_few
from cmnet.geometry.types import Array
from cmnet.pairing.surface.frames import pose_of_surfaces
from cmnet.pairing.surface.surface import Surface, prepare, unit_of
from cmnet.settings import COARSE, FIRST, Scale
from reporting import show, write_result

LOOKS = {"first": FIRST, "coarse": COARSE}
ASKED = {"5 within 0.03": (5, 0.03), "1 within 0.01": (1, 0.01)}
RUNS = 5


def surfaces(shape: str, pieces: int, look: Scale, seed: int) -> list[Surface]:
    rng = np.random.default_rng([seed, pieces])
    parts = fracture(prepare_shape(make_shape(shape, rng), check_crossings=False), pieces, rng).parts
    unit = unit_of(parts)
    return [prepare(part, unit, look) for part in parts]


def seconds_of_both(a: Surface, x: Array, k: int, within: float) -> tuple[float, float]:
    """What a tree and cells take to find the k nearest samples of a within a distance of x."""
    tree, cells = even_tree(a.dense), a.dense_cells
    np.testing.assert_array_equal(cells.nearest(x, k, within)[0], nearest_few(tree, x, k, within)[0])
    times = np.zeros((RUNS, 3))
    for run in times:
        run[0] = time.perf_counter()
        nearest_few(tree, x, k, within)
        run[1] = time.perf_counter()
        cells.nearest(x, k, within)
        run[2] = time.perf_counter()
    by_tree, by_cells = np.diff(times, axis=1).min(axis=0)
    return float(by_tree), float(by_cells)


def measure(looked: list[Surface], k: int, within: float) -> dict[str, float | int]:
    """Seconds over all pairs of pieces, and how many samples asked."""
    asked, total = 0, np.zeros(2)
    for a, b in permutations(looked, 2):
        x = pose_of_surfaces(a, b, Pose.identity()).apply(b.points)
        x = x[np.abs(a.signed[a.box.voxel(x)]) < within]
        asked, total = asked + len(x), total + seconds_of_both(a, x, k, within)
    by_tree, by_cells = map(float, total)
    return {"questions": asked, "tree, s": by_tree, "cells, s": by_cells, "ratio": by_tree / by_cells}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pieces", type=int, default=8, help="default: %(default)s")
    parser.add_argument("--shape", default="vase", help="what is broken (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="write the figures there")
    args = parser.parse_args()
    rows: dict[str, dict[str, float | int]] = {}
    for name, look in LOOKS.items():
        looked = surfaces(args.shape, args.pieces, look, args.seed)
        rows |= {f"{name} look, {asked}": measure(looked, *of) for asked, of in ASKED.items()}
    show(rows)
    if args.json:
        write_result(args.json, {"shape": args.shape, "pieces": args.pieces, "rows": rows})


if __name__ == "__main__":
    main()
