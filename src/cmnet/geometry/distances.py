"""Distances between point sets."""

import numpy as np
from scipy.spatial import cKDTree

from cmnet.geometry.types import Array


def chamfer_distance(a: Array, b: Array) -> float:
    """Mean squared distance to the nearest point of the other set, both directions added.

    a : (n, 3) float, b : (m, 3) float, neither empty
    """
    if len(a) == 0 or len(b) == 0:
        raise ValueError("the Chamfer distance needs at least one point on either side")
    a_to_b, _ = cKDTree(b).query(a)
    b_to_a, _ = cKDTree(a).query(b)
    return float(np.mean(a_to_b**2) + np.mean(b_to_a**2))
