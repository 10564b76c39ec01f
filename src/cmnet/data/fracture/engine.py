"""Breaking one solid into the wanted number of pieces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from cmnet.data.fracture import chips, impact, planes, voronoi, weakest
from cmnet.data.fracture.cut import Limits, Section, cut, section_of
from cmnet.data.fracture.lattice import Lattice
from cmnet.data.fracture.roughness import Roughness
from cmnet.data.fracture.solid import Solid
from cmnet.geometry.types import Array, Bools, Ints

Propose = Callable[[Solid, float, np.random.Generator], Section | None]

MECHANISMS = ("weakest", "impact", "chips", "recursive", "voronoi")
CELLS = {"impact": impact.cells, "voronoi": voronoi.cells}  # part the whole object at once, the others cut by cut
TRIES = 6
ROUGHNESS = 0.018  # median amplitude of a crack over its extent
FACETED = 0.5  # share of the cracks with flat facets


def draw_shares(pieces: int, rng: np.random.Generator, least: float = 0.0) -> Array:
    """Every piece's share of the volume: log-normal, with a spread of its own for every object as in Breaking Bad."""
    shares = np.exp(rng.uniform(0.8, 3.2) * rng.standard_normal(pieces))
    shares /= shares.sum()
    # Mixing with equal shares raises the smallest one to the floor and keeps the sum.
    floor = min(1.25 * least, 0.9 / pieces)
    if shares.min() < floor:
        mix = (floor - shares.min()) / (1 / pieces - shares.min())
        shares = (1 - mix) * shares + mix / pieces
    return shares


def break_solid(solid: Solid, pieces: int, mechanism: str, limits: Limits, rng: np.random.Generator) -> list[Solid]:
    """Break a solid. The result has `pieces` bodies, or fewer where no further cut was found."""
    shares = draw_shares(pieces, rng, limits.volume / solid.volume)
    if mechanism in CELLS:
        labels = CELLS[mechanism](solid.lattice, pieces, rng)
        parts = _cut_cells(solid, labels, limits, rng)
    else:
        parts = _cut_recursively(solid, shares, mechanism, limits, rng)
    return _settle(parts, pieces, limits, rng)


def _cut_recursively(
    solid: Solid, shares: Array, mechanism: str, limits: Limits, rng: np.random.Generator
) -> list[Solid]:
    """Part the shares in two groups, cut off the smaller group, and go on with both."""
    if len(shares) < 2:
        return [solid]
    if mechanism == "chips":
        shares, count = np.sort(shares), 1
    else:
        shares, count = rng.permutation(shares), int(rng.integers(1, len(shares)))
    groups = sorted((shares[:count], shares[count:]), key=lambda group: float(group.sum()))
    pair = cut_once(solid, float(groups[0].sum() / shares.sum()), mechanism, limits, rng)
    if pair is None:
        return [solid]
    halves = sorted(pair, key=lambda body: body.volume)
    return [
        s for body, g in zip(halves, groups, strict=True) for s in _cut_recursively(body, g, mechanism, limits, rng)
    ]


def cut_once(
    solid: Solid, share: float, mechanism: str, limits: Limits, rng: np.random.Generator
) -> tuple[Solid, Solid] | None:
    """Cut a solid in two along one rough section, or None if none was found."""
    for attempt in range(TRIES):
        section = _proposer(solid, share, mechanism, attempt)(solid, share, rng)
        if section is None:
            continue
        pair = cut(solid, section, crack_roughness(section, rng, 0.7**attempt), limits, rng)
        if pair is not None:
            return pair
    return None


def _proposer(solid: Solid, share: float, mechanism: str, attempt: int) -> Propose:
    """Chips where the lattice is too coarse for the share, else the mechanism, and planes as the last resort."""
    if share * len(solid.lattice.cells) < weakest.LEAST_NODES or (mechanism == "chips" and share < chips.LARGEST):
        return chips.propose if attempt < TRIES - 1 else planes.propose
    if mechanism == "recursive" or attempt >= TRIES - 2:
        return planes.propose
    return weakest.propose_at_rim if mechanism == "chips" else weakest.propose


def crack_roughness(section: Section, rng: np.random.Generator, damping: float = 1.0) -> Roughness:
    amplitude = damping * ROUGHNESS * section.roughness * section.extent * float(np.exp(0.65 * rng.standard_normal()))
    longest = section.extent * rng.uniform(0.3, 0.8)
    return Roughness(amplitude, longest, section.extent / 40, rng.uniform(0.6, 0.95), bool(rng.random() < FACETED))


def _cut_cells(solid: Solid, labels: Ints, limits: Limits, rng: np.random.Generator) -> list[Solid]:
    """Cut off one cell after the other; what is left of the lattice fills the space of those that are gone."""
    lattice, rest, result = solid.lattice, solid, []
    for cell in rng.permutation(np.unique(labels))[:-1]:
        section = section_of(lattice, labels == cell)
        pair = None if section is None else cut(rest, section, crack_roughness(section, rng), limits, rng)
        if pair is None:
            continue
        off, rest = sorted(pair, key=lambda body: body.volume)
        result.append(off)
        kept = labels != cell
        lattice, labels = _subset(lattice, kept), labels[kept]
    return [rest, *result]


def _subset(lattice: Lattice, kept: Bools) -> Lattice:
    number = np.cumsum(kept) - 1
    edges = lattice.edges[kept[lattice.edges].all(axis=1)]
    return replace(lattice, cells=lattice.cells[kept], fill=lattice.fill[kept], edges=number[edges])


def _settle(parts: list[Solid], pieces: int, limits: Limits, rng: np.random.Generator) -> list[Solid]:
    """Break the largest bodies once more until there are `pieces`, or no further cut is found."""
    while len(parts) < pieces:
        more = _cut_largest(sorted(parts, key=lambda part: -part.volume), limits, rng)
        if more is None:
            break
        parts = more
    return parts


def _cut_largest(parts: list[Solid], limits: Limits, rng: np.random.Generator) -> list[Solid] | None:
    """Cut one more body in two, the largest that can be."""
    for k, part in enumerate(parts):
        least = limits.volume / part.volume
        if least < 0.45:
            pair = cut_once(part, rng.uniform(max(1.1 * least, 0.05), 0.5), "weakest", limits, rng)
            if pair is not None:
                return [*parts[:k], *parts[k + 1 :], *pair]
    return None
