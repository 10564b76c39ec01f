"""The colour of a part that brings none of its own: the same in the report and in the scene."""

from __future__ import annotations

import colorsys

# Muted earthen tones that can be told apart, as red, green and blue of a screen (sRGB).
PALETTE = (
    *("#c9775b", "#6f9bb8", "#d8b365", "#7fa487", "#a884ad", "#cf8f93", "#5f8f93", "#b79a6f"),
    *("#8592c0", "#a9ad62", "#c69ab8", "#8b7a6b", "#e0a97e", "#6d8a6a", "#93b7c9", "#b5655f"),
)
GOLDEN = 0.381966  # of a turn of hue from part to part: no two of many come to lie on each other
SATURATION = 0.34
LIGHTNESS = (0.38, 0.50, 0.62)  # by turns


def part_color(index: int) -> str:
    """As #rrggbb: of the palette, then of ever new hues."""
    if index < len(PALETTE):
        return PALETTE[index]
    mixed = colorsys.hls_to_rgb(index * GOLDEN % 1, LIGHTNESS[index % len(LIGHTNESS)], SATURATION)
    return "#" + "".join(f"{round(255 * x):02x}" for x in mixed)
