"""Cutting a solid along the zero level of a field. What one side loses the other side gains, to the last bit."""

from __future__ import annotations

from dataclasses import dataclass

import manifold3d
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from cmnet.data.fracture.lattice import Lattice
from cmnet.data.fracture.levelset import surface_nets
from cmnet.data.fracture.roughness import Roughness, grid_noise, linear_weights, tensor_product
from cmnet.data.fracture.solid import CRUMB, Solid, bodies, make_body

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

CELLS = 50_000  # samples of the grid that a cutter is made of
THIN = 0.12  # a body thinner than this share of the object's V/A is a sliver


@dataclass(frozen=True)
class Limits:
    """What a piece must have to count as one."""

    volume: float  # least volume
    thickness: float  # least V/A


@dataclass(frozen=True, eq=False)
class Section:
    """A smooth signed distance to the middle of a crack, on a box of voxels.

    values : (nx, ny, nz) float at origin + spacing * index, negative on the side to be cut off
    """

    values: Array
    origin: Array
    spacing: float
    extent: float  # how large the crack is, as a length


def section_of(lattice: Lattice, side: Bools, smoothing: float = 0.9) -> Section | None:
    """The section between the nodes in `side` and the others, or None if it does not part them.

    Space beyond the material belongs to the nearest node, which makes the crack cross a wall at a right angle.
    """
    side = _connected(lattice, side)
    crossed = side[lattice.edges[:, 0]] != side[lattice.edges[:, 1]]
    if not crossed.any():
        return None
    if lattice.volumes[side].sum() > 0.5:
        side = ~side
    grid = side[lattice.nearest]
    box = _box(lattice, side)
    grid = grid[box]
    if grid.all():
        return None
    distance = ndimage.distance_transform_edt(~grid) - ndimage.distance_transform_edt(grid)
    distance = ndimage.gaussian_filter(distance, smoothing, mode="nearest")
    start = np.array([s.start for s in box])
    distance -= _offset(lattice, side, distance, start)
    crossing = lattice.points[lattice.edges[crossed].ravel()]
    extent = float(np.linalg.norm(np.ptp(crossing, axis=0))) + lattice.spacing
    return Section(distance * lattice.spacing, lattice.origin + lattice.spacing * start, lattice.spacing, extent)


def _connected(lattice: Lattice, side: Bools) -> Bools:
    """The largest connected share of `side`, with the islands that it encloses."""
    for _ in range(2):  # the second round does for the other side what the first does for this one
        side = ~_largest_component(lattice, side)
    return side


def _largest_component(lattice: Lattice, side: Bools) -> Bools:
    a, b = lattice.edges.T
    kept = side[a] & side[b]
    graph = coo_array((np.ones(int(kept.sum())), (a[kept], b[kept])), shape=(len(side), len(side)))
    _, label = connected_components(graph, directed=False)
    weight = np.bincount(label, weights=lattice.volumes * side)
    return side & (label == weight.argmax())


def _box(lattice: Lattice, side: Bools, margin: int = 2) -> tuple[slice, slice, slice]:
    cells = lattice.cells[side]
    low = np.maximum(cells.min(axis=0) - margin, 0)
    high = np.minimum(cells.max(axis=0) + margin + 1, lattice.shape)
    x, y, z = (slice(int(a), int(b)) for a, b in zip(low, high, strict=True))
    return x, y, z


def _offset(lattice: Lattice, side: Bools, distance: Array, start: NDArray[np.int64]) -> float:
    """The level at which the smoothed section cuts off as much material as the nodes of `side` hold."""
    cells = lattice.cells - start
    within = ((cells >= 0) & (cells < distance.shape)).all(axis=1)
    value = distance[tuple(cells[within].T)]
    order = np.argsort(value, kind="stable")
    held = np.cumsum(lattice.volumes[within][order])
    k = int(np.searchsorted(held, lattice.volumes[side].sum()))
    level = float(value[order[min(k, len(order) - 1)]])
    return float(np.clip(level, -1.0, 1.0))


def cutter(section: Section, roughness: Roughness, rng: np.random.Generator) -> manifold3d.Manifold | None:
    """The closed body on the negative side of the roughened section, or None if nothing is left of it."""
    extent = section.spacing * (np.array(section.values.shape) - 1)
    step = float((np.prod(extent) / CELLS) ** (1 / 3))
    counts = np.maximum(np.ceil(extent / step).astype(int) + 1, 4)
    axes = [section.origin[k] + step * np.arange(counts[k]) for k in range(3)]
    weights = [linear_weights((axes[k] - section.origin[k]) / section.spacing, section.values.shape[k]) for k in range(3)]
    fine = Roughness(roughness.amplitude, roughness.longest, max(roughness.shortest, 2 * step), roughness.exponent)
    values = tensor_product(section.values, weights) + grid_noise(axes, fine, rng)
    values = np.pad(values, 1, constant_values=step)
    if not (values < 0).any():
        return None
    vertices, faces = surface_nets(values, section.origin - step, step)
    return make_body(vertices, faces)


def split(solid: Solid, tool: manifold3d.Manifold, limits: Limits) -> tuple[list[Solid], list[Solid]] | None:
    """Cut a solid with a closed tool. → the bodies inside and those outside, or None if a side has none.

    Bodies too small or too thin to be pieces go back to the neighbour they were cut from: no volume is ever dropped.
    """
    inner, outer = solid.body.split(tool)
    crumb = CRUMB * solid.volume
    sides = [bodies(inner, crumb), bodies(outer, crumb)]
    kept = [[s for s in side if _is_piece(s, limits)] for side in sides]
    if not kept[0] or not kept[1]:
        return None
    for k in (0, 1):
        for sliver in (s for s in sides[k] if not _is_piece(s, limits)):
            others = give_back(sliver, kept[1 - k], crumb)
            if others is None:
                return None
            kept[1 - k] = others
    if not np.isclose(sum(s.volume for side in kept for s in side), solid.volume, rtol=1e-9, atol=0):
        return None
    return kept[0], kept[1]


def _is_piece(solid: Solid, limits: Limits) -> bool:
    return solid.volume >= limits.volume and solid.volume >= limits.thickness * solid.area


def give_back(sliver: Solid, others: list[Solid], crumb: float) -> list[Solid] | None:
    """Join a body to the first of `others` that it touches. → `others` with that one grown, or None if none does."""
    for k, other in enumerate(others):
        joined = bodies(sliver.body + other.body, crumb)
        if len(joined) == 1:
            return [*others[:k], joined[0], *others[k + 1 :]]
    return None
