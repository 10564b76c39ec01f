"""gaps/NAME.ply: a part in its place, coloured by the distance to its nearest mate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cmnet.geometry.pose import Pose
from cmnet.parts.part import Part
from cmnet.parts.save import ply_bytes
from cmnet.report.gap_colors import colors_of_gaps, legend
from cmnet.report.measured import Measured
from cmnet.report.viewer_pack import BEYOND
from cmnet.solving.assembly import Assembly

VALUE = "quality"  # the name under which programs for meshes look for a number at every vertex


def mapped_parts(assembly: Assembly) -> set[int]:
    """The parts that have a map: those that a used join holds."""
    return {int(k) for join in assembly.joins if join.used for k in join.parts} - set(assembly.unplaced)


def gap_map(assembly: Assembly, measured: Measured, k: int) -> bytes:
    """The map of one part as binary .ply: the mesh of the report, its colours, and the distances as numbers."""
    shown, gaps, end = measured.drawn[k], measured.gaps[k], BEYOND * measured.limit
    place = Pose.from_matrix(assembly.poses[k])
    normals = place.rotate(shown.normals) if shown.faces is None else None
    colors = colors_of_gaps(gaps, measured.limit)
    part = Part(measured.targets[k].part.name, place.apply(measured.where[k]), shown.faces, normals, colors=colors)
    return ply_bytes(part, {VALUE: np.clip(gaps, -end, end)}, _comments(measured.limit))


def _comments(limit: float) -> Sequence[str]:
    return (
        f"colours: {legend(f'{limit:g}')}, in the unit of the files",
        f"{VALUE}: distance to the nearest other part, negative inside it; {BEYOND * limit:g} means at least that",
    )
