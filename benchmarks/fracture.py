"""Speed of the fracture generator, in seconds of one core.

    python benchmarks/fracture.py [--objects N]

Prints a table and writes benchmarks/results/fracture.json. The reference of the ratio is the time of one boolean cut
of the same shapes by a plane, measured in the same run.
"""

import argparse
import json
import os
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from rich.console import Console
from rich.table import Table

from cmnet.data.fracture import fracture, prepare
from cmnet.data.shapes import EVERYDAY, make_shape

PIECES = (2, 4, 8, 16)
RESULTS = Path(__file__).parent / "results" / "fracture.json"


def measure(pieces: int, objects: int) -> dict[str, float]:
    """Mean seconds: shape and first fracture together, each alone, and a further fracture of the same shape."""
    shape, first, further, plane = [], [], [], []
    names = list(EVERYDAY)
    for k in range(objects):
        rng = np.random.default_rng([pieces, k])
        start = time.process_time()
        mesh = make_shape(names[k % len(names)], rng)
        made = time.process_time()
        intact = prepare(mesh, check_crossings=False)
        fracture(intact, pieces, rng)
        broken = time.process_time()
        fracture(intact, pieces, rng)
        again = time.process_time()
        [body.num_tri() for body in intact.solids[0].body.split_by_plane((0.3, 0.5, 0.8), 0.01)]
        cut = time.process_time()
        shape.append(made - start)
        first.append(broken - made)
        further.append(again - broken)
        plane.append(cut - again)
    return {
        "pieces": pieces,
        "seconds": float(np.mean(shape) + np.mean(first)),
        "shape": float(np.mean(shape)),
        "further": float(np.mean(further)),
        "slowest": float(np.max(np.add(shape, first))),
        "plane_cuts": float(np.mean(first) / (np.mean(plane) * (pieces - 1))),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=40, help="objects per row (default 40)")
    args = parser.parse_args()
    measure(2, 3)  # warm up
    rows = [measure(pieces, args.objects) for pieces in PIECES]
    table = Table("pieces", "shape + fracture", "of which shape", "further fracture", "slowest", "× plane cuts")
    for row in rows:
        seconds = (f"{row[key]:.2f} s" for key in ("seconds", "shape", "further", "slowest"))
        table.add_row(f"{row['pieces']:.0f}", *seconds, f"{row['plane_cuts']:.0f}")
    Console().print(table)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    content = {"format": "cmnet.benchmark/1", "name": "fracture", "cores": 1, "objects": args.objects, "rows": rows}
    RESULTS.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
