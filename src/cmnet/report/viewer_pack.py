"""Numbers small enough for a page: quantised positions, normals and gaps in one block."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmnet.geometry.types import Array, Bytes
from cmnet.report.viewer_mesh import Display

BEYOND = 2.0  # gaps are known beyond the end of the colour scale, so that colours end at the same gap everywhere


@dataclass
class Block:
    """Arrays one behind another, each at a multiple of four bytes."""

    chunks: list[bytes] = field(default_factory=list)
    length: int = 0

    def add(self, array: NDArray[Any]) -> list[int]:
        """Append an array; returns where it starts, in bytes, and how many numbers it has."""
        little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes()
        start = self.length
        padded = little + b"\0" * (-len(little) % 4)
        self.chunks.append(padded)
        self.length += len(padded)
        return [start, array.size]

    def content(self) -> bytes:
        return b"".join(self.chunks)


def pack_shape(shown: Display, block: Block) -> dict[str, Any]:
    """The vertices, normals and faces of a part; positions are low + scale · (0 ... 65535) / 65535."""
    low = shown.vertices.min(axis=0)
    scale = float(np.ptp(shown.vertices, axis=0).max()) or 1.0
    facts: dict[str, Any] = {
        "low": low.tolist(),
        "scale": scale,
        "positions": block.add(np.round((shown.vertices - low) / scale * 65535).astype(np.uint16)),
        "normals": block.add(octahedral(shown.normals)),
    }
    if shown.faces is None:
        return {**facts, "spacing": shown.spacing}
    wide = len(shown.vertices) > 65536
    return {**facts, "wide": wide, "faces": block.add(shown.faces.astype(np.uint32 if wide else np.uint16))}


def octahedral(normals: Array) -> NDArray[np.int16]:
    """Unit vectors folded onto a square: (n, 3) float → (n, 2) int16 (Meyer et al. 2010)."""
    p = normals / np.maximum(np.abs(normals).sum(axis=1, keepdims=True), 1e-300)
    folded = (1 - np.abs(p[:, 1::-1])) * np.where(p[:, :2] >= 0, 1.0, -1.0)
    return np.round(np.where(p[:, 2:] < 0, folded, p[:, :2]) * 32767).astype(np.int16)


def bytes_of_gaps(gaps: Array, limit: float) -> Bytes:
    """Signed distances as 0 (deep inside) ... 127 (touching) ... 254 (far apart), the ends at BEYOND limits."""
    return np.round(127 + 127 * np.clip(gaps / (BEYOND * limit), -1, 1)).astype(np.uint8)
