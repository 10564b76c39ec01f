"""Mechanisms that part the whole object at once: an impact with radial and concentric cracks, and noisy Voronoi cells.

Both give every voxel the number of its cell; the cells are then cut off one after the other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from cmnet.data.fracture.lattice import Lattice

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


def impact(lattice: Lattice, pieces: int, rng: np.random.Generator) -> Ints:
    """Cells of a blow at one point: sectors between radial cracks, parted by concentric ones, and the rest. → (n,) int"""
    hit = int(rng.choice(len(lattice.cells), p=lattice.exposure))
    radius = distances(lattice, [hit], rng)[0]
    angle = _angle(lattice, hit, rng) + 0.25 * np.sin(radius / radius.max() * 6 + rng.uniform(0, 6))
    rings = 1 if pieces < 5 else 2
    sectors = max(1, int(np.ceil((pieces - 1) / rings)))
    order = np.sort(radius)
    reach = order[int(len(order) * rng.uniform(0.15, 0.9)) - 1]
    wobble = 1 + 0.15 * np.sin(3 * angle + rng.uniform(0, 6))
    ring = np.floor(np.sqrt(radius / wobble / reach) * rings).astype(np.int64)
    cracks = np.sort((np.arange(sectors) + rng.uniform(-0.3, 0.3, sectors)) * 2 * np.pi / sectors)
    sector = np.searchsorted(cracks, angle % (2 * np.pi)) % sectors
    return np.where(ring < rings, 1 + ring * sectors + sector, 0)


def voronoi(lattice: Lattice, pieces: int, rng: np.random.Generator) -> Ints:
    """Cells of random seeds, each growing through the material at a pace of its own. → (n,) int"""
    gather = lattice.points @ rng.standard_normal(3)
    weight = lattice.volumes * np.exp(rng.uniform(0, 3) * (gather - gather.mean()) / max(float(gather.std()), 1e-9))
    seeds = rng.choice(len(weight), size=pieces, replace=False, p=weight / weight.sum())
    pace = np.exp(0.25 * rng.standard_normal(pieces))
    return np.asarray((distances(lattice, seeds, rng) / pace[:, None]).argmin(axis=0), dtype=np.int64)


def distances(lattice: Lattice, seeds: list[int] | Ints, rng: np.random.Generator) -> Array:
    """How far every voxel is from each seed through the material, with uneven resistance. → (seeds, n) float"""
    a, b = lattice.edges.T
    length = lattice.spacing * np.exp(0.3 * rng.standard_normal(len(a)))
    graph = coo_array((length, (a, b)), shape=(len(lattice.cells),) * 2)
    steps = dijkstra(graph.tocsr(), directed=False, indices=np.asarray(seeds))
    straight = np.linalg.norm(lattice.points[None] - lattice.points[np.asarray(seeds)][:, None], axis=2)
    # Steps along the axes overstate slanted ways; the mean with the straight line is close to the way through.
    finite = np.where(np.isfinite(steps), steps, 10 * straight.max())
    return np.asarray((finite + straight) / 2)


def _angle(lattice: Lattice, hit: int, rng: np.random.Generator) -> Array:
    """The direction of every voxel around the hit, in the plane of the material there. → (n,) float"""
    offset = lattice.points - lattice.points[hit]
    near = np.linalg.norm(offset, axis=1) < 4 * lattice.spacing
    _, axes = np.linalg.eigh(offset[near].T @ offset[near])
    return np.asarray(np.arctan2(offset @ axes[:, 1], offset @ axes[:, 2]) + rng.uniform(0, 2 * np.pi))


MECHANISMS = {"impact": impact, "voronoi": voronoi}
