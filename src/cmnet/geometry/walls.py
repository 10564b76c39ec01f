"""How thick a wall is, as samples of both its sides tell."""

import numpy as np

from cmnet.geometry.compiled import compiled
from cmnet.geometry.types import Array, Ints

FACING = -0.5  # normals with a smaller cosine belong to the other side of the wall
THROUGH = 0.3  # which lies behind a sample, in a direction with at least this cosine to its own normal


def wall_thickness(points: Array, normals: Array, neighbors: Ints) -> Array:
    """(n,) float: thickness of the wall near each sample, infinite where its neighbourhood sees one side only."""
    own = np.full(len(points), np.inf)
    _thickness(points, normals, neighbors, own)
    return np.asarray(own[neighbors].min(axis=1))


@compiled
def _thickness(points: Array, normals: Array, neighbors: Ints, wall: Array) -> None:
    """Sets wall (n,): how deep behind every sample the nearest of its neighbours lies that faces the other way."""
    for i in range(len(points)):
        x, y, z = normals[i]
        for j in neighbors[i]:
            a, b, c = points[j, 0] - points[i, 0], points[j, 1] - points[i, 1], points[j, 2] - points[i, 2]
            depth = -(a * x + b * y + c * z)
            facing = normals[j, 0] * x + normals[j, 1] * y + normals[j, 2] * z < FACING
            if facing and depth > THROUGH * np.sqrt(a * a + b * b + c * c):
                wall[i] = min(wall[i], depth)
