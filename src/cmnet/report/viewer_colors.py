"""The colours that a part was scanned with, at the points that are drawn."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from cmnet.geometry.trees import nearest_few
from cmnet.geometry.types import Array, Bytes
from cmnet.parts.part import Part

NEAREST = 3  # coloured vertices that a point's colour is mixed from


def colors_at(part: Part, points: Array) -> Bytes | None:
    """(n, 3) uint8 red, green, blue of points (n, 3) in the part's coordinates; None where the part has no colours."""
    known = _known(part)
    if known is None:
        return None
    places, colors = known
    distance, index = nearest_few(cKDTree(places), points, NEAREST)
    weights = 1 / np.maximum(distance, 1e-6 * max(float(np.ptp(places)), 1e-300))
    mixed = np.einsum("nk,nkc->nc", weights, colors[index].astype(np.float64)) / weights.sum(axis=1, keepdims=True)
    return np.round(mixed).astype(np.uint8)


def _known(part: Part) -> tuple[Array, Bytes] | None:
    """Coloured points (m, 3) of the part and their colours (m, 3): its own, or its texture at the corners."""
    if part.colors is not None:
        return part.vertices, part.colors[:, :3]
    if part.visual is None:
        return None
    colors = np.asarray(part.visual.visual.to_color().vertex_colors)
    if colors.shape[:1] != part.visual.vertices.shape[:1]:  # a material without a picture
        return None
    return np.asarray(part.visual.vertices, dtype=np.float64), colors[:, :3].astype(np.uint8)
