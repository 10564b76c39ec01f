"""Weakest section: objects break where little material holds them together.

The lattice of the solid gets random weaknesses. Its slow modes, and the potentials between two of its points, change
fastest where the material is thin: their level sets run through necks, handles and stems. Among the level sets that
cut off about the wanted share, the cheapest one is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import SuperLU, splu

from cmnet.data.fracture.cut import Section, section_of
from cmnet.data.fracture.lattice import Lattice
from cmnet.data.fracture.solid import Solid
from cmnet.geometry.types import Array, Ints

MODES = 5
DIPOLES = 4
SOURCES = 5
WINDOW = 2.0  # the share cut off may differ from the wanted one by this factor
LEAST_NODES = 10  # below this many voxels the lattice cannot carry a section


@dataclass(frozen=True, eq=False)
class _Cut:
    order: Ints
    count: int
    cost: float


def propose(solid: Solid, share: float, rng: np.random.Generator) -> Section | None:
    """A cheap section that cuts off about `share` (at most one half) of the volume."""
    return _propose(solid, share, rng, DIPOLES, MODES)


def propose_at_rim(solid: Solid, share: float, rng: np.random.Generator) -> Section | None:
    """The same, but only around points where a blow or a fall would hit."""
    return _propose(solid, share, rng, dipoles=0, modes=0)


def _propose(solid: Solid, share: float, rng: np.random.Generator, dipoles: int, modes: int) -> Section | None:
    lattice = solid.lattice
    if share * len(lattice.cells) < LEAST_NODES:
        return None
    strength = edge_strength(lattice, rng)
    fields = _fields(lattice, strength, dipoles, modes, rng)
    found = [cut for cut in (_cheapest(lattice, strength, field, share) for field in fields.T) if cut is not None]
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
    flaws = (_waves(lattice, 0.5, rng) + _waves(lattice, 0.2, rng)) * rng.uniform(0.3, 0.9)
    grain = 0.4 * rng.standard_normal(len(a))
    return np.asarray(np.minimum(lattice.fill[a], lattice.fill[b]) * np.exp((flaws[a] + flaws[b]) / 2 + grain))


def _waves(lattice: Lattice, wavelength: float, rng: np.random.Generator, count: int = 12) -> Array:
    """Smooth unit-variance noise at the nodes, its wavelength relative to the lattice's extent. → (n,) float"""
    length = wavelength * lattice.spacing * max(lattice.shape)
    direction = rng.standard_normal((3, count)) * (2 * np.pi / length / np.sqrt(3))
    phase = rng.uniform(0, 2 * np.pi, count)
    return np.asarray(np.cos(lattice.points @ direction + phase).sum(axis=1) * np.sqrt(2 / count))


def _fields(lattice: Lattice, strength: Array, dipoles: int, modes: int, rng: np.random.Generator) -> Array:
    """Slow modes and dipole potentials, each with both signs, and the potentials of exposed points. → (n, fields)"""
    n = len(lattice.cells)
    mass = lattice.volumes * n
    factor = _factor(lattice, strength, mass)
    slow = _slow_modes(factor, mass, modes, rng)
    loads = np.zeros((n, dipoles + SOURCES))
    ends = rng.choice(n, size=(2, dipoles))
    loads[ends[0], np.arange(dipoles)] += 1
    loads[ends[1], np.arange(dipoles)] -= 1
    loads[rng.choice(n, size=SOURCES, p=lattice.exposure), dipoles + np.arange(SOURCES)] = 1
    potentials = factor.solve(loads)
    return np.concatenate([slow, -slow, potentials[:, :dipoles], -potentials], axis=1)


def _factor(lattice: Lattice, strength: Array, mass: Array) -> SuperLU:
    """The factorised stiffness of the lattice, held in place by a weak spring everywhere."""
    n = len(mass)
    a, b = lattice.edges.T
    links = sparse.coo_array((strength, (a, b)), shape=(n, n))
    links = links + links.T
    stiffness = sparse.diags_array(np.asarray(links.sum(axis=0)).ravel() + 1e-4 * strength.mean() * mass) - links
    return splu(stiffness.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})


def _slow_modes(factor: SuperLU, mass: Array, modes: int, rng: np.random.Generator) -> Array:
    """Slow modes by inverse iteration of a random block, without the constant one. → (n, modes) float"""
    block = rng.standard_normal((len(mass), modes + 2 if modes else 0))
    for _ in range(3 if modes else 0):
        block = factor.solve(mass[:, None] * (block - (mass[:, None] * block).mean(axis=0)))
        block, _ = np.linalg.qr(np.sqrt(mass)[:, None] * block)
        block /= np.sqrt(mass)[:, None]
    return block[:, :modes]


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
