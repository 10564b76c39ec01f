"""The assembly measured once, for the report and the gap maps: surfaces, display meshes, and the gaps on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cmnet.geometry.pose import Pose
from cmnet.geometry.types import Array
from cmnet.parts.part import Part
from cmnet.report.gaps import Target, distance_to_others, gaps_of_assembly, target
from cmnet.report.viewer_mesh import Display, display
from cmnet.report.viewer_pack import BEYOND
from cmnet.solving.assembly import Assembly

GAPS = (0.002, 0.02)  # the scale of gap colours ends between these, in sizes of the largest group,
RMS = 4  # at so many times the largest gap of a used join
NEARBY = 10  # times that: faces with a corner so near other parts may be refined


@dataclass(frozen=True, eq=False)
class Measured:
    """What is known of every part, in the order of the parts.

    limit   : where the colour scale of gaps ends, in the unit of the parts
    targets : the surfaces
    drawn   : the meshes or clouds that are shown, bounded in size whatever the parts
    where   : (n, 3) float, for every vertex shown the point of the surface that it stands for
    gaps    : (n,) float there: signed distance to the nearest other part of the group, infinite beyond BEYOND limits
    """

    limit: float
    targets: list[Target]
    drawn: list[Display]
    where: list[Array]
    gaps: list[Array]


def measure(assembly: Assembly, parts: Sequence[Part]) -> Measured:
    """Measure the parts as they lie."""
    limit = gap_limit(assembly, parts)
    targets = [target(part) for part in parts]
    near = [distance_to_others(assembly, targets, k, NEARBY * limit) for k in range(len(parts))]
    drawn = display(parts, near, limit)
    where = [x.vertices if x.exact else each.snapped(x.vertices) for each, x in zip(targets, drawn)]
    return Measured(limit, targets, drawn, where, gaps_of_assembly(assembly, targets, BEYOND * limit, where))


def gap_limit(assembly: Assembly, parts: Sequence[Part]) -> float:
    """Where the colour scale of gaps ends: a round number, in the unit of the parts."""
    blocks = assembly.groups or [[k] for k in range(len(parts))]
    placed = [Pose.from_matrix(pose).apply(part.vertices) for pose, part in zip(assembly.poses, parts)]
    size = max(float(np.linalg.norm(np.ptp(np.concatenate([placed[k] for k in block]), axis=0))) for block in blocks)
    gaps = [join.gap_rms for join in assembly.joins if join.used and join.gap_rms is not None]
    widest = max(filter(np.isfinite, gaps), default=0.0)
    wanted = float(np.clip(RMS * widest, GAPS[0] * size, GAPS[1] * size))
    power = 10.0 ** np.floor(np.log10(wanted))
    return float(next((m * power for m in (1, 2, 5) if m * power >= 0.999 * wanted), 10 * power))
