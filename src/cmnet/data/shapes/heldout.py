"""Shapes kept for the benchmark: no training preset ever makes one of these."""

from __future__ import annotations

import numpy as np
from manifold3d import Manifold

from cmnet.data.shapes.build import blend, capsule, curve, level_body, roughened, smooth_profile, tube, united, vessel
from cmnet.geometry.types import Array

Rng = np.random.Generator


def amphora(rng: Rng) -> Manifold:
    """A pointed jar with two handles."""
    belly = rng.uniform(0.18, 0.26)
    neck = belly * rng.uniform(0.3, 0.45)
    points = [
        (0.03, 0.0),
        (0.06, 0.02),
        (0.05, 0.08),
        (belly, rng.uniform(0.4, 0.55)),
        (0.9 * belly, 0.66),
        (neck, 0.78),
        (neck, 0.95),
        (1.4 * neck, 1.0),
    ]
    outside, hollow = vessel(smooth_profile(points, 64), rng.uniform(0.018, 0.045), True, 56)
    reach = 0.8 * belly
    ear = [(neck - 0.01, 0, 0.92), (neck + 0.6 * reach, 0, 0.93), (neck + reach, 0, 0.8), (0.8 * belly, 0, 0.66)]
    ears = [tube(curve(ear), rng.uniform(0.018, 0.028)).rotate((0, 0, angle)) for angle in (0, 180)]
    body = united([outside, *ears])
    return body - hollow if hollow is not None else body


def jug(rng: Rng) -> Manifold:
    """A pitcher with a lip drawn to one side and a strap handle."""
    belly, foot = rng.uniform(0.26, 0.36), rng.uniform(0.16, 0.24)
    points = [(0.3 * foot, 0.0), (foot, 0.0), (belly, 0.35), (0.55 * belly, 0.75), (0.75 * belly, 1.0)]
    outside, hollow = vessel(smooth_profile(points, 56), rng.uniform(0.018, 0.05), True, 60)
    top = 0.7 * belly
    strap = [(top - 0.05, 0, 0.95), (top + 0.2, 0, 1.0), (belly + 0.2, 0, 0.65), (0.95 * belly - 0.02, 0, 0.38)]
    body = united([outside, tube(curve(strap), rng.uniform(0.022, 0.035), rng.uniform(1.2, 2.0))])
    body = body - hollow if hollow is not None else body
    pull = rng.uniform(0.1, 0.3)

    def pour(points: Array) -> Array:
        moved = points.copy()
        towards = np.maximum(-points[:, 0] / belly, 0) ** 2 * np.maximum(points[:, 2] - 0.7, 0) / 0.3
        moved[:, 0] -= pull * towards
        return moved

    return body.warp_batch(pour)


def candlestick(rng: Rng) -> Manifold:
    """A turned column on a wide foot."""
    points = [(0.1, 0.0), (rng.uniform(0.2, 0.3), 0.0), (0.2, 0.04), (0.07, 0.1)]
    for height in np.sort(rng.uniform(0.15, 0.85, int(rng.integers(2, 5)))):
        points += [(rng.uniform(0.03, 0.06), float(height)), (rng.uniform(0.06, 0.12), float(height) + 0.04)]
    points += [(0.04, 0.93), (0.1, 0.96), (0.1, 1.0), (0.03, 1.0)]
    outside, _ = vessel(smooth_profile(sorted(points, key=lambda p: p[1]), 72), None, False, 48)
    return outside


def tablet(rng: Rng) -> Manifold:
    """A cushion-shaped clay tablet with shallow marks."""
    size = np.array([0.5, rng.uniform(0.3, 0.5), rng.uniform(0.06, 0.13)])
    power = rng.uniform(2.5, 5)
    marks = rng.uniform(-0.42, 0.42, (int(rng.integers(10, 30)), 2)) * [1.0, 2 * size[1]]

    def distance(p: Array) -> Array:
        cushion = (np.abs(p / size) ** power).sum(axis=1) ** (1 / power) - 1
        nearest = np.min([np.hypot(p[:, 0] - x, 2.5 * (p[:, 1] - y)) for x, y in marks], axis=0)
        return cushion * size[2] + 0.012 * np.exp(-((nearest / 0.03) ** 2))

    return roughened(level_body(distance, -size - 0.02, size + 0.02, 60_000), 0.004, 0.25, rng)


def bone(rng: Rng) -> Manifold:
    """A long bone with a knob pair at either end, often hollow in the middle."""
    thin, bow = rng.uniform(0.05, 0.085), rng.uniform(-0.08, 0.08)
    knobs = [(end, side) for end in (-0.4, 0.4) for side in (-1, 1)]
    radii = rng.uniform(0.07, 0.11, 4)
    marrow = rng.uniform(0.45, 0.65) * thin if rng.random() < 0.6 else 0.0

    def distance(p: Array) -> Array:
        q = p.copy()
        q[:, 2] -= bow * (1 - (p[:, 0] / 0.4) ** 2)
        fields = [capsule(q, (-0.4, 0, 0), (0.4, 0, 0), thin, thin)]
        fields += [
            np.linalg.norm(q - [x, 0.07 * s, 0.02 * s], axis=1) - r for (x, s), r in zip(knobs, radii, strict=True)
        ]
        solid = blend(fields, 0.07)
        return np.maximum(solid, -capsule(q, (-0.22, 0, 0), (0.22, 0, 0), marrow, marrow)) if marrow else solid

    return level_body(distance, (-0.55, -0.22, -0.22), (0.55, 0.22, 0.22))


def bust(rng: Rng) -> Manifold:
    """Head and shoulders on a plinth."""
    head = np.array([0.02 * rng.standard_normal(), rng.uniform(-0.04, 0.02), 0.78])
    limbs = [
        (head, head + np.array([0, -0.02, 0.1]), 0.14, 0.13),
        (head + np.array([0, -0.13, 0.02]), head + np.array([0, -0.16, 0.0]), 0.03, 0.035),
        (np.array([0, 0.02, 0.45]), head, 0.09, 0.08),
        (np.array([-0.22, 0.02, 0.36]), np.array([0.22, 0.02, 0.36]), rng.uniform(0.1, 0.13), 0.12),
        (np.array([0, 0, 0.36]), np.array([0, 0, 0.2]), 0.17, 0.09),
    ]
    body = level_body(
        lambda p: blend([capsule(p, *limb) for limb in limbs], 0.07), (-0.45, -0.3, 0.02), (0.45, 0.3, 1.1)
    )
    return united([body, Manifold.cylinder(0.25, 0.2, 0.13, int(rng.choice([4, 8, 40])))])


def tray(rng: Rng) -> Manifold:
    """A shallow rectangular dish with a rim and two grips."""
    wide, wall, rim = rng.uniform(0.28, 0.45), rng.uniform(0.02, 0.04), rng.uniform(0.06, 0.14)
    power = rng.uniform(4, 12)

    def footprint(p: Array) -> Array:
        flare = 1 + 0.5 * p[:, 2]
        return np.asarray(
            ((np.abs(p[:, 0] / (0.5 * flare)) ** power + np.abs(p[:, 1] / (wide * flare)) ** power) ** (1 / power) - 1)
            * wide
        )

    def distance(p: Array) -> Array:
        side = footprint(p)
        outer = np.maximum(side, np.maximum(-p[:, 2], p[:, 2] - rim))
        return np.maximum(outer, -np.maximum(side + wall, wall - p[:, 2]))

    body = level_body(distance, (-0.6, -0.55, -0.01), (0.6, 0.55, rim + 0.01), 70_000)
    grip = curve([(0.5, -0.12, rim * 0.7), (0.6, -0.07, rim * 0.8), (0.6, 0.07, rim * 0.8), (0.5, 0.12, rim * 0.7)], 16)
    return united([body, *(tube(grip, 0.02, sides=12).rotate((0, 0, angle)) for angle in (0, 180))])


def bell(rng: Rng) -> Manifold:
    """A bell with a loop on top."""
    mouth, wall = rng.uniform(0.3, 0.42), rng.uniform(0.02, 0.05)
    points = [(mouth, 0.0), (0.85 * mouth, 0.12), (0.6 * mouth, 0.5), (0.5 * mouth, 0.75), (0.02, 0.84)]
    profile = smooth_profile(points, 48)
    outside, hollow = vessel(profile, wall, False, 56)
    loop = curve([(0.09, 0, 0.78), (0.11, 0, 0.92), (0.0, 0, 1.0), (-0.11, 0, 0.92), (-0.09, 0, 0.78)])
    body = united([outside, tube(loop, 0.028)])
    if hollow is None:
        return body
    drop = 1.6 * wall  # the hollow reaches below the mouth, so the bell is open
    return body - united([hollow, hollow.translate((0, 0, -drop))])
