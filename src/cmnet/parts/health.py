"""The health of a part: what is mended silently (coincident vertices, internal faces) and what is refused."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cmnet.errors import InputError
from cmnet.parts.part import Part

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

LARGEST = 1e50  # coordinates whose products can still be computed
FEWEST_POINTS = 32  # a cloud of fewer points has no surface to speak of


def merge_coincident(vertices: Array, faces: Ints) -> tuple[Array, Ints]:
    """Give vertices at exactly the same place one index; leave out vertices that no face uses.

    The order is that of first occurrence, never that of the coordinates: a moved mesh keeps its faces array.
    vertices : (n, 3) float, faces : (m, 3) int → (n', 3) float, (m, 3) int
    """
    kept, merged = coincident(vertices, faces)
    return vertices[kept], merged


def coincident(vertices: Array, faces: Ints) -> tuple[Ints, Ints]:
    """What merging keeps: the indices (n',) of the vertices, and the faces (m, 3) in terms of those."""
    groups = _group_rows(vertices + 0.0)  # + 0.0: minus zero is zero
    first = np.unique(groups, return_index=True)[1]
    kept, merged = np.unique(first[groups[faces]], return_inverse=True)
    return kept, merged.reshape(-1, 3).astype(np.int64)


def distinct_points(points: Array) -> Ints:
    """Indices (n',) of the first point at every place, ascending: points given twice would count as area."""
    return np.sort(np.unique(_group_rows(points + 0.0), return_index=True)[1])


def drop_doubled_faces(faces: Ints) -> Ints:
    """Drop every face whose three vertices carry a second face of opposite orientation, and faces without extent.

    Breaking Bad's pieces hold internal faces, each present twice, once from either side. Of a face repeated with the
    same orientation one copy stays. Where nothing would be left (a sheet modelled from both sides), one side stays.
    faces : (m, 3) int → (m', 3) int
    """
    faces = np.asarray(faces, dtype=np.int64).reshape(-1, 3)
    corners = np.sort(faces, axis=1)
    proper = (corners[:, 0] != corners[:, 1]) & (corners[:, 1] != corners[:, 2])
    faces, corners = faces[proper], corners[proper]
    if not len(faces):
        return faces
    # Even permutations of the sorted triple are the ones that ascend cyclically: exactly two ascents in the cycle.
    even = (faces < np.roll(faces, -1, axis=1)).sum(axis=1) == 2
    groups = _group_rows(corners)
    balance = np.bincount(groups, np.where(even, 1, -1))
    wanted = np.where(even, 1, -1) == np.sign(balance)[groups]
    if not wanted.any():
        wanted = even
    firsts = np.unique(np.where(wanted, groups, -1), return_index=True)
    return faces[np.sort(firsts[1][firsts[0] >= 0])]


def _group_rows(rows: Ints | Array) -> Ints:
    """(m,) int: equal rows get equal numbers, 0 ... groups - 1."""
    order = np.lexsort(rows.T)
    starts = np.ones(len(rows), dtype=np.int64)
    starts[1:] = (rows[order[1:]] != rows[order[:-1]]).any(axis=1)
    groups = np.empty(len(rows), dtype=np.int64)
    groups[order] = np.cumsum(starts) - 1
    return groups


def is_watertight(faces: Ints) -> bool:
    """Whether the surface is closed: along every edge as many faces run one way as the other. faces : (m, 3) int"""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    direction = np.where(edges[:, 0] < edges[:, 1], 1, -1)
    return not np.bincount(_group_rows(np.sort(edges, axis=1)), direction).any()


def check_part(part: Part) -> Part:
    """The part itself, or an InputError that says what is wrong with it."""
    where = str(part.file) if part.file is not None else f"part {part.name!r}"
    n = len(part.vertices)
    bad = int((~np.isfinite(part.vertices)).any(axis=1).sum())
    if n == 0 or (part.faces is not None and len(part.faces) == 0):
        raise InputError(f"{where} is empty: it has {n} vertices and no face; export the fragment again")
    if bad:
        raise InputError(
            f"{where}: {bad} of {n} vertices are not finite numbers (NaN or inf); remove them, or export again"
        )
    if np.abs(part.vertices).max() > LARGEST:
        raise InputError(
            f"{where}: coordinates beyond {LARGEST:g} in any unit are a mistake; export the fragment again"
        )
    if part.faces is None:
        _check_cloud(part, where)
    elif part.faces.min() < 0 or part.faces.max() >= n:
        raise InputError(f"{where}: a face names a vertex that is not there ({n} vertices); the file may be truncated")
    elif not part.area > 0:
        raise InputError(f"{where}: all faces together have no area; export the fragment again as a triangle mesh")
    return part


def _check_cloud(part: Part, where: str) -> None:
    n = len(part.vertices)
    if n < FEWEST_POINTS:
        raise InputError(f"{where} holds {n} points and no faces; export at least {FEWEST_POINTS} points, or a mesh")
    if not np.ptp(part.vertices, axis=0).max() > 0:
        raise InputError(f"{where}: all {n} points lie in one place; export the fragment again")
    if part.normals is not None and part.normals.shape != part.vertices.shape:
        raise InputError(f"{where}: {len(part.normals)} normals for {n} points; give one normal a point, or none")


def require_parts(parts: Sequence[Part], minimum: int = 2) -> None:
    """Refuse fewer parts than the caller needs."""
    if len(parts) < minimum:
        found = f"only {parts[0].file or parts[0].name}" if len(parts) == 1 else f"{len(parts)} parts"
        raise InputError(f"at least {minimum} parts are needed, found {found}; give one file per fragment")
