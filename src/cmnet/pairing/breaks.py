"""Where the network holds a part for broken: which creases are worth trying first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from cmnet.geometry.trees import nearest_few

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

WITNESSES = 4  # samples of the network next to a crease, of which one must lie on a break
LIKELY = 0.2  # with at least this probability: an edge left out costs more than one tried in vain


@dataclass(frozen=True, eq=False)
class Breaks:
    """Samples of a part, in its coordinates, and the probability that each lies on a break.

    points : (n, 3) float, probability : (n,) float in [0, 1]
    """

    points: Array
    probability: Array

    def near(self, points: Array) -> Bools:
        """(m,) bool: which of the points (m, 3) probably lie on the edge of a break."""
        nearest = nearest_few(cKDTree(self.points), points, WITNESSES)[1]
        return self.probability[nearest].max(axis=1, initial=0.0) > LIKELY
