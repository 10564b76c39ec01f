"""How a folder of broken objects looks in numbers: piece sizes, contacts, roughness, walls.

Everything is measured from the pieces in their assembled places, so it works for any folder in Breaking Bad's layout.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from cmnet.data.breaking_bad import BROKEN, find_fractures
from cmnet.data.stored import read_stored
from cmnet.data.surface_samples import SurfaceSamples, lies_on, sample_triangles
from cmnet.geometry.types import Array
from cmnet.parts.part import Part

QUANTILES = (0.05, 0.25, 0.50, 0.75, 0.95)
SAMPLES = 24_000  # points an object, split by area
LEAST_SAMPLES = 600  # points a piece at least

# What this module measures on Breaking Bad: 580 everyday fractures of 2 to 8 pieces of the training split.
BREAKING_BAD = {
    "largest": (0.303, 0.477, 0.654, 0.897, 0.983),
    "smallest": (1.13e-05, 0.00124, 0.0125, 0.057, 0.343),
    "contact": (0.00903, 0.0669, 0.17, 0.426, 0.793),
    "pair": (0.00901, 0.0464, 0.125, 0.26, 0.541),
    "touching": (0.321, 0.4, 0.5, 0.667, 0.833),
    "roughness": (0.00258, 0.0139, 0.0226, 0.0346, 0.068),
    "wall": (0.0095, 0.0257, 0.0699, 0.112, 0.212),
}

TITLES = {
    "largest": "largest piece's share of the volume",
    "smallest": "smallest piece's share of the volume",
    "contact": "contact share of a piece's area",
    "pair": "contact of a touching pair / smaller piece's area",
    "touching": "share of piece pairs that touch (3 or more pieces)",
    "roughness": "mean distance of a contact from its plane / its extent",
    "wall": "effective wall 2V/A, object size 1",
}


@dataclass(frozen=True, eq=False)
class FractureStats:
    """One fracture of n pieces; the arrays hold one value a piece, a touching pair, a contact.

    largest, smallest, wall : (1,) float;  contact : (n,) float;  pair, roughness : (touching,) float
    touching : (1,) float, or (0,) for two pieces, which touch always
    """

    pieces: int
    largest: Array
    smallest: Array
    contact: Array
    pair: Array
    touching: Array
    roughness: Array
    wall: Array


def measure(parts: Iterable[Part], rng: np.random.Generator) -> FractureStats:
    """Measure one fracture, given as its pieces in their assembled places."""
    pieces = list(parts)
    n = len(pieces)
    volumes = np.abs([piece.volume for piece in pieces])
    areas = np.array([piece.area for piece in pieces])
    vertices = np.concatenate([piece.vertices for piece in pieces])
    size = float(np.ptp(vertices, axis=0).max())
    samples = [_sample(piece, size, areas.sum(), rng) for piece in pieces]
    touched, pairs, roughness = [np.zeros(len(s.points), bool) for s in samples], [], []
    for i in range(n):
        for j in range(i + 1, n):
            on_i, on_j = lies_on(samples[i], samples[j]), lies_on(samples[j], samples[i])
            touched[i] |= on_i
            touched[j] |= on_j
            area = (on_i.mean() * areas[i] + on_j.mean() * areas[j]) / 2
            if on_i.sum() + on_j.sum() >= 6:
                pairs.append(area / min(areas[i], areas[j]))
                roughness.append(_off_plane(np.concatenate([samples[i].points[on_i], samples[j].points[on_j]])))
    contact = np.array([t.mean() for t in touched])
    possible = n * (n - 1) / 2
    skin = float((areas * (1 - contact)).sum())
    return FractureStats(
        n,
        volumes[[volumes.argmax()]] / volumes.sum(),
        volumes[[volumes.argmin()]] / volumes.sum(),
        contact,
        np.array(pairs),
        np.array([len(pairs) / possible] if n > 2 else []),
        np.array(roughness),
        np.array([2 * volumes.sum() / max(skin, 1e-12) / size]),
    )


def _sample(part: Part, size: float, total: float, rng: np.random.Generator) -> SurfaceSamples:
    """Uniform samples of one piece, in units of the object's size."""
    count = max(LEAST_SAMPLES, int(SAMPLES * part.area / total))
    return sample_triangles(part.triangles / size, count, rng)


def _off_plane(points: Array) -> float:
    """Mean distance of the points from their best plane over their extent along its first axis."""
    centred = points - points.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    along = centred @ axes
    return float(np.abs(along[:, 0]).mean() / max(np.ptp(along[:, 2]), 1e-12))


def measure_folder(root: Path, limit: int | None = None, seed: int = 0) -> Iterator[FractureStats]:
    """Measure the fractures below `root`, at most `limit` of them, spread evenly over the sorted list."""
    fractures = find_fractures(root, pieces=BROKEN)
    if limit is not None and limit < len(fractures):
        fractures = [fractures[i] for i in np.linspace(0, len(fractures) - 1, limit).astype(int)]
    for fracture in fractures:
        yield measure(read_stored(fracture).parts, np.random.default_rng(seed))


def quantile_table(stats: Iterable[FractureStats]) -> Mapping[str, Sequence[float]]:
    """The rows of `TITLES`, each as its (5,) quantiles `QUANTILES` over all fractures, pieces or contacts."""
    everything = list(stats)
    names = [field.name for field in fields(FractureStats) if field.name != "pieces"]
    pooled = {name: np.concatenate([getattr(s, name) for s in everything]) for name in names}
    return {name: np.quantile(v if len(v) else [np.nan], QUANTILES).tolist() for name, v in pooled.items()}
