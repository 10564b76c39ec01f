"""What the page is given: one JSON object of facts, and one block of numbers that it points into."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from cmnet.geometry.sampling import allocate
from cmnet.geometry.types import Array
from cmnet.parts.part import Part
from cmnet.report.gap_colors import APART, INSIDE, NOTHING
from cmnet.report.gaps import Target
from cmnet.report.measured import Measured
from cmnet.report.part_colors import part_color
from cmnet.report.percent import percent, unbroken
from cmnet.report.viewer_colors import colors_at
from cmnet.report.viewer_joins import JoinPacker, matches_of, off_by, shown_joins
from cmnet.report.viewer_layout import lay_out
from cmnet.report.viewer_pack import Block, bytes_of_gaps, pack_shape
from cmnet.report.viewer_text import headline, steps
from cmnet.solving.assembly import Assembly

SAMPLES = 12_000  # of all parts together, to find out which way is up


def page_data(assembly: Assembly, measured: Measured, title: str, unit: str) -> tuple[dict[str, Any], bytes]:
    """The facts and the numbers."""
    block, limit, targets = Block(), measured.limit, measured.targets
    packer = JoinPacker(targets, measured.drawn, measured.where, limit, block)
    shown = shown_joins(assembly)
    facts = {
        "title": title,
        "headline": unbroken(headline(assembly, [each.part.name for each in targets])),
        "notes": list(assembly.notes),
        "unit": unit,
        "gapLimit": limit,
        "gapColours": {"inside": INSIDE, "apart": APART, "nothing": NOTHING},
        "parts": [
            {
                **_facts(each),
                "tone": part_color(k),
                **off_by(known),
                **pack_shape(shape, block),
                **_colors(each.part, shape.vertices, block),
                "gaps": block.add(bytes_of_gaps(gap, limit)),
            }
            for k, (each, shape, gap, known) in enumerate(
                zip_longest(targets, measured.drawn, measured.gaps, assembly.uncertainties)
            )
        ],
        "poses": _poses(assembly, targets),
        "groups": [{"parts": list(group)} for group in assembly.groups],
        "unplaced": list(assembly.unplaced),
        "steps": _steps(assembly, shown),
        "joins": [packer.pack(join, matches_of(assembly, join)) for join in (assembly.joins[k] for k in shown)],
        "joinsLeftOut": len(assembly.joins) - len(shown),
    }
    return facts, block.content()


def _facts(surface: Target) -> dict[str, Any]:
    part = surface.part
    return {
        "name": part.name,
        "size": np.sort(np.ptp(part.vertices, axis=0))[::-1].tolist(),
        "count": len(part.vertices) if part.faces is None else len(part.faces),
        "centre": surface.sites.data[surface.samples].mean(axis=0).tolist(),
    }


def _colors(part: Part, points: Array, block: Block) -> dict[str, Any]:
    colors = colors_at(part, points)
    return {} if colors is None else {"colours": block.add(colors)}


def _poses(assembly: Assembly, targets: Sequence[Target]) -> list[list[float]]:
    """Row by row, the places of the parts in the viewer."""
    areas = np.array([each.area for each in targets])
    counts = allocate(areas, SAMPLES, SAMPLES // (4 * len(targets)))
    chosen = [each.samples[:: max(1, len(each.samples) // max(1, int(n)))] for each, n in zip(targets, counts)]
    points = [np.asarray(each.sites.data[some]) for each, some in zip(targets, chosen)]
    normals = [each.normals[some] for each, some in zip(targets, chosen)]
    return [T.matrix().ravel().tolist() for T in lay_out(assembly, points, normals)]


def _steps(assembly: Assembly, shown: Sequence[int]) -> list[dict[str, Any]]:
    row = {k: n for n, k in enumerate(shown)}
    return [
        {
            "part": int(s.part),
            "group": s.group,
            "join": None if s.join is None else row[s.join],
            "sure": None if s.sure is None else unbroken(percent(s.sure)),
        }
        for s in steps(assembly)
    ]
