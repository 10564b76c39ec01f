"""A voxel lattice of a solid: where there is material, how much, and how its voxels hang together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import ndimage
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from cmnet.geometry.triangles import areas, winding_number
from cmnet.geometry.types import Array, Bools, Ints

NODES = 3200  # aimed at; a sparse factorisation of this size takes ~25 ms
SAMPLES_PER_FACE = 14  # surface samples per voxel face area, so that no crossed voxel is overlooked
MARGIN = 2  # empty voxels around the solid


@dataclass(frozen=True, eq=False)
class Lattice:
    """The voxels that hold material.

    origin : (3,) float, centre of voxel (0, 0, 0);  spacing : edge of a voxel;  shape : voxels along each axis
    cells  : (n, 3) int, the voxels with material;  fill : (n,) float in (0, 1], how much of each is material
    edges  : (e, 2) int, neighbours across a voxel face
    """

    origin: Array
    spacing: float
    shape: tuple[int, int, int]
    cells: Ints
    fill: Array
    edges: Ints

    @cached_property
    def points(self) -> Array:
        """(n, 3) float: the voxels' centres."""
        return self.origin + self.spacing * self.cells

    @cached_property
    def volumes(self) -> Array:
        """(n,) float: each voxel's share of the material, adding up to 1."""
        return self.fill / self.fill.sum()

    @cached_property
    def nearest(self) -> Ints:
        """(nx, ny, nz) int: the node nearest to every voxel, with or without material."""
        empty = np.ones(self.shape, dtype=bool)
        empty[tuple(self.cells.T)] = False
        index = ndimage.distance_transform_edt(empty, return_distances=False, return_indices=True)
        return self.number[tuple(index)]

    @cached_property
    def number(self) -> Ints:
        """(nx, ny, nz) int: the node of every voxel, -1 without material."""
        number = np.full(self.shape, -1, dtype=np.int64)
        number[tuple(self.cells.T)] = np.arange(len(self.cells))
        return number

    @cached_property
    def exposure(self) -> Array:
        """(n,) float, adding up to 1: how likely a blow or a fall hits each voxel; rims, tips and corners first."""
        full = np.zeros(self.shape)
        full[tuple(self.cells.T)] = 1.0
        around = ndimage.uniform_filter(full, size=5, mode="constant")[tuple(self.cells.T)]
        likely = around**-2.5
        return np.asarray(likely / likely.sum())


def build_lattice(vertices: Array, faces: Ints, volume: float, area: float, nodes: int = NODES) -> Lattice:
    """The lattice of a closed mesh, with about `nodes` voxels. vertices : (n, 3) float, faces : (m, 3) int"""
    corners = vertices[faces]
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    spacing = _spacing(volume, area, nodes, high - low)
    origin = low - MARGIN * spacing
    shape = tuple(int(n) for n in np.ceil((high - low) / spacing) + 2 * MARGIN + 1)
    covered = surface_per_voxel(corners, origin, spacing, shape)
    fill = np.clip(covered / spacing**2 * (volume / area) / spacing, 0.05, 0.6) * (covered > 0)
    fill[_interior(covered > 0, corners, origin, spacing)] = 1.0
    fill[_specks(fill > 0)] = 0.0
    cells = np.argwhere(fill > 0)
    return Lattice(origin, spacing, shape, cells, fill[tuple(cells.T)], _edges(fill > 0))  # type: ignore[arg-type]


def _specks(full: Bools) -> Bools:
    """Voxels that the surface merely grazes, so that they hang together with nothing."""
    label, _ = ndimage.label(full)
    count = np.bincount(label.ravel())
    return (count < 0.01 * full.sum())[label] & full


def _spacing(volume: float, area: float, nodes: int, extent: Array) -> float:
    """The edge at which volume and surface together cross about `nodes` voxels."""
    low, high = 1e-4 * float(extent.max()), float(extent.max())
    for _ in range(40):
        middle = np.sqrt(low * high)
        crossed = volume / middle**3 + 0.9 * area / middle**2
        low, high = (middle, high) if crossed > nodes else (low, middle)
    return float(max(high, (np.prod(np.maximum(extent, high)) / 150_000) ** (1 / 3)))


def surface_per_voxel(corners: Array, origin: Array, spacing: float, shape: tuple[int, ...]) -> Array:
    """How much surface every voxel holds, by stratified samples of the triangles (m, 3, 3). → `shape` float"""
    area = areas(corners)
    count = int(np.clip(SAMPLES_PER_FACE * area.sum() / spacing**2, 500, 80_000))
    step = (np.arange(count) + 0.5) / count
    face = np.searchsorted(np.cumsum(area), step * area.sum()).clip(0, len(area) - 1)
    # The R2 sequence fills the triangle evenly without a random source, so a solid has one lattice.
    u, v = (0.7548776662466927 * np.arange(count)) % 1, (0.5698402909980532 * np.arange(count)) % 1
    u, v = np.where(u + v > 1, 1 - u, u)[:, None], np.where(u + v > 1, 1 - v, v)[:, None]
    a, b, c = corners[face, 0], corners[face, 1], corners[face, 2]
    voxel = np.rint((a + u * (b - a) + v * (c - a) - origin) / spacing).astype(np.int64)
    voxel = voxel[((voxel >= 0) & (voxel < shape)).all(axis=1)]
    flat = np.ravel_multi_index(tuple(voxel.T), shape)
    held = np.bincount(flat, minlength=int(np.prod(shape))) * (area.sum() / count)
    return held.reshape(shape)


def _interior(surface: Bools, corners: Array, origin: Array, spacing: float) -> Bools:
    """The voxels that the surface does not cross and that lie inside it. → bool like `surface`"""
    label, count = ndimage.label(~surface)
    outside = label[0, 0, 0]
    inside = np.zeros(count + 1, dtype=bool)
    # A closed pocket of free voxels is material or a hollow: one point of it tells which.
    where = ndimage.find_objects(label)
    for k in range(1, count + 1):
        if k != outside:
            first = np.argwhere(label[where[k - 1]] == k)[0] + [s.start for s in where[k - 1]]
            inside[k] = winding_number(corners, origin + spacing * first) > 0.5
    return inside[label]


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


def _edges(full: Bools) -> Ints:
    number = np.full(full.shape, -1, dtype=np.int64)
    number[full] = np.arange(int(full.sum()))
    edges = []
    for axis in range(3):
        a = np.take(number, range(full.shape[axis] - 1), axis).ravel()
        b = np.take(number, range(1, full.shape[axis]), axis).ravel()
        both = (a >= 0) & (b >= 0)
        edges.append(np.stack([a[both], b[both]], axis=1))
    return np.concatenate(edges)
