"""The field's metrics, as pure functions. Nothing is scaled here: lengths in the unit of the points, angles in degrees.

Poses are `T_anchor_part`: they take a part's coordinates into the frame of the anchor, the part that stays put.
"""

import warnings

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from cmnet.geometry.distances import chamfer_distance as chamfer
from cmnet.geometry.pose import Pose
from cmnet.geometry.types import Array

__all__ = ["chamfer", "crd", "geodesic_rotation", "part_accuracy", "rmse_rotation", "rmse_translation"]


def crd(points: Array, T_pred: Pose, T_true: Pose) -> float:
    """Correspondence distance: the mean distance between a point's predicted and its true place.

    points : (n, 3) float
    """
    return float(np.linalg.norm(T_pred.apply(points) - T_true.apply(points), axis=-1).mean())


def rmse_rotation(T_pred: Pose, T_true: Pose) -> float:
    """Root mean square of the three differences of xyz Euler angles, each wrapped to at most 180 degrees.

    The field's number, not a distance of rotations: it changes with the frame it is written in, it can be large for
    nearly equal rotations (close to gimbal lock, where the second angle is ±90°, the first and third trade places),
    and random rotations score 86° on average (83° where the truth is the identity), not the 126° of the geodesic error.
    """
    difference = np.abs(_euler(T_pred) - _euler(T_true))
    return float(np.sqrt(np.mean(np.minimum(difference, 360 - difference) ** 2)))


def _euler(T: Pose) -> Array:
    """(3,) float: extrinsic xyz angles in degrees."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # gimbal lock: one of the many answers is what the field takes too
        return np.asarray(Rotation.from_matrix(T.R).as_euler("xyz", degrees=True))


def geodesic_rotation(T_pred: Pose, T_true: Pose) -> float:
    """The angle of the rotation between the two, in degrees within [0, 180]."""
    return T_pred.angle_to(T_true)


def rmse_translation(T_pred: Pose, T_true: Pose) -> float:
    """Root mean square of the three differences of coordinates: the distance of the translations over √3."""
    return float(np.sqrt(np.mean((T_pred.t - T_true.t) ** 2)))


def part_accuracy(errors: ArrayLike, threshold: float) -> float:
    """The share, within [0, 1], of parts whose error lies below the threshold. errors : (p,) float"""
    return float(np.mean(np.asarray(errors, dtype=np.float64) < threshold))
