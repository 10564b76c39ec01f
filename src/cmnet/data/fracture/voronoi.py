"""Noisy Voronoi cells: cracks halfway between seeds that grow through the material."""

from __future__ import annotations

import numpy as np

from cmnet.data.fracture.lattice import Lattice, distances
from cmnet.geometry.types import Ints


def cells(lattice: Lattice, pieces: int, rng: np.random.Generator) -> Ints:
    """Cells of random seeds, each growing through the material at a pace of its own. → (n,) int"""
    gather = lattice.points @ rng.standard_normal(3)
    weight = lattice.volumes * np.exp(rng.uniform(0, 3) * (gather - gather.mean()) / max(float(gather.std()), 1e-9))
    seeds = rng.choice(len(weight), size=pieces, replace=False, p=weight / weight.sum())
    pace = np.exp(0.25 * rng.standard_normal(pieces))
    return np.asarray((distances(lattice, seeds, rng) / pace[:, None]).argmin(axis=0), dtype=np.int64)
