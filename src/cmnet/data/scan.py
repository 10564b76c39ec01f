"""How fragments come from a scanner: conditions put on parts that lie in their assembled places. Poses never change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from cmnet.data.presets import parse_preset
from cmnet.errors import InputError
from cmnet.geometry.sampling import sample_faces
from cmnet.parts.health import FEWEST_POINTS
from cmnet.parts.part import Part

Array = NDArray[np.float64]
Rng = np.random.Generator


@dataclass(frozen=True)
class Condition:
    """How parts are scanned. Lengths are shares of the object's largest side; every default leaves parts as stored."""

    points: int = 0  # a part becomes a cloud of so many points, evenly likely by area; 0: as stored
    normals: int = 1  # 0: clouds come without normals
    noise: float = 0.0  # standard deviation of each coordinate of a vertex or point


AS_STORED = Condition()
LOW, HIGH = 0.0002, 0.001  # noise of a good and of a poor scanner
CONDITIONS = {
    "as-stored": AS_STORED,
    "noise": Condition(noise=LOW),
    "strong-noise": Condition(noise=HIGH),
    "cloud-10k": Condition(points=10_000),
    "cloud-10k-noise": Condition(points=10_000, noise=LOW),
    "cloud-10k-strong-noise": Condition(points=10_000, noise=HIGH),
    "cloud-50k": Condition(points=50_000),
    "cloud-50k-noise": Condition(points=50_000, noise=LOW),
    "cloud-50k-strong-noise": Condition(points=50_000, noise=HIGH),
    "bare-10k": Condition(points=10_000, normals=0),
    "bare-10k-noise": Condition(points=10_000, normals=0, noise=LOW),
    "bare-10k-strong-noise": Condition(points=10_000, normals=0, noise=HIGH),
    "bare-50k": Condition(points=50_000, normals=0),
    "bare-50k-noise": Condition(points=50_000, normals=0, noise=LOW),
    "bare-50k-strong-noise": Condition(points=50_000, normals=0, noise=HIGH),
}


def parse_condition(text: str) -> Condition:
    """A condition's name, or `key=value,key=value`, or a name followed by changes: `cloud-10k,noise=0.0005`."""
    condition = parse_preset(text, CONDITIONS, AS_STORED, "scan")
    if not all(getattr(condition, field.name) >= 0 for field in fields(condition)) or condition.noise > 0.1:
        raise InputError(f"scan {text!r}: values are not negative, lengths at most 0.1 of the object's size")
    if 0 < condition.points < FEWEST_POINTS:
        raise InputError(f"scan {text!r}: a cloud has at least {FEWEST_POINTS} points")
    return condition


def scan(parts: Sequence[Part], condition: Condition, rng: Rng) -> list[Part]:
    """The parts of an object as this scanner gives them, each in its own random way."""
    if condition == AS_STORED:
        return list(parts)
    size = size_of(parts)
    return [_scanned(part, condition, size, own) for part, own in zip(parts, rng.spawn(len(parts)))]


def size_of(parts: Sequence[Part]) -> float:
    """The largest side of the box around all parts."""
    return float(np.ptp(np.concatenate([part.vertices for part in parts]), axis=0).max())


def _scanned(part: Part, condition: Condition, size: float, rng: Rng) -> Part:
    if condition.points:
        part = _cloud(part, condition.points, rng)
    if part.faces is None and not condition.normals:
        part = replace(part, normals=None)
    if condition.noise:
        noise = condition.noise * size * rng.standard_normal(part.vertices.shape)
        part = replace(part, vertices=part.vertices + noise, visual=None)
    return part


def _cloud(part: Part, count: int, rng: Rng) -> Part:
    """Points of its surface with the surface's normals; of what is a cloud already, at most so many of its points."""
    if part.faces is None:
        kept = np.sort(rng.permutation(len(part.vertices))[:count])
        normals = None if part.normals is None else part.normals[kept]
        return replace(part, vertices=part.vertices[kept], normals=normals, colors=None)
    points, normals = sample_faces(part.triangles, count, rng)
    return replace(part, vertices=points, faces=None, normals=normals, colors=None, visual=None)
