"""Reading one broken object: its pieces in their assembled places, and which of them belong to another object.

Pieces are stored where they belong, unless `gt_pose.json` lies beside them. It is for objects of two pieces:

    {"obj2_to_obj1": [[...], [...], [...], [0, 0, 0, 1]]}     x_1 = obj2_to_obj1 @ x_2, pieces in order of their names

`fracture.json` (see cmnet.data.build) names foreign pieces under "foreign".
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cmnet.data.breaking_bad import POSE, FractureFolder
from cmnet.errors import InputError
from cmnet.geometry.pose import Pose
from cmnet.parts.load import load_parts
from cmnet.parts.part import Part

FACTS = "fracture.json"
RIGID = 1e-4  # how far R Rᵀ may be from the identity


@dataclass(frozen=True, eq=False)
class Stored:
    """Parts in their assembled places. foreign : indices of those that belong to another object"""

    parts: list[Part]
    foreign: tuple[int, ...] = ()


def read_stored(fracture: FractureFolder) -> Stored:
    """An object as it is stored, with its parts brought to their places."""
    parts = load_parts(fracture.files)
    if (fracture.path / POSE).is_file():
        parts = _joined(parts, fracture.path / POSE)
    foreign = _foreign_names(fracture.path / FACTS)
    return Stored(parts, tuple(k for k, file in enumerate(fracture.files) if file.stem in foreign))


def files_of(fracture: FractureFolder) -> tuple[Path, ...]:
    """All files that say what an object is."""
    return (*fracture.files, *(p for p in (fracture.path / POSE, fracture.path / FACTS) if p.is_file()))


def _joined(parts: list[Part], file: Path) -> list[Part]:
    if len(parts) != 2:
        raise InputError(f"{file} is for two pieces, and {len(parts)} lie beside it; put the pieces in their places")
    first, second = parts
    return [first, second.moved(_pose(file))]


def _pose(file: Path) -> Pose:
    content = _content(file)
    try:
        matrix = np.array(content["obj2_to_obj1"], dtype=np.float64)
        pose = Pose.from_matrix(matrix)
        rigid = np.allclose(pose.R @ pose.R.T, np.eye(3), atol=RIGID) and np.linalg.det(pose.R) > 0
    except (KeyError, TypeError, ValueError):
        rigid = False
    if not rigid or not np.isfinite(matrix).all():
        raise InputError(f"{file} holds no rigid motion; it is {{'obj2_to_obj1': four rows of four numbers}}")
    return pose


def _foreign_names(file: Path) -> frozenset[str]:
    return frozenset(_content(file).get("foreign", ())) if file.is_file() else frozenset()


def _content(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{file} cannot be read: {error}; mend it or take it away") from error
    if not isinstance(content, dict):
        raise InputError(f"{file} holds no JSON object; mend it or take it away")
    return content
