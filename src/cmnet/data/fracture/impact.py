"""Impact: a blow at one point sends out radial cracks, joined by concentric ones; far away the object stays whole."""

from __future__ import annotations

import numpy as np

from cmnet.data.fracture.lattice import Lattice, distances
from cmnet.geometry.types import Array, Ints


def cells(lattice: Lattice, pieces: int, rng: np.random.Generator) -> Ints:
    """Cells of a blow: sectors between radial cracks, parted by concentric ones, and the rest. → (n,) int"""
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


def _angle(lattice: Lattice, hit: int, rng: np.random.Generator) -> Array:
    """The direction of every voxel around the hit, in the plane of the material there. → (n,) float"""
    offset = lattice.points - lattice.points[hit]
    near = np.linalg.norm(offset, axis=1) < 4 * lattice.spacing
    _, axes = np.linalg.eigh(offset[near].T @ offset[near])
    return np.asarray(np.arctan2(offset @ axes[:, 1], offset @ axes[:, 2]) + rng.uniform(0, 2 * np.pi))
