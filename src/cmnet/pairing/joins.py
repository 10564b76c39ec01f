"""Joins: how two parts may belong together, ranked by how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cmnet.geometry.pose import Pose
from cmnet.geometry.types import Array
from cmnet.pairing.candidates import Candidate, candidates
from cmnet.pairing.judge.uncertainty import Uncertainty, uncertainty_of
from cmnet.pairing.propose.creases import propose
from cmnet.pairing.stages import ALL, Stages
from cmnet.pairing.surface.surface import Surface

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
    """

    parts: tuple[int, int]
    T_i_j: Pose
    confidence: float | None
    contact_area: float | None
    gap_rms: float | None
    penetration: float | None
    used: bool = False
    uncertainty: Uncertainty | None = None

    @property
    def covariance(self) -> Array | None:
        """(6, 6) float, of T_i_j: see `Uncertainty`."""
        return None if self.uncertainty is None else self.uncertainty.covariance

    @property
    def sure(self) -> float:
        """The confidence to sort and weigh by: 0 where it is not known."""
        return 0.0 if self.confidence is None else self.confidence


def joins(
    a: Surface, b: Surface, parts: tuple[int, int] = (0, 1), learned: Sequence[Pose] = (), stages: Stages = ALL
) -> list[Join]:
    """Ways to put b against a, the surest first; often none or one.

    parts : the indices to name them by; learned : further hypotheses, T_i_j between the parts
    """
    suggested = [pose_of_surfaces(a, b, T) for T in learned]
    return [join_of(a, b, parts, candidate) for candidate in candidates(a, b, suggested, stages)]


def suggestions(a: Surface, b: Surface, count: int) -> list[Pose]:
    """T_i_j of two parts as their creases suggest it, unexamined: from surfaces at one scale, for those at another."""
    return [pose_of_parts(a, b, hypothesis.T_a_b) for hypothesis in propose(a, b, count)]


def pose_of_parts(a: Surface, b: Surface, T_a_b: Pose) -> Pose:
    """From a pose between the frames of two surfaces to the one between their parts."""
    scaled = Pose(T_a_b.R, a.unit * T_a_b.t)
    return a.T_part_surface @ scaled @ b.T_part_surface.inverse()


def pose_of_surfaces(a: Surface, b: Surface, T_i_j: Pose) -> Pose:
    """From a pose between two parts to the one between the frames of their surfaces."""
    inner = a.T_part_surface.inverse() @ T_i_j @ b.T_part_surface
    return Pose(inner.R, inner.t / a.unit)


def join_of(a: Surface, b: Surface, parts: tuple[int, int], candidate: Candidate) -> Join:
    """A candidate as a join between parts, in their unit."""
    unit, evidence = a.unit, candidate.evidence
    return Join(
        parts,
        pose_of_parts(a, b, candidate.T_a_b),
        candidate.confidence,
        evidence.contact * unit**2,
        evidence.gap * unit,
        evidence.depth * unit,
        uncertainty=uncertainty_of(a, b, candidate.T_a_b, evidence),
    )
