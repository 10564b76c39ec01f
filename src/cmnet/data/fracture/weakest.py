"""Weakest section: objects break where little material holds them together.

The lattice of the solid gets random weaknesses. Its slow modes, and the potentials between two of its points, change
fastest where the material is thin: their level sets run through necks, handles and stems. Among the level sets that
cut off about the wanted share, the cheapest one is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

from cmnet.data.fracture.cut import Section, section_of
from cmnet.data.fracture.lattice import Lattice
from cmnet.data.fracture.solid import Solid

Array = NDArray[np.float64]

MODES = 5
DIPOLES = 4
SOURCES = 5
WINDOW = 1.45  # the share cut off may differ from the wanted one by this factor
LEAST_NODES = 10  # below this many voxels the lattice cannot carry a section


@dataclass(frozen=True, eq=False)
class _Cut:
    order: NDArray[np.int64]
    count: int
    cost: float


def propose(solid: Solid, share: float, rng: np.random.Generator) -> Section | None:
    """A cheap section that cuts off about `share` (at most one half) of the volume."""
    lattice = solid.lattice
    if share * len(lattice.cells) < LEAST_NODES:
        return None
    strength = edge_strength(lattice, rng)
    cuts = [_cheapest(lattice, strength, field, share) for field in _fields(lattice, strength, rng).T]
    found = [cut for cut in cuts if cut is not None]
    if not found:
        return None
    cost = np.array([cut.cost for cut in found]) * np.exp(0.25 * rng.standard_normal(len(found)))
    best = found[int(cost.argmin())]
    side = np.zeros(len(lattice.cells), dtype=bool)
    side[best.order[: best.count]] = True
    return section_of(lattice, side)


def edge_strength(lattice: Lattice, rng: np.random.Generator) -> Array:
    """How strongly neighbouring voxels hold together: by their material, with flaws at random. → (e,) float"""
    a, b = lattice.edges.T
    flaws = sum(_waves(lattice, wavelength, rng) for wavelength in (0.5, 0.2)) * rng.uniform(0.3, 0.9)
    grain = 0.4 * rng.standard_normal(len(a))
    return np.asarray(np.minimum(lattice.fill[a], lattice.fill[b]) * np.exp((flaws[a] + flaws[b]) / 2 + grain))


def _waves(lattice: Lattice, wavelength: float, rng: np.random.Generator, count: int = 12) -> Array:
    """Smooth unit-variance noise at the nodes, its wavelength relative to the lattice's extent. → (n,) float"""
    length = wavelength * lattice.spacing * max(lattice.shape)
    direction = rng.standard_normal((3, count)) * (2 * np.pi / length / np.sqrt(3))
    phase = rng.uniform(0, 2 * np.pi, count)
    return np.asarray(np.cos(lattice.points @ direction + phase).sum(axis=1) * np.sqrt(2 / count))


def _fields(lattice: Lattice, strength: Array, rng: np.random.Generator) -> Array:
    """Slow modes, dipole potentials and point potentials, each with both signs where they differ. → (n, fields)"""
    n = len(lattice.cells)
    a, b = lattice.edges.T
    matrix = sparse.coo_array((strength, (a, b)), shape=(n, n))
    matrix = matrix + matrix.T
    mass = lattice.volumes * n
    stiffness = sparse.diags_array(np.asarray(matrix.sum(axis=0)).ravel()) - matrix
    shifted = (stiffness + sparse.diags_array(1e-4 * strength.mean() * mass)).tocsc()
    factor = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    modes = rng.standard_normal((n, MODES + 2))
    for _ in range(3):  # inverse iteration, without the constant mode
        modes = factor.solve(mass[:, None] * (modes - (mass[:, None] * modes).mean(axis=0)))
        modes, _ = np.linalg.qr(np.sqrt(mass)[:, None] * modes)
        modes /= np.sqrt(mass)[:, None]
    modes = modes[:, :MODES]
    loads = np.zeros((n, DIPOLES + SOURCES))
    ends = rng.choice(n, size=(2, DIPOLES))
    loads[ends[0], np.arange(DIPOLES)] += 1
    loads[ends[1], np.arange(DIPOLES)] -= 1
    # Point sources sit where a blow or a fall would hit: rims, tips and corners.
    exposed = lattice.exposure**4
    loads[rng.choice(n, size=SOURCES, p=exposed / exposed.sum()), DIPOLES + np.arange(SOURCES)] = 1
    potentials = factor.solve(loads)
    return np.concatenate([modes, -modes, potentials[:, :DIPOLES], -potentials], axis=1)


def _cheapest(lattice: Lattice, strength: Array, field: Array, share: float) -> _Cut | None:
    """The cheapest level of the field, among those below which about `share` of the volume lies."""
    order = np.argsort(field, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    low, high = np.sort(rank[lattice.edges], axis=1).T
    # An edge is cut by every level between the ranks of its two ends.
    change = np.bincount(low, strength, len(order)) - np.bincount(high, strength, len(order))
    cost = np.cumsum(change)
    held = np.cumsum(lattice.volumes[order])
    allowed = ((held > share / WINDOW) & (held < min(share * WINDOW, 0.7))).nonzero()[0]
    if len(allowed) == 0:
        return None
    k = allowed[cost[allowed].argmin()]
    return _Cut(order, int(k) + 1, float(cost[k]))
