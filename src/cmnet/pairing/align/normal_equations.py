"""Points that are to lie in planes: their equations, added up one by one, and the small motion that solves them.

Compiled, for one pose at a time; what is added up has the same size however many points there are.
"""

from __future__ import annotations

import numpy as np

from cmnet.geometry.compiled import compiled
from cmnet.geometry.types import Array

FEWEST_EQUATIONS = 12  # equations below which a pose is left as it is


def plane_rows(x: Array, normal: Array) -> Array:
    """(m, 6) float: by how much points x (m, 3) rise along their normals (m, 3) for each turn and shift of theirs."""
    return np.concatenate([np.cross(x, normal), normal], axis=1)


def add_between(H: Array, i: int, j: int, square: Array) -> None:
    """Adds to H (n, 6, n, 6) what is asked of the motion of body j against body i. square : (6, 6) float"""
    for a, b, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
        H[a, :, b] += sign * square


@compiled
def add_row(x: Array, normal: Array, gap: float, weight: float, row: Array, products: Array, places: Array) -> None:
    """One equation gap + normal · (motion of x) = 0 more. row : (7,), to work in

    products : (7, 7) float, weighted products of the columns x × normal, normal and gap
    places   : (5,) float, how many equations there are, the sum of their x, and of |x|²
    """
    row[0] = x[1] * normal[2] - x[2] * normal[1]
    row[1] = x[2] * normal[0] - x[0] * normal[2]
    row[2] = x[0] * normal[1] - x[1] * normal[0]
    row[3], row[4], row[5], row[6] = normal[0], normal[1], normal[2], gap
    for k in range(7):
        for l in range(7):
            products[k, l] += weight * row[k] * row[l]
    places[0] += 1
    for k in range(3):
        places[1 + k] += x[k]
        places[4] += x[k] * x[k]


@compiled
def motion(products: Array, places: Array, stiff: float) -> tuple[Array, Array]:
    """R (3, 3), t (3,): the motion that minimises Σ w (gap + n·(ω × x + τ))²; none where too little is asked.

    stiff : of the mean stiffness, added to all: keeps what slides freely from sliding away
    """
    count = places[0]
    if count < FEWEST_EQUATIONS:
        return np.eye(3), np.zeros(3)
    centre = places[1:4] / count
    squares = places[4] / count - (centre * centre).sum()
    size = max(np.sqrt(max(squares, 0.0)), 1e-9)
    D = np.eye(7)  # turns are about the centre, and measured at its distance
    for k in range(3):
        D[k, k] /= size
    D[:3, 3:6] = -_cross(centre) / size
    all_products = D @ products @ D.T
    H = all_products[:6, :6].copy()
    give = stiff * np.trace(H) / 6 + 1e-12
    for k in range(6):
        H[k, k] += give
    w = np.linalg.solve(H, -all_products[:6, 6].copy())
    R = _rotation(w[:3] / size)
    return R, centre - R @ centre + w[3:]


@compiled
def _cross(x: Array) -> Array:
    """(3, 3) float: the matrix of y ↦ x × y."""
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


@compiled
def _rotation(w: Array) -> Array:
    """Rodrigues' formula: the rotation by |w| about w."""
    angle = np.sqrt((w * w).sum())
    if angle < 1e-12:
        return np.eye(3)
    K = _cross(w / angle)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
