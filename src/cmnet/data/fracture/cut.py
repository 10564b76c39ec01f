"""Cutting a solid along the zero level of a field. What one side loses the other side gains, to the last bit."""

from __future__ import annotations

from dataclasses import dataclass, replace

import manifold3d
import numpy as np
from scipy import ndimage
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from cmnet.data.fracture.lattice import Lattice, surface_per_voxel
from cmnet.data.fracture.levelset import surface_nets, without_touching_corners
from cmnet.data.fracture.roughness import Roughness, grid_noise, linear_weights, tensor_product
from cmnet.data.fracture.solid import CRUMB, Solid, bodies, make_body
from cmnet.geometry.types import Array, Bools, Ints

CELLS = 50_000  # samples of the grid that a cutter is made of
COMPACT = 0.08  # V/A over the cube root of V below which a body is a sliver; 0.2 for a ball, 0.17 for a cube
ROUNDS = 3  # times a crack is bent around a third body


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
    roughness: float = 1.0  # how rough it is, relative to other cracks of its size


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


def _offset(lattice: Lattice, side: Bools, distance: Array, start: Ints) -> float:
    """The level at which the smoothed section cuts off as much material as the nodes of `side` hold."""
    cells = lattice.cells - start
    within = ((cells >= 0) & (cells < distance.shape)).all(axis=1)
    value = distance[tuple(cells[within].T)]
    order = np.argsort(value, kind="stable")
    held = np.cumsum(lattice.volumes[within][order])
    k = int(np.searchsorted(held, lattice.volumes[side].sum()))
    level = float(value[order[min(k, len(order) - 1)]])
    return float(np.clip(level, -1.0, 1.0))


@dataclass(frozen=True, eq=False)
class _Grid:
    """The roughened section, sampled finely enough for its grain; the outermost layer is positive."""

    values: Array
    origin: Array
    step: float

    def body(self) -> manifold3d.Manifold | None:
        """The closed body on the negative side."""
        values = without_touching_corners(self.values)
        return make_body(*surface_nets(values, self.origin, self.step)) if (values < 0).any() else None

    def without(self, solid: Solid, sign: float) -> _Grid:
        """The same section with all of `solid` on its positive (+1) or negative (-1) side."""
        corners = solid.mesh.vertices[solid.mesh.faces]
        near = surface_per_voxel(corners, self.origin, self.step, self.values.shape) > 0
        near = ndimage.binary_dilation(ndimage.binary_fill_holes(near))
        near[[0, -1]] = near[:, [0, -1]] = near[:, :, [0, -1]] = False
        pushed = sign * np.maximum(sign * self.values, 0.5 * self.step)
        return _Grid(np.where(near, pushed, self.values), self.origin, self.step)


def _roughened(section: Section, roughness: Roughness, rng: np.random.Generator) -> _Grid:
    shape, spacing = section.values.shape, section.spacing
    extent = spacing * (np.array(shape) - 1)
    step = float((np.prod(extent) / CELLS) ** (1 / 3))
    axes = [section.origin[k] + step * np.arange(max(int(np.ceil(extent[k] / step)) + 1, 4)) for k in range(3)]
    weights = [linear_weights((axes[k] - section.origin[k]) / spacing, shape[k]) for k in range(3)]
    grain = replace(roughness, shortest=max(roughness.shortest, 2 * step))
    values = tensor_product(section.values, weights) + grid_noise(axes, grain, rng)
    return _Grid(np.pad(values, 1, constant_values=step), section.origin - step, step)


def cut(
    solid: Solid, section: Section, roughness: Roughness, limits: Limits, rng: np.random.Generator
) -> tuple[Solid, Solid] | None:
    """Cut a solid in two connected bodies along a roughened section, or None if that fails.

    Where the crack would part off a third body, it is bent around it, so no volume is ever dropped.
    """
    grid = _roughened(section, roughness, rng)
    for _ in range(ROUNDS):
        tool = grid.body()
        if tool is None:
            return None
        sides = [bodies(side, CRUMB * solid.volume) for side in solid.body.split(tool)]
        if not sides[0] or not sides[1]:
            return None
        extra = [(body, sign) for side, sign in zip(sides, (1.0, -1.0), strict=True) for body in side[1:]]
        if not extra:
            pair = sides[0][0], sides[1][0]
            return pair if _are_pieces(solid, pair, limits) else None
        for body, sign in extra:
            grid = grid.without(body, sign)
    return None


def _least_thickness(body: Solid, limits: Limits) -> float:
    """Small pieces are thin because they are small; a sliver is thin for its size too."""
    return min(limits.thickness, COMPACT * body.volume ** (1 / 3))


def _are_pieces(whole: Solid, pair: tuple[Solid, Solid], limits: Limits) -> bool:
    """Large and thick enough, not enclosed by the other, and without new edges too short for a file."""
    sound = all(body.volume >= max(limits.volume, _least_thickness(body, limits) * body.area) for body in pair)
    # Sources are numbered in the order of their making, so a body that is all tool was cut out of the inside.
    enclosed = any((body.mesh.source == body.mesh.source.max()).all() for body in pair)
    return sound and not enclosed and all(body.short_edges <= whole.short_edges for body in pair)
