"""The health of a part: what is mended silently (coincident vertices, internal faces) and what is refused."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from cmnet.errors import InputError
from cmnet.geometry.trees import nearest_few
from cmnet.geometry.types import Array, Bools, Ints
from cmnet.parts.part import Part

LARGEST = 1e50  # coordinates whose products can still be computed
THIN = 1e-5  # area of a mesh over the square of its size: what has less is no surface, or finer than a hair
FEWEST_POINTS = 32  # a cloud of fewer points has no surface to speak of
STRAY = 30.0  # times as far out as all the rest: what lies there is a mistake,
FEW = 1000  # if it is no more than one vertex of so many
BESIDE = 8  # neighbours that a point of a cloud has on its surface
ALONE = 3.0  # times as far from those as they are from theirs: a point that was measured in the air,
SOME = 0.1  # if fewer than this share of the points are


def coincident(vertices: Array, faces: Ints) -> tuple[Ints, Ints]:
    """Give vertices at exactly the same place one index; leave out vertices that no face uses.

    The order is that of first occurrence, never that of the coordinates: a moved mesh keeps its faces array.
    vertices : (n, 3) float, faces : (m, 3) int → indices (n',) of the vertices kept, faces (m, 3) in terms of those
    """
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


def check_part(part: Part) -> Part:
    """The part itself, or an InputError that says what is wrong with it."""
    where = str(part.file) if part.file is not None else f"part {part.name!r}"
    _check_arrays(part, where)
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
    if part.faces is not None and (part.faces.min() < 0 or part.faces.max() >= n):
        raise InputError(f"{where}: a face names a vertex that is not there ({n} vertices); the file may be truncated")
    used = _used(part)
    _check_strays(part, used, where)
    if part.faces is None:
        _check_cloud(part, where)
    elif not part.area > THIN * np.ptp(part.vertices[used], axis=0).max() ** 2:
        raise InputError(f"{where}: all faces together have no area; export the fragment again as a triangle mesh")
    return part


def _check_arrays(part: Part, where: str) -> None:
    """What callers of the library may hand over instead of the arrays that a part is made of."""
    arrays: tuple[tuple[str, Any, str], ...]
    arrays = ("vertices", part.vertices, "fiu"), ("faces", part.faces, "iu"), ("normals", part.normals, "fiu")
    for name, array, kinds in arrays:
        if array is None and name != "vertices":
            continue
        if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds or array.shape[1:] != (3,):
            found = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
            wanted = "integers" if kinds == "iu" else "numbers"
            raise InputError(f"{where}: its {name} are an array of {wanted}, three a row, not {found}; convert them")


def strays(points: Array) -> Ints:
    """Indices (k,) of the few points that lie STRAY times as far from the middle as all the rest. points : (n, 3)"""
    if len(points) < FEWEST_POINTS:
        return np.empty(0, dtype=np.int64)
    away = np.abs(points - np.median(points, axis=0)).max(axis=1)
    last = len(points) - 1 - max(1, len(points) // FEW)
    return np.flatnonzero(np.isfinite(away) & (away > STRAY * np.partition(away, last)[last]))


def outliers(points: Array) -> Ints:
    """Indices (k,) of points that lie ALONE times as far from their neighbours as these from theirs; none if many do.

    points : (n, 3) float
    """
    if len(points) < FEWEST_POINTS or not np.isfinite(points).all():
        return np.empty(0, dtype=np.int64)
    distance, index = nearest_few(cKDTree(points), points, BESIDE + 1)
    apart = distance[:, -1]
    found = np.flatnonzero(apart > ALONE * np.median(apart[index[:, 1:]], axis=1))
    return found if len(found) < len(points) * SOME else found[:0]


def _used(part: Part) -> Bools:
    """(n,) bool: of a mesh, vertices that no face uses may lie anywhere."""
    used = np.full(len(part.vertices), part.faces is None)
    if part.faces is not None:
        used[part.faces] = True
    return used


def _check_strays(part: Part, used: Bools, where: str) -> None:
    far = np.flatnonzero(used)[strays(part.vertices[used])]
    if len(far):
        raise InputError(
            f"{where}: vertex {_place(part, far[0])} is more than {STRAY:.0f} times as far out as the rest; "
            "remove it, or export the fragment again"
        )


def _place(part: Part, index: int) -> str:
    return f"{index} at ({', '.join(f'{x:g}' for x in part.vertices[index])})"


def _check_cloud(part: Part, where: str) -> None:
    n = len(part.vertices)
    if n < FEWEST_POINTS:
        raise InputError(f"{where} holds {n} points and no faces; export at least {FEWEST_POINTS} points, or a mesh")
    if not np.ptp(part.vertices, axis=0).max() > 0:
        raise InputError(f"{where}: all {n} points lie in one place; export the fragment again")
    if part.normals is not None and part.normals.shape != part.vertices.shape:
        raise InputError(f"{where}: {len(part.normals)} normals for {n} points; give one normal a point, or none")
    if part.normals is not None and not np.isfinite(part.normals).all():
        raise InputError(f"{where}: some normals are not finite numbers (NaN or inf); give none, they are found then")
    apart = _apart(part.vertices)
    if len(apart):
        raise InputError(
            f"{where}: {len(apart)} points, the first {_place(part, apart[0])}, lie far away from the other "
            f"{n - len(apart)}; remove them, or give the two as files of their own"
        )


def _apart(points: Array) -> Ints:
    """Indices (k,) of the smaller of two heaps that are tiny beside the gap between them. points : (n, 3) float"""
    size = np.ptp(points, axis=0).max()
    for column in points.T:
        ordered = np.sort(column)
        gaps = np.diff(ordered)
        k = int(np.argmax(gaps))
        if gaps[k] > (1 - 1 / STRAY) * size:
            beyond = column > ordered[k]
            return np.flatnonzero(beyond if 2 * beyond.sum() <= len(points) else ~beyond)
    return np.empty(0, dtype=np.int64)


def require_parts(parts: Sequence[Part], minimum: int = 2) -> None:
    """Refuse fewer parts than the caller needs."""
    if len(parts) < minimum:
        found = f"only {parts[0].file or parts[0].name}" if len(parts) == 1 else f"{len(parts)} parts"
        raise InputError(f"at least {minimum} parts are needed, found {found}; give one file per fragment")
