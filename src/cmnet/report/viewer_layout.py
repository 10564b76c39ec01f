"""Where things stand in the viewer: groups upright and side by side, parts that were not placed in rows beside them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cmnet.geometry.pose import Pose
from cmnet.solving.assembly import Assembly

Array = NDArray[np.float64]

ROUND = 0.82  # two spreads with at least this ratio count as equal: the object is round about the third axis
ALONG = 0.97  # cosine from which an object stands along an axis of its file
CORE = 0.3  # of the radius: what is so near the axis is floor or lid
MARGIN = 0.2  # between groups, in sizes of the largest
UP = np.array([0.0, 1.0, 0.0])


def lay_out(assembly: Assembly, points: Sequence[Array]) -> list[Pose]:
    """T_view_part of every part: y is up, the middle of everything at the origin.

    points : (n, 3) float of every part, even over its surface
    """
    T_view = [Pose.from_matrix(pose) for pose in assembly.poses]
    for group in assembly.groups:
        turn = Pose(standing(np.concatenate([T_view[k].apply(points[k]) for k in group])), np.zeros(3))
        for k in group:
            T_view[k] = turn @ T_view[k]
    for k in assembly.unplaced:
        T_view[k] = Pose(lying(points[k]), np.zeros(3))
    blocks = [*assembly.groups, *([k] for k in assembly.unplaced)]
    clouds = [np.concatenate([T_view[k].apply(points[k]) for k in block]) for block in blocks]
    low = np.array([cloud.min(axis=0) for cloud in clouds])
    sizes = np.array([np.ptp(cloud, axis=0) for cloud in clouds])
    corners = _shelves(sizes, len(assembly.groups))
    middle = (corners.min(axis=0) + (corners + sizes).max(axis=0)) / 2
    for block, shift in zip(blocks, corners - low - middle):
        for k in block:
            T_view[k] = Pose(np.eye(3), shift) @ T_view[k]
    return T_view


def standing(points: Array) -> Array:
    """(3, 3) float: a rotation that stands an object up on the y axis. points : (n, 3) float

    A round object (vase, plate, column) turns about its own axis; its floor, the end that reaches the axis, goes down.
    Where the axis is one of the file's own, the file's idea of up is kept; any other object stays as it is.
    """
    centred = points - points.mean(axis=0)
    spread, axes = np.linalg.eigh(centred.T @ centred)
    flat, long = spread[1] / max(spread[2], 1e-300), spread[0] / max(spread[1], 1e-300)
    if max(flat, long) < ROUND or min(flat, long) >= ROUND:  # no axis, or as round as a ball
        return np.eye(3)
    axis = axes[:, 0] if flat > long else axes[:, 2]
    nearest = int(np.abs(axis).argmax())
    if abs(axis[nearest]) > ALONG:
        axis = np.eye(3)[nearest]
    else:
        axis = axis * _floor_side(centred, axis)
    return _turning(axis, UP)


def lying(points: Array) -> Array:
    """(3, 3) float: a rotation that lays a part flat, its thinnest direction upwards, its longest along x."""
    centred = points - points.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1]
    x, y = axes[:, 2], axes[:, 0]
    return np.stack([x, y, np.cross(x, y)])


def _floor_side(centred: Array, axis: Array) -> float:
    """+1 where the end of the axis is open and its start closed, −1 the other way round."""
    height = centred @ axis
    radius = np.linalg.norm(centred - height[:, None] * axis, axis=1)
    core = height[radius < CORE * radius.max()]
    if len(core) == 0:
        return 1.0
    return 1.0 if core.min() - height.min() <= height.max() - core.max() else -1.0


def _turning(a: Array, b: Array) -> Array:
    """(3, 3) float: the smallest rotation that takes unit vector a to unit vector b."""
    cosine = float(a @ b)
    if cosine < -0.999999:
        return np.diag([1.0, -1.0, -1.0]) if abs(b[0]) < 0.5 else np.diag([-1.0, -1.0, 1.0])
    x, y, z = np.cross(a, b)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + K + K @ K / (1 + cosine)


def _shelves(sizes: Array, groups: int) -> Array:
    """(b, 3) float: the low corners of blocks; groups in one row along x, the others in columns to their right."""
    gap = MARGIN * float(sizes.max(initial=0.0))
    corners = np.zeros_like(sizes)
    x = 0.0
    for k in range(groups):
        corners[k] = x, 0.0, -sizes[k, 2] / 2
        x += sizes[k, 0] + gap
    singles = range(groups, len(sizes))
    total = sum(sizes[k, 2] + gap / 3 for k in singles)
    deep = max(float(sizes[:groups, 2].max(initial=0.0)), np.sqrt(total * float(sizes[groups:, 0].max(initial=0.0))))
    z, width = 0.0, 0.0
    column: list[int] = []
    for k in singles:
        if column and z + sizes[k, 2] > deep:
            x, z, width = x + width + gap / 3, 0.0, 0.0
            column = []
        corners[k] = x, 0.0, z - deep / 2
        z, width = z + sizes[k, 2] + gap / 3, max(width, sizes[k, 0])
        column.append(k)
    return corners
