"""The answer: where each part goes, what holds together, what stays out."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cmnet.pairing.joins import Join

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Assembly:
    """Parts in their places.

    poses    : (n, 4, 4) float, part coordinates as given → assembled frame
    groups   : parts that hold together, the largest group first; a group's largest part has the identity pose, unless
               a constraint fixes one of its parts: then the group stands where that part was fixed
    unplaced : parts that fit nowhere; they keep the identity pose (a fixed part is never among them)
    joins    : everything that was considered, the used ones marked, the surest first
    notes    : a sentence for every constraint that could not be obeyed or that contradicts another
    """

    poses: Array
    groups: list[list[int]]
    unplaced: list[int]
    joins: list[Join]
    notes: list[str] = field(default_factory=list)
