"""Turned vessels: bottles, vases, bowls, plates, cups, and those with handles and spouts."""

from __future__ import annotations

import numpy as np
from manifold3d import CrossSection, FillRule, Manifold

from cmnet.data.shapes.build import curve, fluted, smooth_profile, tube, turned, united, vessel
from cmnet.geometry.types import Array

Rng = np.random.Generator


def _wall(rng: Rng, solid: float, low: float, high: float) -> float | None:
    """A wall thickness, log-uniform, or None for a solid body with probability `solid`."""
    return None if rng.random() < solid else float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _segments(rng: Rng) -> int:
    """Mostly round, now and then with few sides."""
    return int(rng.integers(6, 13)) if rng.random() < 0.12 else int(rng.integers(40, 64))


def _finish(outside: Manifold, hollow: Manifold | None, extras: list[Manifold] | None = None) -> Manifold:
    body = united([outside, *extras]) if extras else outside
    return body if hollow is None else body - hollow


def _handle(rng: Rng, radius: float, low: float, high: float, reach: float, thickness: float) -> Manifold:
    """A handle on the side of a body: an ear between two heights."""
    drop = rng.uniform(0, 0.15) * (high - low)
    thickness = min(thickness, 0.16 * (high - low), 0.25 * reach)  # a bend tighter than the tube would cross itself
    out, middle = radius + reach, (low + high) / 2
    points = [
        (radius - thickness, 0, high),
        (radius + 0.65 * reach, 0, high + drop * 0.3),
        (out, 0, middle + 0.2 * (high - low)),
        (out - rng.uniform(0, 0.3) * reach, 0, middle - 0.25 * (high - low)),
        (radius - thickness, 0, low),
    ]
    return tube(curve(points), thickness, flatten=rng.uniform(0.8, 1.6))


def _bottle(rng: Rng, waist: float, shoulder: float, neck: float, length: float, wall: float | None) -> Manifold:
    """A bottle of height 1. waist and neck are radii, shoulder and length the heights where each ends."""
    foot = waist * rng.uniform(0.85, 1.0)
    lip = neck * rng.uniform(1.05, 1.35)
    points = [
        (0.3 * waist, 0.0),
        (foot, 0.0),
        (waist, 0.03),
        (waist * rng.uniform(0.93, 1.03), 0.5 * shoulder),
        (waist, shoulder),
    ]
    points += [(0.5 * (waist + neck) * rng.uniform(0.9, 1.15), (shoulder + length) / 2), (neck * 1.08, length)]
    points += [(neck, 0.93), (lip, 0.945), (lip, 0.985), (lip * 0.95, 1.0)]
    outside, hollow = vessel(smooth_profile(points, 64), wall, open_top=True, segments=_segments(rng))
    return _finish(outside, hollow)


def beer_bottle(rng: Rng) -> Manifold:
    shoulder = rng.uniform(0.45, 0.62)
    wall = _wall(rng, 0.72, 0.012, 0.03)
    return _bottle(
        rng, rng.uniform(0.12, 0.17), shoulder, rng.uniform(0.045, 0.06), shoulder + rng.uniform(0.15, 0.25), wall
    )


def wine_bottle(rng: Rng) -> Manifold:
    shoulder = rng.uniform(0.5, 0.66)
    wall = _wall(rng, 0.85, 0.01, 0.025)
    return _bottle(
        rng, rng.uniform(0.11, 0.15), shoulder, rng.uniform(0.04, 0.055), shoulder + rng.uniform(0.1, 0.18), wall
    )


def bottle(rng: Rng) -> Manifold:
    shoulder = rng.uniform(0.4, 0.75)
    neck = rng.uniform(0.05, 0.09)
    wall = _wall(rng, 0.8, 0.012, 0.04)
    return _bottle(rng, rng.uniform(0.12, 0.24), shoulder, neck, min(shoulder + rng.uniform(0.08, 0.2), 0.9), wall)


def drink_bottle(rng: Rng) -> Manifold:
    """A sports or soda bottle: ribbed belly and a cap."""
    waist, neck = rng.uniform(0.14, 0.19), rng.uniform(0.05, 0.09)
    belly = [(0.4 * waist, 0.0), (waist * 0.95, 0.0), (waist, 0.04)]
    for height in np.linspace(0.1, 0.6, int(rng.integers(3, 7))):
        belly += [(waist * rng.uniform(0.82, 1.0), height), (waist, height + 0.035)]
    points = [
        *belly,
        (waist, 0.68),
        (0.75 * waist, 0.8),
        (neck, 0.87),
        (neck, 0.9),
        (neck * 1.5, 0.905),
        (neck * 1.5, 1.0),
    ]
    outside, hollow = vessel(
        smooth_profile(points, 80), _wall(rng, 0.85, 0.015, 0.03), open_top=True, segments=_segments(rng)
    )
    return _finish(outside, hollow)


def pill_bottle(rng: Rng) -> Manifold:
    radius, cap = rng.uniform(0.26, 0.46), rng.uniform(0.7, 0.82)
    neck, lid = radius * rng.uniform(0.75, 0.95), radius * rng.uniform(0.9, 1.1)
    points = [(0.5 * radius, 0.0), (radius, 0.0), (radius, 0.02), (radius, cap - 0.08), (neck, cap - 0.02), (neck, cap)]
    points += [(lid, cap + 0.005), (lid, 0.99), (lid * 0.97, 1.0), (lid * 0.5, 1.0)]
    outside, hollow = vessel(
        smooth_profile(points, 64), _wall(rng, 0.85, 0.04, 0.1), open_top=False, segments=_segments(rng)
    )
    return _finish(outside, hollow)


def vase(rng: Rng) -> Manifold:
    heights = np.concatenate([[0.0], np.sort(rng.uniform(0.12, 0.88, int(rng.integers(2, 4)))), [1.0]])
    widest = rng.uniform(0.16, 0.42)
    radii = widest * rng.uniform(0.4, 1.0, len(heights))
    points = [(0.3 * radii[0], 0.0), *((float(r), float(h)) for r, h in zip(radii, heights, strict=True))]
    outside, hollow = vessel(smooth_profile(points, 64), _wall(rng, 0.35, 0.01, 0.05), True, _segments(rng))
    body = _finish(outside, hollow)
    return (
        fluted(body, int(rng.integers(5, 14)), rng.uniform(0.02, 0.08), rng.uniform(-4, 4))
        if rng.random() < 0.35
        else body
    )


def _open_bowl(rng: Rng, height: float, foot: float, wall: float, belly: float) -> tuple[Manifold, Manifold | None]:
    """A bowl of radius 0.5: foot radius, height and how far the wall bellies out (0 straight, 1 round)."""
    t = np.linspace(0, 1, 24)
    straight = foot + (0.5 - foot) * t
    rounded_ = foot + (0.5 - foot) * np.sqrt(np.maximum(1 - (1 - t) ** 2, 0))
    radius = (1 - belly) * straight + belly * rounded_
    stand = rng.uniform(0, 0.05)
    profile = np.stack([radius, stand + (height - stand) * t], axis=1)
    base = np.array([[0.3 * foot, 0.0], [0.95 * foot, 0.0]])
    return vessel(np.concatenate([base, profile]), wall, open_top=True, segments=_segments(rng))


def bowl(rng: Rng) -> Manifold:
    wall = float(np.exp(rng.uniform(np.log(0.02), np.log(0.09))))
    body = _finish(*_open_bowl(rng, rng.uniform(0.28, 0.55), rng.uniform(0.12, 0.3), wall, rng.uniform(0.4, 1.0)))
    return fluted(body, int(rng.integers(6, 20)), rng.uniform(0.01, 0.04)) if rng.random() < 0.2 else body


def plate(rng: Rng) -> Manifold:
    """A dish whose rim rises from a flat middle; thin."""
    wall = float(np.exp(rng.uniform(np.log(0.009), np.log(0.05))))
    flat, rise = rng.uniform(0.2, 0.4), rng.uniform(0.02, 0.2)
    rim = [(flat, 0.0), (flat + 0.3 * (0.5 - flat), 0.55 * rise), (0.5, rise)]
    under = smooth_profile([(0.0, 0.0), (0.6 * flat, 0.0), *rim], 32)
    over = under + np.array([0.0, wall])
    if rng.random() < 0.5:  # a ring to stand on
        ring = flat * rng.uniform(0.75, 0.95)
        foot = turned_ring(ring, 0.5 * wall + 0.01, 1.2 * wall)
        return united([_lathe(under, over, rng), foot])
    return _lathe(under, over, rng)


def turned_ring(radius: float, width: float, height: float) -> Manifold:
    """A ring to stand on."""
    return turned(CrossSection.square((width, 2 * height)).translate((radius - width / 2, -height)))


def _lathe(under: Array, over: Array, rng: Rng) -> Manifold:
    outline = np.concatenate([under, over[::-1]])
    outline[:, 0] = np.maximum(outline[:, 0], 0)
    section = CrossSection([outline], FillRule.NonZero)
    body = Manifold.revolve(section.simplify(2e-4), _segments(rng) + 16)
    return fluted(body, int(rng.integers(6, 18)), rng.uniform(0.01, 0.05)) if rng.random() < 0.2 else body


def cup(rng: Rng) -> Manifold:
    """A beaker, open or filled, without a handle."""
    top, foot = rng.uniform(0.28, 0.42), rng.uniform(0.18, 0.3)
    points = [
        (0.3 * foot, 0.0),
        (foot, 0.0),
        (foot + 0.4 * (top - foot), 0.4),
        (top * rng.uniform(0.9, 1.02), 0.85),
        (top, 1.0),
    ]
    outside, hollow = vessel(smooth_profile(points, 40), _wall(rng, 0.25, 0.012, 0.1), True, _segments(rng))
    return _finish(outside, hollow)


def mug(rng: Rng) -> Manifold:
    radius, height = rng.uniform(0.3, 0.42), rng.uniform(0.7, 1.0)
    points = [
        (0.4 * radius, 0.0),
        (radius * 0.95, 0.0),
        (radius, 0.06),
        (radius * rng.uniform(0.92, 1.04), 0.5 * height),
        (radius, height),
    ]
    wall = _wall(rng, 0.15, 0.025, 0.08)
    outside, hollow = vessel(smooth_profile(points, 40), wall, True, _segments(rng))
    handle = _handle(rng, radius, 0.2 * height, 0.8 * height, rng.uniform(0.2, 0.32), rng.uniform(0.03, 0.055))
    return _finish(outside, hollow, [handle])


def teacup(rng: Rng) -> Manifold:
    height, wall = rng.uniform(0.35, 0.65), float(np.exp(rng.uniform(np.log(0.02), np.log(0.07))))
    outside, hollow = _open_bowl(rng, height, rng.uniform(0.15, 0.28), wall, rng.uniform(0.5, 1.0))
    extras = [_handle(rng, 0.44, 0.35 * height, 0.85 * height, rng.uniform(0.12, 0.24), rng.uniform(0.02, 0.04))]
    if rng.random() < 0.25:  # on its saucer
        under = smooth_profile([(0.0, -0.03), (0.25, -0.03), (0.55, 0.05), (0.75, 0.1)], 24)
        extras.append(_lathe(under, under + np.array([0.0, 0.045]), rng))
    return _finish(outside, hollow, extras)


def teapot(rng: Rng) -> Manifold:
    belly, height = rng.uniform(0.36, 0.5), rng.uniform(0.55, 0.8)
    points = [
        (0.3 * belly, 0.0),
        (0.65 * belly, 0.0),
        (belly, 0.42 * height),
        (0.75 * belly, 0.8 * height),
        (0.35 * belly, height),
    ]
    knob = [(0.15 * belly, 1.02 * height), (0.06, 1.05 * height), (0.075, 1.1 * height), (0.03, 1.14 * height)]
    wall = _wall(rng, 0.45, 0.012, 0.04)
    outside, hollow = vessel(smooth_profile(points + knob, 56), wall, False, _segments(rng))
    lip, mouth = rng.uniform(0.03, 0.045), height * rng.uniform(0.85, 1.1)
    way = curve(
        [
            (-0.7 * belly, 0, 0.25 * height),
            (-1.15 * belly, 0, 0.4 * height),
            (-1.35 * belly, 0, 0.7 * height),
            (-1.6 * belly, 0, mouth),
        ]
    )
    radius = np.linspace(0.1, lip, len(way))
    handle = _handle(rng, 0.85 * belly, 0.25 * height, 0.8 * height, rng.uniform(0.22, 0.35), rng.uniform(0.028, 0.045))
    body = _finish(outside, hollow, [tube(way, radius), handle])
    if wall is None:
        return body
    far = way[-1] + 0.05 * (way[-1] - way[-2]) / np.linalg.norm(way[-1] - way[-2])
    return body - tube(np.concatenate([way, [far]]), np.append(radius, lip) * 0.55)


def wine_glass(rng: Rng) -> Manifold:
    stem, bowl_radius, foot = rng.uniform(0.35, 0.55), rng.uniform(0.17, 0.27), rng.uniform(0.15, 0.24)
    thin = rng.uniform(0.012, 0.024)
    points = [
        (0.3 * foot, 0.0),
        (foot, 0.0),
        (foot, 0.012),
        (thin * 1.6, 0.05),
        (thin, 0.1),
        (thin, stem - 0.06),
        (thin * 2, stem),
    ]
    points += [(bowl_radius, stem + 0.45 * (1 - stem)), (bowl_radius * rng.uniform(0.7, 1.05), 1.0)]
    wall = _wall(rng, 0.15, 0.009, 0.02)
    outside, hollow = vessel(smooth_profile(points, 72), wall, True, _segments(rng))
    return _finish(outside, hollow)


def drinking_utensil(rng: Rng) -> Manifold:
    """A tankard, a pitcher or a tumbler."""
    kind = rng.random()
    if kind < 0.35:
        return cup(rng)
    radius = rng.uniform(0.22, 0.34)
    points = [
        (0.4 * radius, 0.0),
        (radius * 1.15, 0.0),
        (radius * 1.1, 0.05),
        (radius, 0.15),
        (radius * rng.uniform(0.8, 1.1), 0.6),
    ]
    points += [(radius * rng.uniform(0.6, 0.95), 0.85), (radius * rng.uniform(0.7, 1.0), 1.0)]
    outside, hollow = vessel(smooth_profile(points, 56), _wall(rng, 0.25, 0.01, 0.06), True, _segments(rng))
    return _finish(
        outside, hollow, [_handle(rng, radius * 0.93, 0.2, 0.8, rng.uniform(0.15, 0.3), rng.uniform(0.025, 0.045))]
    )
