"""Free forms: blobs, stones, tiles, branches, horns, shells."""

from __future__ import annotations

import numpy as np
from manifold3d import Manifold

from cmnet.data.shapes.build import blend, capsule, curve, level_body, roughened, tube
from cmnet.data.shapes.things import towards
from cmnet.geometry.types import Array

Rng = np.random.Generator


def blob(rng: Rng) -> Manifold:
    """Balls that grow into each other, solid or as a shell."""
    count = int(rng.integers(3, 8))
    radii = rng.uniform(0.12, 0.3, count)
    centres = np.zeros((count, 3))
    for k in range(1, count):  # each one sticks to an earlier one
        other = int(rng.integers(k))
        centres[k] = centres[other] + 0.8 * (radii[k] + radii[other]) * towards(rng, (0.0, 0.0, 0.0))
    wall = rng.uniform(0.06, 0.12) if rng.random() < 0.3 else None

    def distance(p: Array) -> Array:
        field = blend([np.linalg.norm(p - c, axis=1) - r for c, r in zip(centres, radii, strict=True)], 0.12)
        return field if wall is None else np.maximum(field, -field - wall)

    return level_body(
        distance, (centres - radii[:, None]).min(axis=0) - 0.1, (centres + radii[:, None]).max(axis=0) + 0.1
    )


def stone(rng: Rng) -> Manifold:
    """A pebble or a rock with flat facets."""
    directions = rng.standard_normal((int(rng.integers(6, 18)), 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    offsets = rng.uniform(0.35, 0.5, len(directions))
    stretch = rng.uniform(0.6, 1.3, 3)
    soft = rng.uniform(0.01, 0.06)

    def distance(p: Array) -> Array:
        scaled = p / stretch
        planes = scaled @ directions.T - offsets
        peak = planes.max(axis=1, keepdims=True)
        facets = peak[:, 0] + soft * np.log(np.exp((planes - peak) / soft).sum(axis=1))
        return np.maximum(facets, np.linalg.norm(scaled, axis=1) - 0.6)

    return roughened(level_body(distance, -0.62 * stretch, 0.62 * stretch, 60_000), rng.uniform(0.002, 0.02), 0.3, rng)


def tile(rng: Rng) -> Manifold:
    """A plate with rounded edges and an outline of any kind, slightly warped."""
    half = np.array([0.5, rng.uniform(0.3, 0.5)])
    power, waves = rng.choice([2.0, 3.0, 6.0, 12.0]), int(rng.integers(3, 10))
    depth = rng.uniform(0.02, 0.1) if rng.random() < 0.4 else 0.0
    thick, curl = rng.uniform(0.025, 0.08), rng.uniform(-0.15, 0.15)

    def distance(p: Array) -> Array:
        around = (np.abs(p[:, :2] / half) ** power).sum(axis=1) ** (1 / power)
        around = around * (1 + depth * np.cos(waves * np.arctan2(p[:, 1], p[:, 0])))
        edge, face = (around - 1) * half.min(), np.abs(p[:, 2] - curl * p[:, 0] ** 2) - thick
        return -blend([-edge, -face], 0.02)

    reach = np.array([*half * (1 + 1.3 * depth), thick + 0.05])
    return roughened(level_body(distance, -reach, reach, 60_000), rng.uniform(0.001, 0.004), 0.4, rng)


def branch(rng: Rng) -> Manifold:
    """A forked stem, like coral or antlers."""
    limbs: list[tuple[Array, Array, float, float]] = []
    tips = [(np.zeros(3), np.array([0.0, 0.0, 1.0]), rng.uniform(0.06, 0.1))]
    for _ in range(int(rng.integers(4, 9))):
        start, heading, radius = tips.pop(int(rng.integers(len(tips))))
        forks = 2 if limbs else 1
        for _ in range(forks):
            way = heading + 0.6 * rng.standard_normal(3)
            way /= np.linalg.norm(way)
            end = start + way * rng.uniform(0.2, 0.35)
            limbs.append((start, end, radius, radius * 0.8))
            tips.append((end, way, radius * 0.8))
    points = np.array([limb[1] for limb in limbs] + [np.zeros(3)])
    field = lambda p: blend([capsule(p, *limb) for limb in limbs], 0.04)  # noqa: E731
    return level_body(field, points.min(axis=0) - 0.14, points.max(axis=0) + 0.14)


def horn(rng: Rng) -> Manifold:
    """A tapering curl, solid or hollow."""
    t = np.linspace(0, rng.uniform(0.6, 1.6) * np.pi, 40)
    radius = 0.4 * np.exp(-rng.uniform(0, 0.25) * t)
    path = np.stack([radius * np.cos(t), rng.uniform(0, 0.12) * t, radius * np.sin(t)], axis=1)
    thick = np.interp(t, [0, t[-1]], [rng.uniform(0.1, 0.16), 0.02])
    body = tube(path, thick, rng.uniform(0.7, 1.2), 24)
    if rng.random() < 0.4:
        ahead = path[0] - 0.02 * (path[1] - path[0]) / np.linalg.norm(path[1] - path[0])
        inner = np.concatenate([[ahead], path[:28]])
        body = body - tube(inner, np.concatenate([[thick[0]], thick[:28]]) * rng.uniform(0.5, 0.75), 1.0, 20)
    return body


def slab(rng: Rng) -> Manifold:
    """A block with rounded, uneven faces and now and then a hole."""
    size = rng.uniform(0.15, 0.5, 3)
    size[0] = 0.5
    hole = rng.uniform(0.08, 0.16) * min(1.0, 2.4 * float(size[1])) if rng.random() < 0.4 else 0.0
    place = rng.uniform(-0.25, 0.25)

    def distance(p: Array) -> Array:
        q = np.abs(p) - size + 0.05
        box = np.linalg.norm(np.maximum(q, 0), axis=1) + np.minimum(q.max(axis=1), 0) - 0.05
        return np.maximum(box, hole - np.hypot(p[:, 0] - place, p[:, 1])) if hole else box

    return roughened(level_body(distance, -size - 0.02, size + 0.02, 60_000), rng.uniform(0.002, 0.02), 0.35, rng)


def stem(rng: Rng) -> Manifold:
    """A wavy rod with knots."""
    points = np.cumsum(np.array([towards(rng, (0.0, 0.0, 1.6)) * 0.3 for _ in range(5)]), axis=0)
    path = curve(points, 48)
    swell = 1 + rng.uniform(0, 0.4) * np.cos(np.linspace(0, rng.uniform(4, 16), len(path)))
    return tube(path, rng.uniform(0.05, 0.1) * swell, rng.uniform(0.6, 1.0), 20)
