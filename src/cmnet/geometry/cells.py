"""Nearest points among samples of a surface, sorted into cells: much faster than a tree where they are near."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cmnet.geometry.compiled import compiled
from cmnet.geometry.types import Array, Ints, Ints32

MOST = 8  # cells per point, at most: where points lie far apart, so do the cells


@dataclass(frozen=True, eq=False)
class Cells:
    """Points sorted into the cells of a regular grid.

    origin, size, shape : cell (i, j, k) begins at origin + size · (i, j, k)
    starts              : (cells + 1,) int32, the first of the points of each cell
    points, order       : (3, n) float and (n,) int32, the points sorted by their cells, and which of the given they are
    """

    origin: Array
    size: float
    shape: Ints
    starts: Ints32
    points: Array
    order: Ints32

    @staticmethod
    def of(points: Array, size: float) -> Cells:
        """points : (n, 3) float; size : of a cell, about twice the distance of neighbours, or more"""
        low = points.min(axis=0) if len(points) else np.zeros(3)
        extent = points.max(axis=0) - low if len(points) else np.zeros(3)
        size = max(size, float(np.prod(np.maximum(extent, size)) / (MOST * max(len(points), 1))) ** (1 / 3))
        while float(np.prod(np.floor(extent / size) + 1)) > 8 * MOST * max(len(points), 1):  # long and thin
            size *= 2
        shape = (extent / size).astype(np.int64) + 1
        i, j, k = np.minimum((points - low) / size, shape - 1).astype(np.int64).T
        cell = (i * shape[1] + j) * shape[2] + k
        order = np.argsort(cell, kind="stable").astype(np.int32)
        starts = np.zeros(int(shape.prod()) + 1, dtype=np.int32)
        np.cumsum(np.bincount(cell, minlength=len(starts) - 1), out=starts[1:])
        return Cells(low, size, shape, starts, np.ascontiguousarray(points[order].T), order)

    def nearest(self, x: Array, k: int, within: float = np.inf) -> tuple[Array, Ints]:
        """Distances (m, k) and indices (m, k) of the k nearest to x (m, 3), nearest first.

        within : infinity and n stand for those that are not nearer than this
        """
        distance = np.full((len(x), k), np.inf)
        index = np.full((len(x), k), len(self.order), dtype=np.int64)
        grid = self.origin, self.size, self.shape, self.starts, self.points, self.order
        _search(*grid, x, within, distance, index)
        return distance, index

    def nearest_one(self, x: Array, within: float = np.inf) -> tuple[Array, Ints]:
        """The same of the nearest alone: (m,) and (m,)."""
        distance, index = self.nearest(x, 1, within)
        return distance[:, 0], index[:, 0]


@compiled
def _search(
    origin: Array,
    size: float,
    shape: Ints,
    starts: Ints32,
    points: Array,
    order: Ints32,
    x: Array,
    within: float,
    distance: Array,
    index: Ints,
) -> None:
    """Sets distance and index (m, k), which come as infinity and n, of x (m, 3): cubes of cells grow around each."""
    last = distance.shape[1] - 1
    nx, ny, nz = shape
    squares = np.empty(len(order))
    for m in range(len(x)):
        x0, x1, x2 = x[m]
        u, v, w = (x0 - origin[0]) / size, (x1 - origin[1]) / size, (x2 - origin[2]) / size
        i, j, k = int(np.floor(u)), int(np.floor(v)), int(np.floor(w))
        # From x to what is outside its own cell, in cells, at least; cubes that reach the grid, and that cover it
        inner = min(min(min(u - i, 1 - u + i), min(v - j, 1 - v + j)), min(w - k, 1 - w + k))
        r = max(max(max(-i, i - nx + 1), max(-j, j - ny + 1)), max(max(-k, k - nz + 1), 0))
        end = max(max(max(i, nx - 1 - i), max(j, ny - 1 - j)), max(k, nz - 1 - k))
        bound = within * within  # squared distance below which a point is worth finding
        while r <= end and (r == 0 or ((inner + r - 1) * size) ** 2 < bound):
            for a in range(max(i - r, 0), min(i + r, nx - 1) + 1):
                du = max(max(a - u, u - a - 1), 0.0)
                for b in range(max(j - r, 0), min(j + r, ny - 1) + 1):
                    dv = max(max(b - v, v - b - 1), 0.0)
                    if (du * du + dv * dv) * size * size >= bound:
                        continue
                    row = (a * ny + b) * nz
                    # All of the row, or its two ends where the rest has been in a smaller cube
                    outer = r == 0 or abs(a - i) == r or abs(b - j) == r
                    for side in range(1 if outer else 2):
                        if outer:
                            low, high = max(k - r, 0), min(k + r, nz - 1)
                        else:
                            low = high = k - r if side == 0 else k + r
                        if low < 0 or high >= nz or low > high:
                            continue
                        first, final = starts[row + low], starts[row + high + 1]
                        px, py, pz = points[0, first:final], points[1, first:final], points[2, first:final]
                        for p in range(len(px)):  # a loop of its own: several of them at once
                            d0, d1, d2 = x0 - px[p], x1 - py[p], x2 - pz[p]
                            squares[p] = d0 * d0 + d1 * d1 + d2 * d2
                        for p in range(len(px)):
                            square = squares[p]
                            if square < bound:
                                at = last
                                while at > 0 and distance[m, at - 1] > square:
                                    distance[m, at], index[m, at] = distance[m, at - 1], index[m, at - 1]
                                    at -= 1
                                distance[m, at], index[m, at] = square, order[first + p]
                                bound = min(bound, distance[m, last])
            r += 1
        for at in range(last + 1):
            distance[m, at] = np.sqrt(distance[m, at])
