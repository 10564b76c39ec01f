"""The output folder of an assembly."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cmnet.geometry.pose import Pose
from cmnet.parts.part import Part
from cmnet.parts.save import ply_bytes
from cmnet.report.document import Run, document, to_json
from cmnet.report.scene import glb_bytes
from cmnet.report.texts import config_yaml, joins_csv
from cmnet.report.viewer import write_report
from cmnet.solving.assembly import Assembly


def write_results(folder: Path, assembly: Assembly, parts: Sequence[Part], run: Run, title: str) -> str:
    """Fill an empty folder: every result file of an assembly. Returns the text of assembly.json."""
    content = document(assembly, parts, run)
    (folder / "placed").mkdir()
    for i, part in enumerate(parts):
        placed = part.moved(Pose.from_matrix(assembly.poses[i]))
        (folder / content["parts"][i]["placed_file"]).write_bytes(ply_bytes(placed))
    (folder / "assembled.glb").write_bytes(glb_bytes(assembly, parts))
    (folder / "joins.csv").write_text(joins_csv(assembly, parts), encoding="utf-8")
    (folder / "config.yaml").write_text(config_yaml(run), encoding="utf-8")
    write_report(folder / "report.html", assembly, parts, title=title)
    text = to_json(content)
    (folder / "assembly.json").write_text(text, encoding="utf-8")
    return text
