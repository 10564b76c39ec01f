"""Where the network holds a part for broken: which creases are worth trying first, and what may meet a mate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from cmnet.geometry.trees import nearest_few
from cmnet.geometry.types import Array, Bools

BESIDE_CREASE = 4  # samples of the network next to a crease, of which one must lie on a break
BESIDE_POINT = 8  # samples of the network next to a point, of which those that face the same way tell what it is


@dataclass(frozen=True, eq=False)
class Breaks:
    """Samples of a part, in its coordinates, and the probability that each lies on a break.

    points, normals : (n, 3) float, probability : (n,) float in [0, 1]
    """

    points: Array
    normals: Array
    probability: Array

    def near(self, points: Array, least: float) -> Bools:
        """(m,) bool: which of the points (m, 3) lie on the edge of a break, with at least this probability."""
        nearest = nearest_few(cKDTree(self.points), points, BESIDE_CREASE)[1]
        return self.probability[nearest].max(axis=1, initial=0.0) > least

    def at(self, points: Array, normals: Array) -> Array:
        """(m,) float in [0, 1]: the same probability at points (m, 3) of the surface with normals (m, 3).

        The mean of the samples next to each; what faces another way, as the skin beside a thin break does, counts
        little.
        """
        nearest = nearest_few(cKDTree(self.points), points, BESIDE_POINT)[1]
        facing = np.einsum("mc,mkc->mk", normals, self.normals[nearest])
        weights = np.clip(facing, 0.01, 1.0) ** 4
        return np.asarray((weights * self.probability[nearest]).sum(axis=1) / weights.sum(axis=1))
