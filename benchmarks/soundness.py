"""Whether the pieces of any mesh are sound: closed, no volume lost, breaks that fit.

python benchmarks/soundness.py FOLDER [--pieces 5] [--json benchmarks/results/soundness.json]

Every mesh in FOLDER is broken once by each mechanism. Printed per mesh: repairs, the worst relative error of the
volumes' sum, the worst share of broken surface that meets no other piece's, and pieces that are not watertight.
"""

from __future__ import annotations

import argparse
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import trimesh
from rich.console import Console
from rich.table import Table

from cmnet.data.fracture import MECHANISMS, Fracture, fracture, prepare
from cmnet.errors import InputError
from cmnet.parts.part import Part
from cmnet.parts.save import ply_bytes


def examine(broken: Fracture, volume: float) -> dict[str, float]:
    """How sound the pieces are, as an ordinary reader gets them from their files."""
    meshes = [trimesh.load(io.BytesIO(ply_bytes(part)), file_type="ply") for part in broken.parts]
    areas = np.array([_broken_area(part, flags) for part, flags in zip(broken.parts, broken.broken)])
    return {
        "volume": abs(sum(mesh.volume for mesh in meshes) / volume - 1),
        "unmet": float(np.abs(broken.contacts.sum(axis=1) / areas - 1).max()),
        "leaky": sum(not (mesh.is_watertight and mesh.volume > 0) for mesh in meshes),
    }


def _broken_area(part: Part, flags: np.ndarray) -> float:
    return Part(part.name, part.vertices, part.faces[flags]).area


def break_every_way(path: Path, pieces: int) -> dict[str, Any]:
    intact = prepare(trimesh.load(path, force="mesh", process=False), path.name)
    count = max(pieces, len(intact.solids))
    row: dict[str, Any] = {"mesh": path.name, "volume": 0.0, "unmet": 0.0, "leaky": 0, "refused": []}
    for k, mechanism in enumerate(MECHANISMS):
        try:
            broken = fracture(intact, count, np.random.default_rng(k), mechanism)
        except InputError as error:
            row["refused"].append(str(error))
            continue
        facts = examine(broken, intact.volume * intact.scale**3)
        row.update({name: max(row[name], value) for name, value in facts.items()})
        row["repairs"] = list(broken.repairs)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pieces", type=int, default=5)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    table = Table("mesh", "volume off by", "broken surface unmet", "leaky pieces", "refused", "repairs")
    rows = []
    for path in sorted(args.folder.glob("*.ply")):
        row = break_every_way(path, args.pieces)
        rows.append(row)
        figures = (f"{row['volume']:.1e}", f"{row['unmet']:.1e}", str(row["leaky"]), str(len(row["refused"])))
        table.add_row(row["mesh"], *figures, "; ".join(row.get("repairs", [])))
    Console(width=150).print(table)
    if args.json:
        args.json.write_text(
            json.dumps({"command": f"python benchmarks/soundness.py {args.folder.name}", "rows": rows}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
