"""Recursive splits: curved, roughened planes through the solid, mostly across its longest direction."""

from __future__ import annotations

import numpy as np

from cmnet.data.fracture.cut import Section, section_of
from cmnet.data.fracture.solid import Solid


def propose(solid: Solid, share: float, rng: np.random.Generator) -> Section | None:
    """A bent plane that cuts off about `share` of the volume."""
    lattice = solid.lattice
    centred = lattice.points - np.average(lattice.points, axis=0, weights=lattice.volumes)
    spread, axes = np.linalg.eigh((centred * lattice.volumes[:, None]).T @ centred)
    normal = axes @ (rng.standard_normal(3) * np.sqrt(np.maximum(spread, 1e-12)))
    height = centred @ (normal / np.linalg.norm(normal))
    bend = rng.standard_normal((3, 3)) * rng.uniform(0, 0.5) / max(float(np.ptp(height)), 1e-9)
    height = height + np.einsum("nd,de,ne->n", centred, bend, centred)
    order = np.argsort(height, kind="stable")
    count = int(np.searchsorted(np.cumsum(lattice.volumes[order]), share)) + 1
    side = np.zeros(len(order), dtype=bool)
    side[order[:count]] = True
    return section_of(lattice, side)
