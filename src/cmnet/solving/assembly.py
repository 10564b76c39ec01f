"""The answer: where each part goes, what holds together, what stays out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cmnet.pairing.joins import Join

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Assembly:
    """Parts in their places.

    poses    : (n, 4, 4) float, part coordinates as given → assembled frame
    groups   : parts that hold together, the largest group first; a group's largest part has the identity pose
    unplaced : parts that fit nowhere; they keep the identity pose
    joins    : everything that was considered, the used ones marked, the surest first
    """

    poses: Array
    groups: list[list[int]]
    unplaced: list[int]
    joins: list[Join]
