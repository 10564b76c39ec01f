"""Chips: small fragments off rims and corners, and crumbs along the cracks that are already there."""

from __future__ import annotations

import numpy as np

from cmnet.data.fracture.cut import Section
from cmnet.data.fracture.solid import Solid
from cmnet.geometry.types import Array, Ints

LARGEST = 0.02  # share of the volume up to which a chip is a ball around a point; larger ones follow the weaknesses
GRID = 14  # samples of the smooth section across the chip's diameter


def propose(solid: Solid, share: float, rng: np.random.Generator) -> Section | None:
    """A shell-shaped section around a point of the rim or of a crack, cutting off about `share` of the volume."""
    centre = _place(solid, rng)
    radius = _radius(solid, share)
    stretch = np.exp(0.3 * rng.standard_normal(3))
    turn, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    centre = centre + 0.3 * radius * turn[:, 0]
    reach = radius * float(stretch.max()) * 1.35
    spacing = 2 * reach / (GRID - 1)
    axis = np.linspace(-reach, reach, GRID)
    grid = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1)
    distance = np.linalg.norm(grid @ turn / stretch, axis=-1) - radius
    return Section(distance, centre - reach, spacing, 2 * radius, roughness=2.0)


def _place(solid: Solid, rng: np.random.Generator) -> Array:
    """A point where chips come off: on the edge of a crack if there is one, else on a rim, tip or corner."""
    edge = _crack_edges(solid)
    if len(edge) and rng.random() < 0.7:
        return np.asarray(solid.mesh.vertices[rng.choice(edge)])
    likely = solid.lattice.exposure**2
    return np.asarray(solid.lattice.points[rng.choice(len(likely), p=likely / likely.sum())])


def _crack_edges(solid: Solid) -> Ints:
    """The vertices at which faces of different origin meet."""
    mesh = solid.mesh
    low = np.full(len(mesh.vertices), np.iinfo(np.int64).max)
    high = np.zeros(len(mesh.vertices), dtype=np.int64)
    for k in range(3):
        np.minimum.at(low, mesh.faces[:, k], mesh.source)
        np.maximum.at(high, mesh.faces[:, k], mesh.source)
    return (low < high).nonzero()[0]


def _radius(solid: Solid, share: float) -> float:
    """The radius of a ball at the border of the solid that holds about `share` of its volume."""
    volume, wall = share * solid.volume, 2 * solid.volume / solid.area
    as_block = (volume / (0.35 * 4.19)) ** (1 / 3)
    as_sheet = np.sqrt(volume / (0.55 * np.pi * wall))
    return float(max(as_block, as_sheet))
