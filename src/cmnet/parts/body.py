"""What a reader finds in a file, before it is a part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmnet.geometry.types import Array, Bytes, Ints


@dataclass(frozen=True, eq=False)
class Body:
    """One body of a file, as stored.

    vertices : (n, 3) float
    faces    : (m, 3) int, or None for a point cloud
    normals  : (n, 3) float of a cloud's points, as stored, or None
    colors   : (n, 4) uint8, or None
    visual   : the mesh with its texture, vertices and faces in the same order, or None
    T_scene  : (4, 4) float, where the file's scene places it: x_scene = T_scene x; may scale
    """

    name: str
    vertices: Array
    faces: Ints | None = None
    normals: Array | None = None
    colors: Bytes | None = None
    visual: Any = None
    T_scene: Array | None = None


def as_colors(values: NDArray[Any]) -> Bytes:
    """Colours (n, 3 or 4), either up to 1 or up to 255, as (n, 4) uint8."""
    values = np.asarray(values)
    if values.dtype != np.uint8:
        scale = 255.0 if values.dtype.kind == "f" and values.size and values.max() <= 1 else 1.0
        values = np.clip(np.nan_to_num(values.astype(np.float64)) * scale, 0, 255).round().astype(np.uint8)
    opacity = np.full((len(values), 4 - values.shape[1]), 255, dtype=np.uint8)
    return np.concatenate([values, opacity], axis=1)
