"""Break a mesh, or a procedural shape, into pieces.

worked examples:
  cmnet fracture shape:mug -o broken --pieces 6 --seed 1
  cmnet fracture vase.stl -o broken --pieces 20 --mechanism impact
  cmnet fracture shape:plate -o broken --pieces 8 --wear light,missing=0.2

OUT gets piece_0.ply ... in their assembled places, and fracture.json with the contact area of every touching pair.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from rich.table import Table

    from cmnet.data.fracture import Fracture, Intact
    from cmnet.parts.part import Part


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "mesh", metavar="MESH|shape:NAME", help="a watertight mesh file, or shape: and a name; shape:list lists them"
    )
    parser.add_argument("-o", "--out", type=Path, help="folder for the pieces (required unless listing)")
    parser.add_argument("--pieces", type=int, default=4, help="number of pieces, 2 to 50 (default 4)")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same pieces (default 0)")
    parser.add_argument("--mechanism", help="weakest, impact, chips, recursive or voronoi (default: drawn by the seed)")
    parser.add_argument(
        "--min-volume", type=float, help="least share of the volume of a piece; Breaking Bad v2 has 0.025"
    )
    parser.add_argument("--wear", default="none", help="none, light, heavy, scan, or key=value,... (default none)")
    parser.add_argument("--force", action="store_true", help="replace pieces that are already in OUT")


def run(args: argparse.Namespace) -> int:
    import numpy as np
    from rich.console import Console

    from cmnet.data.build import FRACTURE, write_fracture
    from cmnet.data.fracture import fracture
    from cmnet.data.shapes import SHAPES
    from cmnet.data.wear import Wear, apply_wear, parse_wear
    from cmnet.errors import InputError
    from cmnet.folders import replacing_folder

    console = Console()
    if args.mesh == "shape:list":
        console.print("\n".join(SHAPES))
        return 0
    if args.out is None:
        raise InputError("no folder for the pieces; give one with -o OUT")
    wear = parse_wear(args.wear)
    if args.seed < 0:
        raise InputError(f"the seed must not be negative, not {args.seed}")
    with replacing_folder(args.out, FRACTURE, args.force) as folder:
        rng = np.random.default_rng(args.seed)
        intact = _intact(args.mesh, rng)
        for repair in intact.repairs:
            console.print(f"repaired {intact.name}: {repair}")
        broken = fracture(intact, args.pieces, rng, args.mechanism, args.min_volume)
        if wear != Wear():
            broken = apply_wear(broken, wear, rng, _strangers(wear.foreign, rng))
        write_fracture(folder, broken, {"seed": args.seed, "mesh": args.mesh}, None if wear == Wear() else wear)
    console.print(_table(broken))
    console.print(f"{len(broken.parts)} pieces by {broken.mechanism} in {args.out}")
    return 0


def _intact(source: str, rng: np.random.Generator) -> Intact:
    """The mesh file or shape that the user named, checked."""
    from dataclasses import replace

    from cmnet.data.fracture import prepare
    from cmnet.data.shapes import make_shape
    from cmnet.errors import InputError
    from cmnet.parts.load import load_part

    if source.startswith("shape:"):
        return prepare(make_shape(source.removeprefix("shape:"), rng), source, check_crossings=False)
    part = load_part(source)
    if part.faces is None:
        raise InputError(f"{source} is a point cloud; only a closed mesh can be broken")
    intact = prepare((part.vertices, part.faces), source)
    return replace(intact, repairs=(*part.repairs, *intact.repairs))


def _strangers(count: int, rng: np.random.Generator) -> list[Part]:
    from cmnet.data.generated import GeneratedObjects

    source = GeneratedObjects(int(rng.integers(2**31)), "training")
    return [source[k].parts[-1] for k in range(count)]


def _table(broken: Fracture) -> Table:
    from rich.table import Table

    table = Table("piece", "faces", "area", "touches", title="contact areas")
    for k, part in enumerate(broken.parts):
        touching = broken.contacts[k].nonzero()[0]
        with_whom = ", ".join(f"{j} ({broken.contacts[k, j]:.3g})" for j in touching)
        count = "cloud" if part.faces is None else str(len(part.faces))
        table.add_row(part.name, count, "" if part.faces is None else f"{part.area:.3g}", with_whom or "-")
    return table
