"""Which side of an unoriented cloud is outside: what the air around it reaches."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import distance_transform_edt, label, map_coordinates
from scipy.spatial import cKDTree

from cmnet.geometry.pose import principal_frame
from cmnet.geometry.types import Array
from cmnet.geometry.volume import Box

VOXELS = 500_000  # of the box around a cloud
AROUND = 6  # neighbours by which the spacing is measured
MESH = 1.6  # spacings: no air gets through holes smaller than this, wider than those between random points
WIDEST = 0.99  # quantile of the points' spacings that counts as the spacing of all
FINEST = 0.3  # smallest voxel, in median spacings


def openness(points: Array, directions: Array) -> Array:
    """(n,) float, about −2 to 2: how much nearer the outside is ahead of each point than behind it.

    Air flows in from the border of a box and gets no nearer to a point than MESH spacings: the rest is inside, walls
    thinner than a voxel included. 0 where that does not tell the sides apart, at the rim of a hole for example.

    points : (n, 3) float, directions : (n, 3) float, unit length
    """
    to_axes = principal_frame(points).inverse()  # the grid turns with the cloud
    points, directions = to_axes.apply(points), to_axes.rotate(directions)
    distance = np.asarray(cKDTree(points).query(points, k=[min(AROUND, len(points) - 1) + 1])[0])[:, 0]
    spacings = distance / np.sqrt(AROUND / np.pi)
    barrier = MESH * float(np.quantile(spacings, WIDEST))
    box = Box.around(points, barrier, VOXELS, max(FINEST * float(np.median(spacings)), 1e-9 * barrier))
    empty = np.ones(box.shape, dtype=bool)
    empty.reshape(-1)[box.voxel(points)] = False
    free, _ = label(np.pad(distance_transform_edt(empty) * box.size > barrier, 1, constant_values=True))
    depth = distance_transform_edt((free != free[0, 0, 0])[1:-1, 1:-1, 1:-1])
    places = (points - box.origin) / box.size
    ahead, behind = (map_coordinates(depth, (places + s * directions).T, order=1, mode="nearest") for s in (1, -1))
    return np.asarray(behind - ahead)
