"""Where things stand in the viewer: groups upright and side by side, parts that were not placed in rows beside them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cmnet.geometry.pose import Pose
from cmnet.geometry.types import Array
from cmnet.report.upright import standing
from cmnet.solving.assembly import Assembly

MARGIN = 0.2  # between groups, in sizes of the largest


def lay_out(assembly: Assembly, points: Sequence[Array], normals: Sequence[Array]) -> list[Pose]:
    """T_view_part of every part: y is up, the middle of everything at the origin.

    points, normals : (n, 3) float of every part, even over its surface and as dense on one part as on another
    """
    T_view = [Pose.from_matrix(pose) for pose in assembly.poses]
    for group in assembly.groups:
        xyz = np.concatenate([T_view[k].apply(points[k]) for k in group])
        across = np.concatenate([T_view[k].rotate(normals[k]) for k in group])
        turn = Pose(standing(xyz, across), np.zeros(3))
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


def lying(points: Array) -> Array:
    """(3, 3) float: a rotation that lays a part flat, its thinnest direction upwards, its longest along x."""
    centred = points - points.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1]
    x, y = axes[:, 2], axes[:, 0]
    return np.stack([x, y, np.cross(x, y)])


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
