"""The contents of assembly.json."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal

import numpy as np

from cmnet.model.weights import DEFAULT
from cmnet.pairing.join import FIGURES
from cmnet.pairing.judge.uncertainty import Uncertainty
from cmnet.parts.part import Part
from cmnet.report.gap_maps import mapped_parts
from cmnet.report.names import file_stems
from cmnet.settings import Settings
from cmnet.solving.assembly import Assembly

FORMAT = "cmnet.assembly/1"


@dataclass(frozen=True)
class Run:
    """How an assembly came about."""

    weights: str = DEFAULT
    solver: Literal["robust", "paper"] = "robust"
    seed: int = 0
    seconds: float = 0.0
    inputs: tuple[str, ...] = ()
    constraints: str | None = None
    one_object: bool = False  # whether all parts were known to be of one object
    warnings: tuple[str, ...] = ()
    settings: Settings = Settings()
    fingerprint: str | None = None  # SHA-256 of the weights


def document(assembly: Assembly, parts: Sequence[Part], run: Run, gap_limit: float) -> dict[str, Any]:
    """What assembly.json says, as plain values. Poses take part coordinates as given to the assembled frame.

    gap_limit : where the colour scale of the gap maps ends
    """
    group = {i: k for k, members in enumerate(assembly.groups) for i in members}
    unplaced = set(assembly.unplaced)
    stems, mapped = file_stems([part.name for part in parts]), mapped_parts(assembly)
    return {
        "format": FORMAT,
        "weights": run.weights,
        "solver": run.solver,
        "seed": run.seed,
        "seconds": round(run.seconds, 3),
        "parts": [
            {
                "name": part.name,
                "file": None if part.file is None else part.file.name,
                "group": group.get(i),
                "placed": i not in unplaced,
                "placed_file": f"placed/{stems[i]}.ply",
                "gap_file": f"gaps/{stems[i]}.ply" if i in mapped else None,
                "pose": _matrix(assembly.poses[i]),
                "uncertainty": _uncertainty(uncertainty),
            }
            for i, (part, uncertainty) in enumerate(zip_longest(parts, assembly.uncertainties))
        ],
        "joins": [
            {
                "parts": [parts[k].name for k in join.parts],
                "pose": _matrix(join.T_i_j.matrix()),
                **{name: number(getattr(join, name)) for name in FIGURES},
                "uncertainty": _uncertainty(join.uncertainty),
                "used": bool(join.used),
            }
            for join in assembly.joins
        ],
        "gap_limit": gap_limit,
        "refused": [
            {
                "parts": [parts[k].name for k in refused.parts],
                "confidence": number(refused.confidence),
                "inside": [parts[k].name for k in refused.inside],
                "depth": number(refused.depth),
                "place": refused.place.tolist(),
            }
            for refused in assembly.refused
        ],
        "unplaced": [parts[i].name for i in assembly.unplaced],
        "warnings": list(run.warnings),
    }


def to_json(content: dict[str, Any]) -> str:
    """JSON with one line per part and join, so that it can be read and compared."""
    return "{\n" + ",\n".join(f" {_dumps(key)}: {_lines(value)}" for key, value in content.items()) + "\n}\n"


def _lines(value: Any) -> str:
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return "[\n" + ",\n".join(f"  {_dumps(item)}" for item in value) + "\n ]"
    return _dumps(value)


def _dumps(value: Any) -> str:
    # What is no text (a file name in another encoding) cannot be written as UTF-8; as an escape it can.
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return text if text.isascii() or _is_text(text) else json.dumps(value)


def _is_text(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _matrix(pose: Any) -> list[list[float]]:
    return [[float(x) for x in row] for row in np.asarray(pose)]


def _uncertainty(known: Uncertainty | None) -> dict[str, Any] | None:
    if known is None or not np.isfinite(known.covariance).all():
        return None
    return {"length": known.length, "degrees": known.degrees, "covariance": _matrix(known.covariance)}


def number(value: float | None) -> float | None:
    """JSON has no way to say infinite."""
    return None if value is None or not math.isfinite(value) else float(value)
