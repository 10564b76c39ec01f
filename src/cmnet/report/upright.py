"""Which way is up: round objects stand on their floor, about their own axis."""

from __future__ import annotations

import numpy as np

from cmnet.geometry.types import Array

ROUNDS = 12  # of weighing down what does not turn with the rest: handles, breaks
TOLERANCE = 0.1  # sine of the angle by which a normal may miss the plane through the axis
SHARE = 0.5  # of the surface that must turn about an axis for the object to count as round
ALONE = 0.02  # a second axis that is as good as this (mean square sine) makes a ball or a lump
CORE = 0.35  # of the median radius: surface so near the axis is floor or lid
CLEAR = 0.15  # of the height: how much farther out the floor lies than the lid
ALONG = 0.97  # cosine from which an axis counts as one of the file's own


def standing(points: Array, normals: Array) -> Array:
    """(3, 3) float: a rotation that stands an object up on the y axis. points, normals : (n, 3) float

    A round object (vase, plate, column) turns about its own axis; its floor, the end that is closed, goes down, and its
    handle to the right. Any other object stays as it lies.
    """
    found = axis_of_revolution(points, normals)
    if found is None:
        return np.eye(3)
    axis, centre = found
    up = _turning_up(axis * _upwards(points - centre, axis))
    return _sideways((points - centre) @ up.T) @ up


def axis_of_revolution(points: Array, normals: Array) -> tuple[Array, Array] | None:
    """The unit direction (3,) of the axis about which most of a surface turns onto itself and a point (3,) on it.

    Turning with velocity a × x + b leaves a surface of revolution in place: n · (a × x + b) = 0 everywhere.
    """
    middle = points.mean(axis=0)
    size = float(np.sqrt(((points - middle) ** 2).sum(axis=1).mean())) or 1.0
    x = (points - middle) / size
    moments = np.cross(x, normals)
    weights = np.ones(len(x))
    for _ in range(ROUNDS):
        a, b, second = _slippage(moments, normals, weights)
        velocity = np.cross(a, x) + b
        sine = np.einsum("nc,nc->n", velocity, normals) / np.maximum(np.linalg.norm(velocity, axis=1), 1e-9)
        weights = 1 / (1 + (sine / TOLERANCE) ** 2) ** 2
    if (np.abs(sine) < TOLERANCE).mean() < SHARE or second < ALONE:
        return None
    return a, middle + size * np.cross(a, b)


def _slippage(moments: Array, normals: Array, weights: Array) -> tuple[Array, Array, float]:
    """Unit a and the b that minimise ∑ w (a · (x × n) + b · n)², and the mean square of the next best a."""
    w = (weights / weights.sum())[:, None]
    A, B, C = (w * moments).T @ moments, (w * moments).T @ normals, (w * normals).T @ normals
    solve = np.linalg.pinv(C, rcond=1e-4)
    values, vectors = np.linalg.eigh(A - B @ solve @ B.T)
    a = vectors[:, 0]
    return a, -solve @ B.T @ a, float(values[1])


def _upwards(x: Array, axis: Array) -> float:
    """1 where the axis points up, −1 where it points down. x : (n, 3) float, from a point of the axis

    The end where the surface closes over the axis is the floor. Where both ends are closed or open the file's idea of
    up counts if the axis is one of the file's, and otherwise the heavier end goes down.
    """
    height = x @ axis
    radius = np.linalg.norm(x - height[:, None] * axis, axis=1)
    core = height[radius < CORE * np.median(radius)]
    if len(core):
        lead = (height.max() - core.max()) - (core.min() - height.min())
        if abs(lead) > CLEAR * np.ptp(height):
            return float(np.sign(lead))
    nearest = axis[np.abs(axis).argmax()]
    if abs(nearest) > ALONG:
        return float(np.sign(nearest))
    return 1.0 if height.mean() <= (height.min() + height.max()) / 2 else -1.0


def _sideways(x: Array) -> Array:
    """(3, 3) float: a turn about the y axis that brings what sticks out most, such as a handle, to +x."""
    flat = x[:, [0, 2]]
    wide = np.linalg.eigh(flat.T @ flat)[1][:, 1]
    c, s = wide * (1.0 if ((flat @ wide) ** 3).sum() >= 0 else -1.0)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def _turning_up(axis: Array) -> Array:
    """(3, 3) float: the smallest rotation that takes a unit vector to the y axis."""
    cosine = float(axis[1])
    if cosine < -0.999999:
        return np.diag([1.0, -1.0, -1.0])
    x, _, z = np.cross(axis, [0.0, 1.0, 0.0])
    K = np.array([[0, -z, 0], [z, 0, -x], [0, x, 0]])
    return np.eye(3) + K + K @ K / (1 + cosine)
