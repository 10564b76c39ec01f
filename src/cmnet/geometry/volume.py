"""A part as a box of voxels: the nearest sample, the distance to it and its sign, looked up for many poses at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy.fft import fftfreq, irfftn, rfftfreq, rfftn
from scipy.ndimage import distance_transform_edt

from cmnet.geometry.compiled import compiled
from cmnet.geometry.pose import Pose
from cmnet.geometry.poses import Moves
from cmnet.geometry.types import Array, Bools, Floats, Floats32, Ints, Ints32

Field = TypeVar("Field", Floats32, Ints32)

Grid = tuple[Floats32, np.float32, Ints]  # origin of a box, one over the size of its voxels, and its shape

CROWDED = 4  # times the voxels asked for, at most: long thin things leave most of their box empty


@dataclass(frozen=True, eq=False)
class Box:
    """A regular grid of voxels. Voxel (i, j, k) has its centre at origin + size · (i, j, k)."""

    origin: Array  # (3,) float
    size: float
    shape: tuple[int, int, int]

    @staticmethod
    def around(points: Array, margin: float, voxels: int, finest: float) -> Box:
        """About `voxels` voxels, none smaller than `finest`, over the points, a margin, and one voxel more around.

        points : (n, 3) float
        """
        low, high = points.min(axis=0) - margin, points.max(axis=0) + margin
        size = max(finest, float(np.prod(high - low) / voxels) ** (1 / 3))
        while float(np.prod((high - low) / size + 4)) > CROWDED * voxels:  # a side of less than a voxel takes four
            size *= 2
        low, high = low - size, high + size
        counts = np.ceil((high - low) / size).astype(int) + 1
        return Box(low, size, (int(counts[0]), int(counts[1]), int(counts[2])))

    def centres(self) -> Floats32:
        """(nx · ny · nz, 3) float32, in the order of a flattened array."""
        index = np.indices(self.shape, dtype=np.float32).reshape(3, -1).T
        return self.origin.astype(np.float32) + np.float32(self.size) * index

    def single(self) -> Grid:
        """The same as `move_into` takes it."""
        return self.origin.astype(np.float32), np.float32(1 / self.size), np.array(self.shape, dtype=np.int64)

    def voxel(self, points: Floats) -> Ints32:
        """(...) int: flat index of the voxel of each point (..., 3), of the nearest one for points outside."""
        scale = points.dtype.type(1 / self.size)
        i, j, k = (
            np.clip((points[..., c] - points.dtype.type(self.origin[c])) * scale + points.dtype.type(0.5), 0, n - 1)
            for c, n in enumerate(self.shape)
        )
        _, ny, nz = self.shape
        return (i.astype(np.int32) * ny + j.astype(np.int32)) * nz + k.astype(np.int32)

    def at(self, field: Field, T_box_points: Pose, points: Floats) -> Field:
        """(n,): what a field (voxels,) says of points (n, 3) after a pose, in one pass over them."""
        said = np.empty(len(points), dtype=field.dtype)
        shift = T_box_points.t - self.origin
        _look_up(field, T_box_points.R / self.size, shift / self.size + 0.5, np.array(self.shape), points, said)
        return said


@compiled
def move_into(poses: Moves, h: int, x: Floats32, grid: Grid, y: Floats32, voxel: Ints32) -> None:
    """Sets y (m, 3) to points x (m, 3) in pose h, and voxel (m,) to the flat indices of their voxels, −1 outside.

    All points at once: references to arrays are counted at every call, which takes longer than to move a point.
    """
    (R, t), (origin, scale, shape) = poses, grid
    half = np.float32(0.5)
    nx, ny, nz = np.int32(shape[0]), np.int32(shape[1]), np.int32(shape[2])
    for m in range(len(x)):
        y0 = R[h, 0, 0] * x[m, 0] + R[h, 0, 1] * x[m, 1] + R[h, 0, 2] * x[m, 2] + t[h, 0]
        y1 = R[h, 1, 0] * x[m, 0] + R[h, 1, 1] * x[m, 1] + R[h, 1, 2] * x[m, 2] + t[h, 1]
        y2 = R[h, 2, 0] * x[m, 0] + R[h, 2, 1] * x[m, 1] + R[h, 2, 2] * x[m, 2] + t[h, 2]
        i = np.int32((y0 - origin[0]) * scale + half)
        j = np.int32((y1 - origin[1]) * scale + half)
        k = np.int32((y2 - origin[2]) * scale + half)
        within = (i >= 0) & (i < nx) & (j >= 0) & (j < ny) & (k >= 0) & (k < nz)
        voxel[m] = (i * ny + j) * nz + k if within else -1
        y[m, 0], y[m, 1], y[m, 2] = y0, y1, y2


@compiled
def _look_up(field: Field, R: Array, t: Array, shape: Ints, points: Floats, said: Field) -> None:
    """Sets said (n,): the field in the voxel of every R · point + t, in the nearest one for those outside."""
    nx, ny, nz = shape
    for n in range(len(points)):
        x, y, z = points[n]
        i = min(max(R[0, 0] * x + R[0, 1] * y + R[0, 2] * z + t[0], 0.0), nx - 1.0)
        j = min(max(R[1, 0] * x + R[1, 1] * y + R[1, 2] * z + t[1], 0.0), ny - 1.0)
        k = min(max(R[2, 0] * x + R[2, 1] * y + R[2, 2] * z + t[2], 0.0), nz - 1.0)
        said[n] = field[(int(i) * ny + int(j)) * nz + int(k)]


def nearest_in_box(box: Box, points: Array, reach: float) -> tuple[Ints32, Floats32]:
    """Of every voxel, the nearest point and its distance; len(points) and infinity beyond `reach`.

    The nearest occupied voxel is found exactly and one of the points in it taken, so that the distance may be too long
    by less than two voxels, and that only where points crowd.
    → (voxels,) int32, (voxels,) float32. The outermost voxels, which stand for all that is outside, are beyond reach.
    """
    inhabitant = np.full(box.shape, len(points), dtype=np.int32)
    if not len(points):
        return inhabitant.ravel(), np.full(inhabitant.size, np.inf, dtype=np.float32)
    inhabitant.reshape(-1)[box.voxel(points)[::-1]] = np.arange(len(points), dtype=np.int32)[::-1]
    nearest = distance_transform_edt(inhabitant == len(points), return_distances=False, return_indices=True)
    index = inhabitant[nearest[0], nearest[1], nearest[2]].ravel()
    distance = np.linalg.norm(box.centres() - points[index].astype(np.float32), axis=1)
    outer = np.ones(box.shape, dtype=bool)
    outer[1:-1, 1:-1, 1:-1] = False
    away = outer.ravel() | (distance > reach)
    distance[away], index[away] = np.inf, len(points)
    return index, distance


def winding_in_box(box: Box, corners: Array) -> Floats32:
    """Winding number of triangles (m, 3, 3) at every voxel: signed crossings from below, the mean over three axes.

    Exact for a closed surface; where the surface has holes, rays along two axes outvote the third.
    → (voxels,) float32
    """
    total = np.zeros(box.shape, dtype=np.float32)
    corners = (corners - box.origin) / box.size
    for axis in range(3):
        order = [(axis + 1) % 3, (axis + 2) % 3, axis]
        shape = tuple(box.shape[k] for k in order)
        counted = _crossings(corners[:, :, order], (shape[0], shape[1], shape[2]))
        total += np.moveaxis(counted, (0, 1, 2), order)
    return total.ravel() / np.float32(3)


def winding_of_cloud(box: Box, points: Array, normals: Array, areas: Array) -> Floats32:
    """Winding number of an oriented cloud at every voxel: 1 inside, 0 outside, between them where that is not known.

    Solves ∇²w = ∇·V by Fourier transform, V being the inward normals times the areas that they stand for, spread over
    the faces of the voxels around them (Kazhdan et al. 2006): all samples have a say, not only the nearest.

    points, normals : (n, 3) float; areas : (n,) float, of the surface that each stands for → (voxels,) float32
    """
    nx, ny, nz = box.shape
    waves = np.meshgrid(fftfreq(nx), fftfreq(ny), rfftfreq(nz), indexing="ij", sparse=True)
    steps = [(1 - np.exp(-2j * np.pi * wave)).astype(np.complex64) for wave in waves]  # differences of neighbours
    bend = sum(np.abs(step) ** 2 for step in steps)
    bend[0, 0, 0] = 1
    divergence = 0
    for axis, step in enumerate(steps):
        shift = box.size / 2 * np.eye(3)[axis]
        divergence = divergence + step * rfftn(_splat(box, points - shift, normals[:, axis] * areas / box.size**2))
    w = irfftn(divergence / bend, box.shape)
    rim = np.ones(box.shape, dtype=bool)
    rim[1:-1, 1:-1, 1:-1] = False
    return np.asarray(w - np.median(w[rim]), dtype=np.float32).ravel()


def _splat(box: Box, points: Array, weights: Array) -> Floats32:
    """(nx, ny, nz): the weights (n,) of points (n, 3), each shared among the eight voxels around it."""
    low = np.floor((points - box.origin) / box.size).astype(np.int64)
    part = (points - box.origin) / box.size - low
    total = np.zeros(int(np.prod(box.shape)))
    for corner in np.ndindex(2, 2, 2):
        share = np.where(corner, part, 1 - part).prod(axis=1)
        at = np.ravel_multi_index(tuple((low + corner).T), box.shape, mode="clip")
        total += np.bincount(at, weights * share, minlength=len(total))
    return total.reshape(box.shape).astype(np.float32)


def _crossings(corners: Array, shape: tuple[int, int, int]) -> Floats32:
    """Signed crossings of the surface below every voxel along the last axis. corners : (m, 3, 3) in voxels"""
    corners = corners + np.array([1.37e-4, 2.71e-4, 0.0])  # no ray runs exactly through an edge of an axis-aligned mesh
    low = np.maximum(np.ceil(corners[:, :, :2].min(axis=1)), 0).astype(int)
    high = np.minimum(np.floor(corners[:, :, :2].max(axis=1)), np.array(shape[:2]) - 1).astype(int)
    spans = np.maximum(high - low + 1, 0)
    count = spans.prod(axis=1)
    face = np.repeat(np.arange(len(corners)), count)
    rank = np.arange(len(face)) - np.repeat(np.cumsum(count) - count, count)
    x, y = low[face, 0] + rank // spans[face, 1], low[face, 1] + rank % spans[face, 1]
    hit, z, sign = _pierced(corners[face], x, y)
    steps = np.zeros((shape[0], shape[1], shape[2] + 1), dtype=np.float32)
    level = np.clip(np.ceil(z[hit]), 0, shape[2]).astype(int)
    np.add.at(steps, (x[hit], y[hit], level), sign[hit])
    return np.cumsum(steps, axis=2)[:, :, :-1]


def _pierced(corners: Array, x: Ints, y: Ints) -> tuple[Bools, Array, Array]:
    """Where vertical lines at (x, y) meet their triangles: whether, at what height, and +1 upon entering the solid."""
    a, b, c = corners.swapaxes(0, 1)
    u, v = b - a, c - a
    area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    dx, dy = x - a[:, 0], y - a[:, 1]
    safe = np.where(area == 0, 1.0, area)
    beta, gamma = (dx * v[:, 1] - dy * v[:, 0]) / safe, (u[:, 0] * dy - u[:, 1] * dx) / safe
    hit = (area != 0) & (beta >= 0) & (gamma >= 0) & (beta + gamma <= 1)
    return hit, a[:, 2] + beta * u[:, 2] + gamma * v[:, 2], -np.sign(area)
