"""What a bare point cloud does not say by itself: its normals and its area."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree
from scipy.spatial import cKDTree

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


def area_of_cloud(points: Array, k: int = 8) -> float:
    """Area of the surface that a cloud samples evenly, from the spacing of its points. points : (n, 3) float"""
    return float(_areas_per_point(points, k).sum())


def normals_of_cloud(points: Array, k: int = 16) -> Array:
    """Outward unit normals of a cloud: a plane through each point's k neighbours, the sides made to agree along a
    minimum spanning tree over the most parallel neighbours (Hoppe et al. 1992), outside by enclosed volume.

    points : (n, 3) float → (n, 3) float
    """
    points = np.asarray(points, dtype=np.float64)
    k = min(k, len(points) - 1)
    neighbors = np.asarray(cKDTree(points).query(points, k=k + 1)[1], dtype=np.int64)
    offsets = points[neighbors] - points[neighbors].mean(axis=1, keepdims=True)
    normals = np.linalg.eigh(np.einsum("nki,nkj->nij", offsets, offsets))[1][:, :, 0]
    components, signs = _agreeing_signs(normals, neighbors)
    normals = normals * signs[:, None]
    return normals * _outward(points, normals, components, _areas_per_point(points, k))[:, None]


def _areas_per_point(points: Array, k: int) -> Array:
    """(n,) float: π d² / k, with d the distance to the k-th neighbour."""
    k = min(k, len(points) - 1)
    if k < 1:
        return np.zeros(len(points))
    distances = np.asarray(cKDTree(points).query(points, k=[k + 1])[0])[:, 0]
    return np.pi * distances**2 / k


def _agreeing_signs(normals: Array, neighbors: Ints) -> tuple[Ints, Array]:
    """Signs (n,) ±1 that make neighbouring normals agree, and the connected component (n,) int of each point."""
    n, k = neighbors.shape
    i, j = np.repeat(np.arange(n), k), neighbors.ravel()
    turn = 1.001 - np.abs(np.einsum("nc,nc->n", normals[i], normals[j]))  # a sparse graph cannot hold a weight of zero
    graph = coo_array((turn[i != j], (i[i != j], j[i != j])), shape=(n, n)).tocsr()
    count, components = connected_components(graph, directed=False)
    tree = minimum_spanning_tree(graph.maximum(graph.T))
    parent = np.arange(n)
    for c in range(count):
        root = int(np.argmax(components == c))
        order, before = breadth_first_order(tree, root, directed=False)
        parent[order[1:]] = before[order[1:]]
    signs = np.where(np.einsum("nc,nc->n", normals, normals[parent]) < 0, -1.0, 1.0)
    # Pointer doubling: after each round a point knows its sign relative to an ancestor twice as far up.
    while (parent[parent] != parent).any():
        signs, parent = signs * signs[parent], parent[parent]
    return components.astype(np.int64), signs


def _outward(points: Array, normals: Array, components: Ints, areas: Array) -> Array:
    """Signs (n,) ±1 that give every component a positive volume: ∑ area · (x − centre) · normal = 3 V > 0."""
    count = int(components.max()) + 1
    mass = np.bincount(components, areas, minlength=count) + np.finfo(float).tiny
    centers = np.stack([np.bincount(components, areas * x, minlength=count) / mass for x in points.T], axis=1)
    flux = np.einsum("nc,nc->n", points - centers[components], normals) * areas
    return np.where(np.bincount(components, flux, minlength=count) < 0, -1.0, 1.0)[components]
