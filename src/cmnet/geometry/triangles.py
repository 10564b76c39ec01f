"""Areas, normals, volume and winding of triangles, given by their corners (m, 3, 3)."""

import numpy as np

from cmnet.geometry.types import Array


def cross_products(corners: Array) -> Array:
    """(m, 3) float: normals, twice as long as the areas."""
    return np.asarray(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))


def areas(corners: Array) -> Array:
    """(m,) float"""
    return np.asarray(np.linalg.norm(cross_products(corners), axis=1) / 2)


def normals_and_areas(corners: Array) -> tuple[Array, Array]:
    """(m, 3) float, of unit length, or zero where there is no area; (m,) float"""
    crosses = cross_products(corners)
    doubled = np.linalg.norm(crosses, axis=1)
    return crosses / np.maximum(doubled, 1e-300)[:, None], doubled / 2


def signed_volume(corners: Array) -> float:
    """Enclosed by a closed surface, negative where its triangles face inwards. Most exact with the origin near it."""
    a, b, c = np.moveaxis(corners, 1, 0)
    return float(np.einsum("mc,mc->", a, np.cross(b, c)) / 6)


def winding_number(corners: Array, point: Array) -> float:
    """How often a surface winds around a point (3,): 1 inside a closed one, 0 outside.

    The solid angles of its triangles (van Oosterom, Strackee 1983) over 4 π.
    """
    a, b, c = np.moveaxis(corners - point, 1, 0)
    la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
    dots = la * lb * lc + la * (b * c).sum(1) + lb * (a * c).sum(1) + lc * (a * b).sum(1)
    return float(np.arctan2((a * np.cross(b, c)).sum(1), dots).sum() / (2 * np.pi))
