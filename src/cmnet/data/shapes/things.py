"""Everyday things that are no vessels: rings, spoons, cookies, mirrors, statues, toy figures."""

from __future__ import annotations

import numpy as np
from manifold3d import CrossSection, FillRule, Manifold

from cmnet.data.shapes.build import (
    bent,
    blend,
    capsule,
    curve,
    level_body,
    roughened,
    sheet,
    tube,
    united,
)
from cmnet.geometry.types import Array

Rng = np.random.Generator


def ring(rng: Rng) -> Manifold:
    """A finger ring or a bangle, with or without stones."""
    outline = CrossSection.square((rng.uniform(0.05, 0.12), rng.uniform(0.08, 0.45)), True)
    round_ = CrossSection.circle(rng.uniform(0.04, 0.1), 14).scale((1, rng.uniform(0.8, 2.5)))
    profile = round_ if rng.random() < 0.5 else outline
    band = Manifold.revolve(profile.translate((0.45, 0)), int(rng.integers(48, 72)))
    band = (
        band.warp_batch(lambda p: p * (1 + 0.35 * rng_bulge * np.maximum(p[:, :1], 0) ** 4))
        if (rng_bulge := rng.uniform(0, 6)) > 2
        else band
    )
    stones = []
    for k in range(int(rng.integers(0, 4))):
        angle, radius = (k - 1) * 0.35, rng.uniform(0.06, 0.12)
        stone = Manifold.sphere(radius, int(rng.integers(8, 20))).scale((0.8, 1, 1))
        stones.append(stone.translate((0.5 * np.cos(angle), 0.5 * np.sin(angle), 0)))
    return united([band, *stones]).rotate((90, 0, 0))


def spoon(rng: Rng) -> Manifold:
    """A spoon: a thin bowl on a long stem that swells towards its end."""
    thickness, width = rng.uniform(0.009, 0.02), rng.uniform(0.07, 0.11)
    length = rng.uniform(0.22, 0.3)
    x = np.linspace(0, 1, 90)
    bowl = width * np.sqrt(np.maximum(1 - ((x - length / 2) / (length / 2)) ** 2, 0))
    stem = np.interp(
        x,
        [0, length * 0.9, length + 0.08, 0.8, 0.97, 1.0],
        [0, 0.02, *(rng.uniform(0.011, 0.022), rng.uniform(0.015, 0.03), 0.03, 0.004)],
    )
    half = np.maximum(bowl, np.where(x > length * 0.85, stem, 0)) + 1e-4
    outline = np.concatenate([np.stack([x, -half], axis=1), np.stack([x, half], axis=1)[::-1]])
    body = Manifold.extrude(CrossSection([outline], FillRule.NonZero), thickness).refine_to_length(0.022)
    depth, arch = rng.uniform(0.03, 0.08), rng.uniform(0.0, 0.12)

    def press(points: Array) -> Array:
        u = (points[:, 0] - length / 2) / (length / 2)
        v = points[:, 1] / width
        moved = points.copy()
        moved[:, 2] -= depth * np.maximum(1 - u**2 - v**2, 0)
        moved[:, 2] += arch * np.sin(np.pi * np.clip((points[:, 0] - length) / (1 - length), 0, 1))
        return moved

    return body.warp_batch(press)


def cookie(rng: Rng) -> Manifold:
    """A thick round biscuit with lumps, now and then with a hole."""
    half, power = rng.uniform(0.07, 0.15), rng.uniform(2.2, 5.0)
    angle, place = rng.uniform(0, 2 * np.pi, 8), 0.4 * np.sqrt(rng.random(8))
    lumps = np.stack([place * np.cos(angle), place * np.sin(angle), np.full(8, 0.85 * half)], axis=1)
    sizes = rng.uniform(0.03, 0.07, int(rng.integers(0, 9)))
    hole = 0.14 if rng.random() < 0.2 else 0.0

    def distance(p: Array) -> Array:
        radius = np.hypot(p[:, 0], p[:, 1])
        dough = (((radius / 0.5) ** power + (np.abs(p[:, 2]) / half) ** power) ** (1 / power) - 1) * half
        field = blend([dough, *(np.linalg.norm(p - c, axis=1) - r for c, r in zip(lumps, sizes, strict=False))], 0.02)
        return np.maximum(field, hole - radius) if hole else field

    body = level_body(distance, (-0.52, -0.52, -half - 0.02), (0.52, 0.52, half + 0.08), 45_000)
    return roughened(body, rng.uniform(0.002, 0.008), 0.3, rng)


def _outline(rng: Rng, wide: float) -> Array:
    """An oval, rounded rectangle, arch or wavy outline of height 1. → (n, 2) float"""
    angle = np.linspace(0, 2 * np.pi, 72, endpoint=False)
    power = rng.choice([2.0, 2.0, 4.0, 10.0])
    c, s = np.cos(angle), np.sin(angle)
    radius = (np.abs(c) ** power + np.abs(s) ** power) ** (-1 / power)
    radius = radius * (1 + (rng.random() < 0.35) * rng.uniform(0.01, 0.06) * np.cos(int(rng.integers(4, 12)) * angle))
    return np.stack([wide * radius * c, 0.5 * radius * s], axis=1)


def mirror(rng: Rng) -> Manifold:
    """A thin pane, often with a frame or a stand."""
    outline = _outline(rng, rng.uniform(0.25, 0.5))
    thickness = rng.uniform(0.02, 0.045)
    pane = sheet(outline, thickness)
    parts = [pane]
    if rng.random() < 0.5:
        frame = CrossSection([outline * 1.06], FillRule.NonZero) - CrossSection(
            [outline * rng.uniform(0.82, 0.93)], FillRule.NonZero
        )
        parts.append(Manifold.extrude(frame, thickness * rng.uniform(1.3, 2.5)))
    if rng.random() < 0.4:  # a handle or a foot below
        path = curve([(0, -0.42, thickness / 2), (0, -0.7, thickness / 2), (0, -0.95, thickness / 2)])
        parts.append(tube(path, rng.uniform(0.025, 0.045) + 0.01 * np.cos(np.linspace(0, 9, len(path))), flatten=1.4))
    body = united(parts).rotate((90, 0, 0))
    return bent(body.refine_to_length(0.08), rng.uniform(0.2, 0.6)) if rng.random() < 0.1 else body


def statue(rng: Rng) -> Manifold:
    """A standing figure on a base, grown together from limbs."""
    return _figure(rng, slender=rng.uniform(0.8, 1.15), base=True, soft=rng.uniform(0.03, 0.07))


def toy_figure(rng: Rng) -> Manifold:
    """A stout figure or an animal with a big head."""
    return (
        _figure(rng, slender=rng.uniform(1.2, 1.7), base=rng.random() < 0.3, soft=0.04)
        if rng.random() < 0.6
        else _animal(rng)
    )


def _figure(rng: Rng, slender: float, base: bool, soft: float) -> Manifold:
    def jitter(x: float, y: float, z: float) -> Array:
        return np.array([x, y, z]) + 0.025 * rng.standard_normal(3)

    w = slender
    hip, chest, head = jitter(0, 0, 0.48), jitter(0, 0, 0.72), jitter(0, 0.0, 0.9)
    limbs = [
        (hip, chest, 0.085 * w, 0.1 * w),
        (chest, head, 0.045 * w, 0.05 * w),
        (head, head + np.array([0, 0.01, 0.02]), 0.075 * w, 0.07 * w),
    ]
    for side in (-1, 1):
        knee, foot = jitter(0.09 * side * w, 0.02, 0.26), jitter(0.11 * side * w, 0, 0.05)
        limbs += [
            (hip, knee, 0.07 * w, 0.05 * w),
            (knee, foot, 0.05 * w, 0.035 * w),
            (foot, foot - np.array([0, 0.07, 0]), 0.035, 0.03),
        ]
        shoulder = chest + np.array([0.11 * side * w, 0, 0.02])
        elbow = shoulder + np.array([0.1 * side, -0.05, rng.uniform(-0.15, 0.1)]) + 0.03 * rng.standard_normal(3)
        hand = elbow + 0.17 * towards(rng, (0.4 * side, -0.6, 0))
        limbs += [(shoulder, elbow, 0.042 * w, 0.034 * w), (elbow, hand, 0.034 * w, 0.03 * w)]
    body = _grown(limbs, soft)
    if base:
        height = rng.uniform(0.05, 0.12)
        plinth = Manifold.cylinder(height, 0.24, 0.2, int(rng.choice([4, 8, 40])))
        body = united([body, plinth.translate((0, 0, 0.045 - height))])
    return body


def _animal(rng: Rng) -> Manifold:
    def jitter(x: float, y: float, z: float) -> Array:
        return np.array([x, y, z]) + 0.03 * rng.standard_normal(3)

    stout = rng.uniform(0.8, 1.5)
    rear, front = jitter(-0.28, 0, 0.42), jitter(0.22, 0, 0.45)
    head = front + np.array([0.2, 0, rng.uniform(0.1, 0.3)])
    limbs = [
        (rear, front, 0.14 * stout, 0.13 * stout),
        (front, head, 0.07 * stout, 0.06 * stout),
        (head, head + np.array([0.08, 0, -0.02]), 0.1, 0.06),
    ]
    for side in (-1, 1):
        limbs.append((rear, jitter(-0.32, 0.12 * side, 0.05), 0.08, 0.05))
        limbs.append((front, jitter(0.24, 0.12 * side, 0.05), 0.07, 0.045))
        limbs.append((head, head + np.array([-0.03, 0.09 * side, 0.14]), 0.035, 0.02))
    limbs.append((rear, rear + 0.3 * towards(rng, (-1, 0, 0.4)), 0.045, 0.022))
    return _grown(limbs, rng.uniform(0.03, 0.07))


def towards(rng: Rng, heading: tuple[float, float, float]) -> Array:
    """A unit vector scattered around a heading. → (3,) float"""
    vector = np.array(heading) + 0.5 * rng.standard_normal(3)
    return np.asarray(vector / np.linalg.norm(vector))


def _grown(limbs: list[tuple[Array, Array, float, float]], soft: float) -> Manifold:
    """Limbs (start, end, radius, radius) blended into one body."""
    ends = np.array([[*a, ra] for a, _, ra, _ in limbs] + [[*b, rb] for _, b, _, rb in limbs])
    low = (ends[:, :3] - ends[:, 3:]).min(axis=0) - soft
    high = (ends[:, :3] + ends[:, 3:]).max(axis=0) + soft
    return level_body(lambda p: blend([capsule(p, *limb) for limb in limbs], soft), low, high)
