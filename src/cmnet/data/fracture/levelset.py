"""Surface nets: the zero level of a sampled field as a closed mesh, one vertex a crossed cell."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from cmnet.geometry.types import Array, Bools, Ints

_CORNERS = list(product((0, 1), repeat=3))


def surface_nets(values: Array, origin: Array, spacing: float) -> tuple[Array, Ints]:
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


def without_touching_corners(values: Array) -> Array:
    """The field with negative samples removed that touch others only across an edge or a corner of the grid.

    There the surface would meet itself in an edge or a point, which most mesh readers take for a hole.
    """
    values = values.copy()
    while True:
        flips = [_face_diagonals(values, axis) for axis in range(3)] + [_cube_diagonals(values)]
        weaker = np.unique(np.concatenate(flips))
        if len(weaker) == 0:
            return values
        # Only ever removing negative samples, this comes to an end.
        values.flat[weaker] = 0.05 * np.abs(values.flat[weaker]) + 1e-9


def _face_diagonals(values: Array, axis: int) -> Ints:
    """Flat indices of the weaker negative sample of every grid face whose signs are those of a chessboard."""
    index = np.arange(values.size).reshape(values.shape)
    u, v = (axis + 1) % 3, (axis + 2) % 3

    def corner(array: NDArray, i: int, j: int) -> NDArray:
        n, m = array.shape[u], array.shape[v]
        return array.take(range(i, n - 1 + i), axis=u).take(range(j, m - 1 + j), axis=v)

    inside = values < 0
    a, b, c, d = (corner(inside, i, j) for i, j in ((0, 0), (1, 1), (0, 1), (1, 0)))
    chess = (a == b) & (c == d) & (a != c)
    first = np.where(a, corner(index, 0, 0), corner(index, 0, 1))[chess]
    second = np.where(a, corner(index, 1, 1), corner(index, 1, 0))[chess]
    return np.where(values.flat[first] > values.flat[second], first, second)


def _cube_diagonals(values: Array) -> Ints:
    """Flat indices of a negative sample of every cube in which only two opposite corners have one sign."""
    inside = values < 0
    nx, ny, nz = (n - 1 for n in values.shape)
    index = np.arange(values.size).reshape(values.shape)
    signs = np.stack([inside[x : nx + x, y : ny + y, z : nz + z] for x, y, z in _CORNERS])
    count = signs.sum(axis=0)
    found = []
    for k in range(4):
        pair = signs[k] & signs[7 - k] & (count == 2)
        x, y, z = _CORNERS[k]
        found.append(index[x : nx + x, y : ny + y, z : nz + z][pair])
        # Two opposite corners outside: closing them would add material, so one more neighbour is taken away.
        pair = ~signs[k] & ~signs[7 - k] & (count == 6)
        x, y, z = _CORNERS[k ^ 1]
        found.append(index[x : nx + x, y : ny + y, z : nz + z][pair])
    return np.concatenate(found)


def _crossed_cells(inside: Bools) -> Bools:
    nx, ny, nz = (n - 1 for n in inside.shape)
    count = np.zeros((nx, ny, nz), dtype=np.int8)
    for x, y, z in _CORNERS:
        count += inside[x : nx + x, y : ny + y, z : nz + z]
    return (count > 0) & (count < 8)


def _mean_crossing(values: Array, index: Ints) -> Array:
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


def _quads(inside: Bools, number: Ints, axis: int) -> Ints:
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


def _triangulate(vertices: Array, quads: Ints) -> Ints:
    """Split every quad along its shorter diagonal."""
    corner = vertices[quads]
    first = np.linalg.norm(corner[:, 0] - corner[:, 2], axis=1) < np.linalg.norm(corner[:, 1] - corner[:, 3], axis=1)
    a, b = quads[first], quads[~first]
    return np.concatenate([a[:, [0, 1, 2]], a[:, [0, 2, 3]], b[:, [1, 2, 3]], b[:, [1, 3, 0]]])
