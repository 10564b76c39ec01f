"""A join: one way in which two parts may belong together, with what is known of it."""

from __future__ import annotations

from dataclasses import dataclass

from cmnet.geometry.pose import Pose
from cmnet.geometry.types import Array
from cmnet.pairing.judge.uncertainty import Uncertainty

FIGURES = ("confidence", "contact_area", "gap_rms", "penetration")  # what is known of a join beside its pose


@dataclass(frozen=True, eq=False)
class Join:
    """One way to put part j against part i. Lengths and areas in the unit of the parts. None: nobody has measured it.

    T_i_j        : x_i = T_i_j x_j, in the coordinates of the parts as given
    confidence   : probability in [0, 1] that this is where part j belongs
    contact_area : over which the two touch
    gap_rms      : root-mean-square distance of the touching surfaces
    penetration  : depth of one part in the other
    used         : whether an assembly rests on it
    uncertainty  : how far T_i_j may be off, in the coordinates of part i; None: nobody knows
    number       : names the join among all that were found of some parts; −1: it was not counted yet
    """

    parts: tuple[int, int]
    T_i_j: Pose
    confidence: float | None
    contact_area: float | None
    gap_rms: float | None
    penetration: float | None
    used: bool = False
    uncertainty: Uncertainty | None = None
    number: int = -1

    @property
    def covariance(self) -> Array | None:
        """(6, 6) float, of T_i_j: see `Uncertainty`."""
        return None if self.uncertainty is None else self.uncertainty.covariance

    @property
    def sure(self) -> float:
        """The confidence to sort and weigh by: 0 where it is not known."""
        return 0.0 if self.confidence is None else self.confidence

    @property
    def pair(self) -> tuple[int, int]:
        """Its parts, the smaller index first."""
        return min(self.parts), max(self.parts)
