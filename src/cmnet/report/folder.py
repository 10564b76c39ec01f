"""The output folder of an assembly."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import Any

from cmnet.folders import Contents, require_space
from cmnet.geometry.pose import Pose
from cmnet.parts.part import Part
from cmnet.parts.save import ply_bytes
from cmnet.report.document import Run, document, to_json
from cmnet.report.gap_maps import gap_map
from cmnet.report.measured import Measured, measure
from cmnet.report.scene import glb_bytes
from cmnet.report.texts import config_yaml, joins_csv
from cmnet.report.viewer import write_report
from cmnet.solving.assembly import Assembly

SPACE = 2  # bytes for every byte of the parts in memory: once placed, once in the scene
SHOWN = 20_000_000  # bytes of the report and the gap maps at most, for what is shown is bounded


def _names(text: str) -> Iterator[str]:
    yield from ("report.html", "assembled.glb", "joins.csv", "config.yaml")
    for part in json.loads(text)["parts"]:
        for folder, key in (("placed", "placed_file"), ("gaps", "gap_file")):
            if part[key] is not None:
                yield f"{folder}/{PurePath(part[key]).name}"


RESULT = Contents("assembly.json", _names)


def require_space_for(folder: Path, parts: Sequence[Part]) -> None:
    """Refuse a folder on a disk where the result of assembling the parts has no room."""
    arrays = [array for part in parts for array in (part.vertices, part.faces, part.normals) if array is not None]
    require_space(folder, SHOWN + SPACE * sum(array.nbytes for array in arrays))


def write_results(folder: Path, assembly: Assembly, parts: Sequence[Part], run: Run, title: str) -> dict[str, Any]:
    """Fill an empty folder: every result file of an assembly. Returns what assembly.json says."""
    measured = measure(assembly, parts)
    content = document(assembly, parts, run, measured.limit)
    _write_parts(folder, assembly, parts, content)
    _write_gap_maps(folder, assembly, measured, content)
    (folder / "assembled.glb").write_bytes(glb_bytes(assembly, parts))
    (folder / "joins.csv").write_text(joins_csv(assembly, parts), encoding="utf-8")
    (folder / "config.yaml").write_text(config_yaml(run), encoding="utf-8")
    write_report(folder / "report.html", assembly, parts, title=title, measured=measured)
    (folder / "assembly.json").write_text(to_json(content), encoding="utf-8")
    return content


def _write_parts(folder: Path, assembly: Assembly, parts: Sequence[Part], content: dict[str, Any]) -> None:
    (folder / "placed").mkdir()
    for pose, part, known in zip(assembly.poses, parts, content["parts"]):
        (folder / known["placed_file"]).write_bytes(ply_bytes(part.moved(Pose.from_matrix(pose))))


def _write_gap_maps(folder: Path, assembly: Assembly, measured: Measured, content: dict[str, Any]) -> None:
    for k, known in enumerate(content["parts"]):
        if known["gap_file"] is not None:
            (folder / "gaps").mkdir(exist_ok=True)
            (folder / known["gap_file"]).write_bytes(gap_map(assembly, measured, k))
