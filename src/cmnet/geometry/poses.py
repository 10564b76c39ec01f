"""Many rigid motions at once, in single precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cmnet.geometry.pose import Pose
from cmnet.geometry.procrustes import nearest_rotation
from cmnet.geometry.types import Floats32, Ints

Moves = tuple[Floats32, Floats32]  # R (h, 3, 3) and t (h, 3), for compiled loops


@dataclass(frozen=True, eq=False)
class Poses:
    """Many poses at once, R : (h, 3, 3) float32, t : (h, 3) float32."""

    R: Floats32
    t: Floats32

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, chosen: Ints | slice) -> Poses:
        return Poses(self.R[chosen], self.t[chosen])

    @property
    def moves(self) -> Moves:
        """The same for compiled loops."""
        return self.R, self.t

    def inverse(self) -> Poses:
        return Poses(self.R.swapaxes(1, 2), -np.einsum("hji,hj->hi", self.R, self.t))

    def joined(self, others: Poses) -> Poses:
        return Poses(np.concatenate([self.R, others.R]), np.concatenate([self.t, others.t]))

    def one(self, i: int) -> Pose:
        """Pose i; single precision leaves rotations that are none to eight digits."""
        return Pose(nearest_rotation(self.R[i].astype(np.float64)), self.t[i].astype(np.float64))

    def apply(self, points: Floats32) -> Floats32:
        """(n, 3) or (h, n, 3) float32 → (h, n, 3) float32"""
        return np.asarray(points @ self.R.swapaxes(1, 2) + self.t[:, None], dtype=np.float32)
