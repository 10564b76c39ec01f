"""Random samples of surfaces, and which of them lie on another surface that faces them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from cmnet.geometry.sampling import uniform_samples
from cmnet.geometry.triangles import cross_products, normals_and_areas
from cmnet.geometry.types import Array, Bools, Ints

FLATNESS = 1e-3  # how far two coinciding surfaces may be apart, object size 1


@dataclass(frozen=True, eq=False)
class SurfaceSamples:
    """Uniform samples of a surface. points, normals : (n, 3) float; face : (n,) int; spacing : typical distance"""

    points: Array
    normals: Array
    face: Ints
    spacing: float
    tree: cKDTree


def sample_triangles(corners: Array, count: int, rng: np.random.Generator) -> SurfaceSamples:
    """Sample triangles uniformly by area. corners : (m, 3, 3) float"""
    normals, areas = normals_and_areas(corners)
    face, points = uniform_samples(corners, areas, count, rng)
    return SurfaceSamples(points, normals[face], face, float(np.sqrt(areas.sum() / count)), cKDTree(points))


def middles(corners: Array) -> SurfaceSamples:
    """One sample a triangle, in its middle. corners : (m, 3, 3) float"""
    cross = cross_products(corners)
    double, points = np.linalg.norm(cross, axis=1, keepdims=True), corners.mean(axis=1)
    spacing = float(np.sqrt(double.mean() / 2))
    return SurfaceSamples(points, cross / np.maximum(double, 1e-30), np.arange(len(corners)), spacing, cKDTree(points))


def lies_on(a: SurfaceSamples, b: SurfaceSamples, flatness: float = FLATNESS, facing: bool = True) -> Bools:
    """Which samples of a lie on b, with opposed normals or (facing=False) with similar ones. → (n_a,) bool"""
    reach = 3 * b.spacing + flatness
    near = (
        ((a.points > b.points.min(axis=0) - reach) & (a.points < b.points.max(axis=0) + reach)).all(axis=1).nonzero()[0]
    )
    result = np.zeros(len(a.points), dtype=bool)
    if len(near) == 0:
        return result
    k = min(6, len(b.points))
    distance, index = b.tree.query(a.points[near], k=np.arange(1, k + 1), distance_upper_bound=reach)
    found = np.isfinite(distance)
    index = np.where(found, index, 0)
    height = np.abs(np.einsum("nkd,nkd->nk", b.points[index] - a.points[near][:, None], b.normals[index]))
    cosine = np.einsum("nkd,nd->nk", b.normals[index], a.normals[near])
    agrees = cosine < -0.9 if facing else cosine > 0.7
    result[near] = (found & agrees & (height < flatness)).any(axis=1)
    return result
