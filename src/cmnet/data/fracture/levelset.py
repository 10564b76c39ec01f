"""Surface nets: the zero level of a sampled field as a closed mesh, one vertex a crossed cell."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Faces = NDArray[np.int64]

_CORNERS = list(product((0, 1), repeat=3))


def surface_nets(values: Array, origin: Array, spacing: float) -> tuple[Array, Faces]:
    """The surface around all negative samples, with normals pointing to the positive side.

    values : (nx, ny, nz) float at origin + spacing * index; the outermost layer must be positive so that it closes
    → vertices (n, 3) float, faces (m, 3) int
    """
    inside = values < 0
    cells = _crossed_cells(inside)
    index = np.argwhere(cells)
    number = np.full(cells.shape, -1, dtype=np.int64)
    number[cells] = np.arange(len(index))
    vertices = index + _mean_crossing(values, index)
    quads = np.concatenate([_quads(inside, number, axis) for axis in range(3)])
    return origin + spacing * vertices, _triangulate(vertices, quads)


def _crossed_cells(inside: NDArray[np.bool_]) -> NDArray[np.bool_]:
    nx, ny, nz = (n - 1 for n in inside.shape)
    count = np.zeros((nx, ny, nz), dtype=np.int8)
    for x, y, z in _CORNERS:
        count += inside[x : nx + x, y : ny + y, z : nz + z]
    return (count > 0) & (count < 8)


def _mean_crossing(values: Array, index: Faces) -> Array:
    """Mean of the zero crossings on the twelve edges of each cell, relative to the cell. → (n, 3) float"""
    corner = {c: values[tuple((index + c).T)] for c in _CORNERS}
    total, count = np.zeros((len(index), 3)), np.zeros(len(index))
    for axis in range(3):
        for low in (c for c in _CORNERS if c[axis] == 0):
            high = tuple(1 if k == axis else low[k] for k in range(3))
            a, b = corner[low], corner[high]
            crossed = (a < 0) != (b < 0)
            place = np.tile(np.array(low, dtype=float), (int(crossed.sum()), 1))
            place[:, axis] = a[crossed] / (a[crossed] - b[crossed])
            total[crossed] += place
            count[crossed] += 1
    return total / count[:, None]


def _quads(inside: NDArray[np.bool_], number: Faces, axis: int) -> Faces:
    """One quad around every crossed grid edge along `axis`. → (n, 4) int"""
    low = np.take(inside, range(inside.shape[axis] - 1), axis)
    high = np.take(inside, range(1, inside.shape[axis]), axis)
    edge = np.argwhere(low != high)
    u, v = (axis + 1) % 3, (axis + 2) % 3
    corners = []
    for du, dv in ((-1, -1), (0, -1), (0, 0), (-1, 0)):
        cell = edge.copy()
        cell[:, u] += du
        cell[:, v] += dv
        corners.append(number[tuple(cell.T)])
    quads = np.stack(corners, axis=1)
    backwards = ~inside[tuple(edge.T)]
    quads[backwards] = quads[backwards][:, ::-1]
    return quads


def _triangulate(vertices: Array, quads: Faces) -> Faces:
    """Split every quad along its shorter diagonal."""
    corner = vertices[quads]
    first = np.linalg.norm(corner[:, 0] - corner[:, 2], axis=1) < np.linalg.norm(corner[:, 1] - corner[:, 3], axis=1)
    a, b = quads[first], quads[~first]
    return np.concatenate([a[:, [0, 1, 2]], a[:, [0, 2, 3]], b[:, [1, 2, 3]], b[:, [1, 3, 0]]])
