"""The small text files beside an assembly: joins.csv and config.yaml."""

from __future__ import annotations

import csv
import io
import json
import platform
from collections.abc import Sequence
from typing import Any

from cmnet import __version__
from cmnet.parts.part import Part
from cmnet.report.document import Run
from cmnet.settings import to_dict
from cmnet.solving.assembly import Assembly
from cmnet.versions import COMPUTING, version

COLUMNS = ("part_a", "part_b", "confidence", "used", "contact_area", "gap_rms", "penetration")
UNCERTAINTY = ("uncertainty_length", "uncertainty_degrees")
MATRIX = tuple(f"T_a_b_{row}{column}" for row in range(3) for column in range(4))
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # spreadsheets run cells that begin with these


def joins_csv(assembly: Assembly, parts: Sequence[Part]) -> str:
    """Every join considered, the surest first; empty: not known. T_a_b takes b's coordinates to a's."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow((*COLUMNS, *MATRIX, *UNCERTAINTY))
    for join in assembly.joins:
        names = [cell(parts[k].name) for k in join.parts]
        sizes = ["" if x is None else f"{x:.9g}" for x in (join.contact_area, join.gap_rms, join.penetration)]
        sure = "" if join.confidence is None else f"{join.confidence:.6f}"
        pose = [f"{x:.12g}" for x in join.T_i_j.matrix()[:3].ravel()]
        known = join.uncertainty
        off = ["", ""] if known is None else [f"{x:.6g}" for x in (known.length, known.degrees)]
        table.writerow([*names, sure, int(join.used), *sizes, *pose, *off])
    return text.getvalue()


def cell(name: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    return f"'{name}" if name.startswith(FORMULA) else name


def config_yaml(run: Run) -> str:
    """Everything that the result depends on. Values are JSON, which is YAML too."""
    entries: dict[str, Any] = {
        "cmnet": __version__,
        "command": "assemble",
        "inputs": list(run.inputs),
        "weights": run.weights,
        "solver": run.solver,
        "constraints": run.constraints,
        "one_object": run.one_object,
        "seed": run.seed,
        "weights_sha256": run.fingerprint,
        "python": platform.python_version(),
        **{package: version(package) for package in COMPUTING},
        **to_dict(run.settings),
    }
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in entries.items())
