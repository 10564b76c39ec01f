"""What a bare point cloud does not say by itself: its normals and its area."""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree
from scipy.spatial import cKDTree

from cmnet.geometry.outside import openness
from cmnet.geometry.planes import axes_of_planes
from cmnet.geometry.trees import nearest_few
from cmnet.geometry.types import Array, Bools, Ints

MANY = 100_000  # points that normals are fitted at, at most; any others have those of the nearest one
FACING = 0.1  # normals with a larger cosine lie on the same side of a wall
TOLD = 0.5  # openness from which a point's side is told by itself


def area_of_cloud(points: Array, normals: Array | None = None) -> float:
    """Area of the surface that a cloud samples, from the spacing of its points. points, normals : (n, 3) float"""
    return float(areas_of_points(points, normals).sum())


def areas_of_points(points: Array, normals: Array | None = None, k: int = 8) -> Array:
    """(n,) float: π d² / k, with d the distance to the k-th neighbour; of those that face the same way, with normals.

    Without normals the two sides of a wall thinner than the spacing count as one.
    """
    several = min(k if normals is None else 3 * k, len(points) - 1)
    if several < 1:
        return np.zeros(len(points))
    distances, index = nearest_few(cKDTree(points), points, several + 1)
    if normals is None:
        return np.asarray(np.pi * distances[:, -1] ** 2 / several)
    facing = np.cumsum(np.einsum("nkc,nc->nk", normals[index], normals) > FACING, axis=1) - 1
    last = np.where(facing[:, -1] >= k, (facing >= k).argmax(axis=1), several)[:, None]
    count = np.maximum(np.take_along_axis(facing, last, axis=1)[:, 0], 1)
    alone = np.pi * np.take_along_axis(distances, last, axis=1)[:, 0] ** 2 / count
    return np.asarray(np.median(alone[index], axis=1))  # a narrow face holds no disc of its own


def normals_of_cloud(points: Array, k: int = 12) -> Array:
    """Outward unit normals of a cloud: planes through k neighbours or more, turned to where the outside is.

    Points that do not know that by themselves agree with those that do, or else with each other and the enclosed
    volume, along a minimum spanning tree over the most parallel neighbours (Hoppe et al. 1992).

    points : (n, 3) float → (n, 3) float
    """
    points = np.asarray(points, dtype=np.float64)
    if len(points) > MANY:
        some = np.random.default_rng(len(points)).permutation(len(points))[:MANY]
        return normals_of_cloud(points[some], k)[cKDTree(points[some]).query(points)[1]]
    k = min(k, len(points) - 1)
    neighbors = np.asarray(cKDTree(points).query(points, k=k + 1)[1], dtype=np.int64)
    axes = axes_of_planes(points, neighbors)
    seen = openness(points, axes)
    axes = axes * np.where(seen < 0, -1.0, 1.0)[:, None]
    signs, open_ended = _agreeing_signs(axes, neighbors, np.abs(seen) > TOLD)
    normals = axes * signs[:, None]
    return normals * _outward(points, normals, open_ended, areas_of_points(points, normals))[:, None]


def _agreeing_signs(normals: Array, neighbors: Ints, told: Bools) -> tuple[Array, Ints]:
    """Signs (n,) ±1 that make neighbouring normals agree, those of the told ones being 1.

    → the signs, and (n,) int: the group of connected points that none of them is in, −1 for all others
    """
    n, k = neighbors.shape
    i, j = np.repeat(np.arange(n), k), neighbors.ravel()
    turn = 1.001 - np.abs(np.einsum("nc,nc->n", normals[i], normals[j]))  # a sparse graph cannot hold a weight of zero
    apart = i != j
    roots = np.flatnonzero(told)  # hang on a node of their own, nearer than any neighbour
    rows, columns = np.concatenate([i[apart], roots]), np.concatenate([j[apart], np.full(len(roots), n)])
    weights = np.concatenate([turn[apart], np.full(len(roots), 1e-6)])
    graph = coo_array((weights, (rows, columns)), shape=(n + 1, n + 1)).tocsr()
    tree = minimum_spanning_tree(graph.maximum(graph.T))
    count, groups = connected_components(tree, directed=False)
    parent = np.arange(n + 1)
    for root in [n, *(int(np.argmax(groups == c)) for c in range(count) if c != groups[n])]:
        order, before = breadth_first_order(tree, root, directed=False)
        parent[order[1:]] = before[order[1:]]
    of_parent = np.concatenate([normals, normals[:1]])[parent[:n]]
    signs = np.where(np.einsum("nc,nc->n", normals, of_parent) < 0, -1.0, 1.0)
    signs = np.append(np.where(parent[:n] == n, 1.0, signs), 1.0)
    # Pointer doubling: after each round a point knows its sign relative to an ancestor twice as far up.
    while (parent[parent] != parent).any():
        signs, parent = signs * signs[parent], parent[parent]
    return signs[:n], np.where(groups == groups[n], -1, groups)[:n].astype(np.int64)


def _outward(points: Array, normals: Array, groups: Ints, areas: Array) -> Array:
    """Signs (n,) ±1 that give every group a positive volume: ∑ area · (x − centre) · normal = 3 V > 0; −1: no group."""
    groups = groups + 1
    count = int(groups.max()) + 1
    mass = np.bincount(groups, areas, minlength=count) + np.finfo(float).tiny
    centers = np.stack([np.bincount(groups, areas * x, minlength=count) / mass for x in points.T], axis=1)
    flux = np.einsum("nc,nc->n", points - centers[groups], normals) * areas
    inside_out = np.bincount(groups, flux, minlength=count) < 0
    inside_out[0] = False
    return np.where(inside_out, -1.0, 1.0)[groups]
