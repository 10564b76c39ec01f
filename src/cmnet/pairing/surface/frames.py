"""Poses between parts, and between the frames of their surfaces."""

from __future__ import annotations

from cmnet.geometry.pose import Pose
from cmnet.pairing.surface.surface import Surface


def pose_of_parts(a: Surface, b: Surface, T_a_b: Pose) -> Pose:
    """From a pose between the frames of two surfaces to the one between their parts."""
    scaled = Pose(T_a_b.R, a.unit * T_a_b.t)
    return a.T_part_surface @ scaled @ b.T_part_surface.inverse()


def pose_of_surfaces(a: Surface, b: Surface, T_i_j: Pose) -> Pose:
    """From a pose between two parts to the one between the frames of their surfaces."""
    inner = a.T_part_surface.inverse() @ T_i_j @ b.T_part_surface
    return Pose(inner.R, inner.t / a.unit)
