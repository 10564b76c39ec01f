"""The output folder of an assembly."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

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


def write_results(folder: Path, assembly: Assembly, parts: Sequence[Part], run: Run, title: str) -> str:
    """Fill an empty folder: every result file of an assembly. Returns the text of assembly.json."""
    measured = measure(assembly, parts)
    content = document(assembly, parts, run, measured.limit)
    _write_parts(folder, assembly, parts, content)
    _write_gap_maps(folder, assembly, measured, content)
    (folder / "assembled.glb").write_bytes(glb_bytes(assembly, parts))
    (folder / "joins.csv").write_text(joins_csv(assembly, parts), encoding="utf-8")
    (folder / "config.yaml").write_text(config_yaml(run), encoding="utf-8")
    write_report(folder / "report.html", assembly, parts, title=title, measured=measured)
    text = to_json(content)
    (folder / "assembly.json").write_text(text, encoding="utf-8")
    return text


def _write_parts(folder: Path, assembly: Assembly, parts: Sequence[Part], content: dict[str, Any]) -> None:
    (folder / "placed").mkdir()
    for pose, part, known in zip(assembly.poses, parts, content["parts"]):
        (folder / known["placed_file"]).write_bytes(ply_bytes(part.moved(Pose.from_matrix(pose))))


def _write_gap_maps(folder: Path, assembly: Assembly, measured: Measured, content: dict[str, Any]) -> None:
    for k, known in enumerate(content["parts"]):
        if known["gap_file"] is not None:
            (folder / "gaps").mkdir(exist_ok=True)
            (folder / known["gap_file"]).write_bytes(gap_map(assembly, measured, k))
