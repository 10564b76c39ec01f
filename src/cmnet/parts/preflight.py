"""A look at the parts before the work: what they are, and plain advice where something is off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from scipy.spatial import cKDTree

from cmnet.geometry.trees import nearest_few
from cmnet.geometry.types import Array
from cmnet.geometry.walls import wall_thickness
from cmnet.parts.edges import count_holes
from cmnet.parts.part import Part
from cmnet.parts.points import sample_parts

SAMPLES = 1200  # per part, to see its walls
AROUND = 60  # neighbours of a sample among which the other side of a wall is sought
JUMP = 30.0  # parts fall into two classes of size where the next larger one is so many times larger
UNITS = {
    1000.0: "millimetres and metres",
    304.8: "feet and millimetres",
    100.0: "centimetres and metres",
    39.37: "inches and metres",
    25.4: "inches and millimetres",
    10.0: "millimetres and centimetres",
}
TINY = 0.05  # of the largest part's size: too small to match
COARSE = 200  # fewer faces or points than this show hardly anything of a break
MANY = 60  # parts beyond which the number of pairs is worth a word
DECIMALS = 5  # steps of its numbers that a part has between neighbouring vertices, at least
SAME = 1e-4  # relative difference of lengths up to which two parts are the same scan


@dataclass(frozen=True)
class Look:
    """What a part looks like. Lengths are in the unit of the files.

    count   : faces of a mesh, points of a cloud
    holes   : separate rims of a mesh, 0 where it is watertight; None for a cloud
    size    : longest side of the box around it
    wall    : typical thickness, None where it is too thick to tell
    spacing : typical distance of neighbouring vertices
    step    : from one of its coordinates to the next in single precision, 0 where they are more precise
    """

    name: str
    count: int
    holes: int | None
    size: float
    wall: float | None
    spacing: float
    step: float
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Preflight:
    """The parts, and advice in whole sentences."""

    looks: tuple[Look, ...]
    advice: tuple[str, ...]


def preflight(parts: Sequence[Part], seed: int = 0) -> Preflight:
    """Look at every part, and at all of them together."""
    looks = tuple(look(part, seed) for part in parts)
    repairs = [f"{p.name}: {repair}" for p in looks for repair in p.repairs]
    advice = [
        *repairs,
        *_without_normals(parts, looks),
        *_worn_numbers(looks),
        *(_different_units(looks) or _too_small(looks)),
        *_same_twice(parts, looks),
        *_too_coarse(looks),
        *_too_many(looks),
    ]
    return Preflight(looks, tuple(advice))


def look(part: Part, seed: int = 0) -> Look:
    """One part."""
    count = len(part.vertices) if part.faces is None else len(part.faces)
    return Look(
        name=part.name,
        count=count,
        holes=None if part.faces is None else count_holes(part.faces),
        size=float(np.ptp(part.vertices, axis=0).max()),
        wall=_wall(part, seed),
        spacing=_spacing(part),
        step=_step(part.vertices),
        repairs=part.repairs,
    )


def _wall(part: Part, seed: int) -> float | None:
    samples = sample_parts([part], SAMPLES, seed, minimum=1)[0]
    if len(samples) <= AROUND:
        return None
    neighbors = nearest_few(cKDTree(samples.xyz), samples.xyz, AROUND)[1]
    walls = wall_thickness(samples.xyz, samples.normals, neighbors)
    typical = float(np.median(walls))
    return typical if np.isfinite(typical) else None


def _spacing(part: Part) -> float:
    """Median length of an edge, or distance to the nearest point."""
    if part.faces is not None:
        return float(np.median(np.linalg.norm(part.triangles - np.roll(part.triangles, 1, axis=1), axis=2)))
    some = part.vertices[:: max(1, len(part.vertices) // SAMPLES)]
    return float(np.median(np.asarray(cKDTree(part.vertices).query(some, k=2)[0])[:, 1]))


def _step(vertices: Array) -> float:
    """Of the largest coordinate, where all of them are single numbers, as most files store them."""
    with np.errstate(over="ignore"):
        single = vertices.astype(np.float32)
    return float(np.spacing(np.abs(single).max())) if (single == vertices).all() else 0.0


def _without_normals(parts: Sequence[Part], looks: Sequence[Look]) -> list[str]:
    bare = [p for part, p in zip(parts, looks) if part.faces is None and part.normals is None]
    if not bare:
        return []
    what = "has" if len(bare) == 1 else "have"
    return [f"{_listed(bare)} {what} no normals: estimated from the points; export them if the scanner knows them"]


def _worn_numbers(looks: Sequence[Look]) -> list[str]:
    stairs = [p for p in looks if DECIMALS * p.step > p.spacing]
    if not stairs:
        return []
    return [
        f"{_listed(stairs)}: the coordinates have lost their decimals, so far from the origin they lie; "
        "export in local coordinates, or in double precision"
    ]


def _different_units(looks: Sequence[Look]) -> list[str]:
    """Two classes of size with nothing between them."""
    order = sorted(looks, key=lambda p: p.size)
    jumps = [b.size / a.size for a, b in pairwise(order)]
    if not jumps or max(jumps) < JUMP:
        return []
    k = int(np.argmax(jumps)) + 1
    small, large = order[:k], order[k:]
    ratio = float(np.median([p.size for p in large]) / np.median([p.size for p in small]))
    factor = min(UNITS, key=lambda unit: abs(np.log(ratio / unit)))
    fewer = min((small, large), key=len)
    return [
        f"{_listed(fewer)} {'is' if len(fewer) == 1 else 'are'} about {ratio:.0f} times "
        f"{'smaller' if fewer is small else 'larger'} than the rest: "
        f"perhaps in another unit ({UNITS[factor]} differ by {factor:g}); export all parts in one unit"
    ]


def _same_twice(parts: Sequence[Part], looks: Sequence[Look]) -> list[str]:
    marks = [_shape_mark(part) for part in parts]
    twins = [
        (a, b)
        for a, b in combinations(range(len(parts)), 2)
        if looks[a].count == looks[b].count and np.allclose(marks[a], marks[b], rtol=SAME, atol=0)
    ]
    return [f"{looks[a].name} and {looks[b].name} are the same scan; leave one of them out" for a, b in twins]


def _shape_mark(part: Part) -> Array:
    """(12,) float: quantiles of the distances from the middle, which no motion changes."""
    distances = np.linalg.norm(part.vertices - part.vertices.mean(axis=0), axis=1)
    return np.quantile(distances, np.linspace(0, 1, 12))


def _too_small(looks: Sequence[Look]) -> list[str]:
    largest = max(p.size for p in looks)
    tiny = [p for p in looks if p.size < TINY * largest]
    return [f"{_listed(tiny)}: too small beside the rest to be matched with confidence"] if tiny else []


def _too_coarse(looks: Sequence[Look]) -> list[str]:
    few = [p for p in looks if p.count < COARSE]
    wide = [p for p in looks if p.holes is None and p.wall is not None and p.spacing > p.wall / 2 and p not in few]
    advice = []
    if few:
        advice.append(f"{_listed(few)}: so few faces or points show little of a break; scan or export more finely")
    if wide:
        advice.append(f"{_listed(wide)}: points farther apart than half the wall; scan or export more finely")
    return advice


def _too_many(looks: Sequence[Look]) -> list[str]:
    n = len(looks)
    return [f"{n} parts make {n * (n - 1) // 2:,} pairs: this takes a while"] if n > MANY else []


def _listed(looks: Sequence[Look]) -> str:
    names = [p.name for p in looks[:3]]
    return ", ".join(names) + (f" and {len(looks) - 3} more" if len(looks) > 3 else "")
