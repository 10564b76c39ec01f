"""The colour scale of gaps, in the report and in the gap maps: one scale, so that pictures can be compared."""

from __future__ import annotations

import numpy as np

from cmnet.geometry.types import Array, Bytes

# Lightness falls on both sides of zero, so that it reads in grey too. From touching to the end of the scale:
INSIDE = ("#f6e04f", "#f79a3e", "#e0493f", "#8f1537")  # overlap: yellow, orange, red
APART = ("#f6e04f", "#a6d34f", "#43b284", "#25858e", "#355e8d", "#472f7d")  # gap: yellow, green, violet
NOTHING = "#cfc6ba"  # nothing nearer than the end of the scale: clay
FADE = 0.9  # of the scale, from which gaps fade into that


def colors_of_gaps(gaps: Array, limit: float) -> Bytes:
    """(n, 4) uint8 red, green, blue and opacity of signed distances (n,), as the report shows them without light."""
    share = np.clip(gaps / limit, -1.0, 1.0)
    ramp = np.where((share < 0)[:, None], _along(INSIDE, -share), _along(APART, share))
    x = np.clip((share - FADE) / (1 - FADE), 0.0, 1.0)[:, None]
    mixed = ramp + (linear((NOTHING,)) - ramp) * x * x * (3 - 2 * x)
    opaque = np.full((len(gaps), 1), 255.0)
    return np.round(np.concatenate([255 * _encoded(mixed), opaque], axis=1)).astype(np.uint8)


def legend(end: str) -> str:
    """The scale in words. end : where it ends, as it is to be written"""
    return f"yellow touches, red overlaps, green to violet is a gap of up to {end}, clay has nothing nearer"


def _along(stops: tuple[str, ...], share: Array) -> Array:
    """(n, 3) float: the colour at a share (n,) in [0, 1] of the way, mixed as light."""
    at, light = np.linspace(0, 1, len(stops)), linear(stops)
    return np.stack([np.interp(share, at, light[:, k]) for k in range(3)], axis=1)


def linear(stops: tuple[str, ...]) -> Array:
    """(s, 3) float: colours as amounts of light."""
    c = np.array([[int(stop[k : k + 2], 16) / 255 for k in (1, 3, 5)] for stop in stops])
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def _encoded(light: Array) -> Array:
    """sRGB of amounts of light, both in [0, 1]."""
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * np.maximum(light, 0.0031308) ** (1 / 2.4) - 0.055)
