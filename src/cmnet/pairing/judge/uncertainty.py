"""How exactly a part lies where it was put: what the samples that face each other leave open.

Samples that touch hold along their normals, as in `refine`; the inverse of these normal equations is the covariance,
times the variance of a sample. That follows from how far the surfaces are off each other where they touch. But samples
err together: noise of scans and wear are smooth, and what wear has taken away leaves a pose that looks right in a wrong
place. How much of that there is shows where surfaces face each other closely without touching.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cmnet.geometry.pose import Pose
from cmnet.geometry.types import Array
from cmnet.pairing.align.icp import within
from cmnet.pairing.align.joint_icp import facing, kernel
from cmnet.pairing.align.normal_equations import plane_rows
from cmnet.pairing.judge.evidence import Evidence, verify
from cmnet.pairing.surface.surface import Surface

FEWEST_HOLDING = 12  # samples below which nothing is known
# Fitted to true errors, see benchmarks/uncertainty.py. Loose: the area that faces closely without touching, over that
# which touches.
TOGETHER, LOOSE = 1.5, 400.0  # samples that err as one where all touches, and so many more for what is loose
LOST = 6.0  # gaps by which surfaces may be worn off, for what is loose and thin; but no more than can be seen of that
PATCH = 0.05  # a contact is thin that fills little of the patches of this size that it reaches, in units
EXACT = 7e-5  # units that a sample is off at least: its plane stands for a curved surface
ANY_TURN = np.pi / np.sqrt(3)  # radians: any turn is as likely as any other


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """How far a pose T_b_a may be off, as one standard deviation.

    covariance : (6, 6) float, of the small motion from it to the true one: turns about the axes of b, in radians, then
                 shifts, as x_b ↦ x_b + turn × x_b + shift
    length     : root-mean-square distance by which the part's centre may be off
    degrees    : root-mean-square angle by which the part may be turned
    """

    covariance: Array
    length: float
    degrees: float

    @staticmethod
    def of(covariance: Array, centre: Array) -> Uncertainty:
        """centre : (3,) float, of the part, where the pose puts it"""
        about = Pose(np.eye(3), -centre).adjoint()
        shift = np.trace((about @ covariance @ about.T)[3:, 3:])
        return Uncertainty(covariance, float(np.sqrt(shift)), float(np.degrees(np.sqrt(np.trace(covariance[:3, :3])))))

    def moved(self, T_c_b: Pose) -> Uncertainty:
        """The same of T_c_a."""
        A = T_c_b.adjoint()
        return Uncertainty(A @ self.covariance @ A.T, self.length, self.degrees)

    def scaled(self, unit: float) -> Uncertainty:
        """The same with lengths that were in units."""
        S = np.repeat([1.0, unit], 3)
        return Uncertainty(S[:, None] * self.covariance * S, unit * self.length, self.degrees)


def uncertainty_of(a: Surface, b: Surface, T_a_b: Pose, evidence: Evidence) -> Uncertainty | None:
    """Of the pose between their parts, in the coordinates of the first. None: hardly anything touches."""
    C = covariance_of(a, b, T_a_b, evidence)
    return None if C is None else Uncertainty.of(C, T_a_b.t).scaled(a.unit).moved(a.T_part_surface)


def covariance_of(a: Surface, b: Surface, T_a_b: Pose, evidence: Evidence | None = None) -> Array | None:
    """(6, 6) float, of a pose between the frames of two surfaces. None: hardly anything touches.

    evidence : of the pose, if that is known already
    """
    x, normal, gap, weight = _holding_both(a, b, T_a_b)
    if np.count_nonzero(weight) < FEWEST_HOLDING:
        return None
    evidence = evidence or verify(a, b, T_a_b)
    if not evidence.contact:
        return None
    loose = evidence.near / evidence.contact
    off, together = max(float(np.sqrt(weight @ gap**2 / weight.sum())), EXACT), TOGETHER + LOOSE * loose
    centre = x.mean(axis=0)
    size = max(float(np.sqrt(((x - centre) ** 2).sum(axis=1).mean())), EXACT)
    J = plane_rows(x - centre, normal)  # turns about the middle of the contact
    held = (weight[:, None] * J).T @ J / (off**2 * together)
    # Nothing is as free as that: any turn, and a shift by the size of the contact.
    C = np.linalg.inv(held + np.diag(np.repeat([ANY_TURN, size], 3) ** -2.0))
    thin = len(np.unique(np.floor(x / PATCH), axis=0)) * PATCH**2 / evidence.contact
    lost = min(LOST * loose * thin * off, a.scale.tolerances.nearby * a.scale.tolerances.touch)
    apart = C @ (weight @ J) * lost / (off**2 * together)  # the motion that closes all gaps by as much
    back = Pose(np.eye(3), centre).adjoint()
    return np.asarray(back @ (C + np.outer(apart, apart)) @ back.T)


def _holding_both(a: Surface, b: Surface, T_a_b: Pose) -> list[Array]:
    """What holds b in a's frame, each part's samples on the other: places, normals (m, 3), gaps, weights (m,)."""
    x, normal, gap, weight = _holding(b, a, T_a_b.inverse())
    turned = T_a_b.apply(x), T_a_b.rotate(-normal), gap, weight  # what holds a holds b the other way
    return [np.concatenate(arrays) for arrays in zip(_holding(a, b, T_a_b), turned)]


def _holding(a: Surface, b: Surface, T_a_b: Pose) -> tuple[Array, Array, Array, Array]:
    """The same of b's samples on a alone."""
    exact = a.scale.budget.exact
    radius = exact.radii[-1]
    some = within(a, b, T_a_b, exact.radii[0] + max(a.box.size, b.box.size), exact.samples).moved(T_a_b)
    x, normal, gap = facing(a, some.x, some.n, radius)
    return x, normal, gap, kernel(gap / radius)
