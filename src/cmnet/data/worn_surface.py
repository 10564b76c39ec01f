"""What wear does to one surface: rounded edges, noise, holes, uneven clouds. All lengths in units of the object."""

from __future__ import annotations

import manifold3d
import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.spatial import cKDTree

from cmnet.geometry.triangles import cross_products, normals_and_areas
from cmnet.geometry.types import Array, Bools, Ints

Rng = np.random.Generator


def flagged_body(
    vertices: Array, faces: Ints, broken: Bools, sources: tuple[int, int] | None = None
) -> tuple[manifold3d.Manifold, tuple[int, int]]:
    """A body whose skin and broken faces carry different sources. → the body, (source of the skin, of the breaks)"""
    if sources is None:
        first = manifold3d.Manifold.reserve_ids(2)
        sources = first, first + 1
    order = np.argsort(broken, kind="stable")
    skin = int((~broken).sum())
    mesh = manifold3d.Mesh64(
        np.array(vertices, dtype=np.float64, order="C"),
        np.array(faces[order], dtype=np.uint64, order="C"),
        run_index=np.array([0, 3 * skin, 3 * len(faces)], dtype=np.uint64),
        run_original_id=np.array(sources, dtype=np.uint32),
    )  # without face numbers, which would keep faces from being joined when they are simplified
    return manifold3d.Manifold(mesh), sources


def is_closed(vertices: Array, faces: Ints) -> bool:
    """Whether a mesh encloses a body."""
    body, _ = flagged_body(vertices, faces, np.zeros(len(faces), dtype=bool))
    return bool(body.status() == manifold3d.Error.NoError)


def eroded(vertices: Array, faces: Ints, skin: Bools, depth: float) -> Array:
    """Round off the edges between skin and breaks to about `depth`, only ever taking material away. → (n, 3) float"""
    on_skin, on_break = _touches(faces[skin], len(vertices)), _touches(faces[~skin], len(vertices))
    edge = on_skin & on_break
    if not edge.any():
        return vertices
    distance, _ = cKDTree(vertices[edge]).query(vertices, distance_upper_bound=3 * depth)
    pull = np.clip(1 - distance / (3 * depth), 0, 1)[:, None]  # 1 on the edge, 0 beyond three depths
    smooth = _mean_of_neighbours(faces, len(vertices))
    result = vertices
    for _ in range(6):
        step = pull * (smooth @ result - result)
        normal = _vertex_normals(result, faces)
        outward = np.maximum(np.einsum("nd,nd->n", step, normal), 0)[:, None]
        result = result + step - outward * normal
    moved = result - vertices
    length = np.linalg.norm(moved, axis=1, keepdims=True)
    return np.asarray(vertices + moved * np.minimum(1, depth / np.maximum(length, 1e-12)))


def noisy(vertices: Array, faces: Ints, deviation: float, rng: Rng) -> Array:
    """Noise along the normals, half of it smooth as scanners make it. → (n, 3) float"""
    rough = rng.standard_normal(len(vertices))
    smooth = _mean_of_neighbours(faces, len(vertices)) @ rng.standard_normal(len(vertices))
    smooth /= max(float(smooth.std()), 1e-12)
    return np.asarray(
        vertices + deviation * np.sqrt(0.5) * (rough + smooth)[:, None] * _vertex_normals(vertices, faces)
    )


def with_holes(vertices: Array, faces: Ints, count: int, rng: Rng) -> Bools:
    """Which faces are left after `count` round holes were torn into the scan; most of it always is. → (m,) bool"""
    keep = np.ones(len(faces), dtype=bool)
    centre = vertices[faces].mean(axis=1)
    size = float(np.ptp(vertices, axis=0).max())
    for _ in range(count):
        radius = size * rng.uniform(0.02, 0.08)
        left = keep & (np.linalg.norm(centre - centre[rng.integers(len(faces))], axis=1) > radius)
        keep = left if left.mean() > 0.7 else keep
    return keep


def tessellated(vertices: Array, faces: Ints, edge: float, rng: Rng) -> tuple[Array, Ints]:
    """Other triangles of about this edge for the same closed surface: every vertex lies on it, at a random place.

    → (n, 3) float, (m, 3) int; what lies between the vertices is off by less than a third of an edge, at creases
    """
    fine = flagged_body(vertices, faces, np.zeros(len(faces), dtype=bool))[0].refine_to_length(edge).to_mesh64()
    faces = np.array(fine.tri_verts, dtype=np.int64)
    places = np.array(fine.vert_properties, dtype=np.float64)[:, :3]
    order = rng.permutation(3 * len(faces))  # of all corners; a vertex moves within the face where it is met first
    number, first = np.unique(faces.ravel()[order], return_index=True)
    face, corner = np.divmod(order[first], 3)
    u, v = rng.uniform(0, 1 / 3, (2, len(number), 1))
    a, b, c = (places[faces[face, (corner + k) % 3]] for k in range(3))
    places[number] = a + u * (b - a) + v * (c - a)
    return places, faces


def uneven_cloud(corners: Array, count: int, unevenness: float, rng: Rng) -> tuple[Array, Array]:
    """Points and normals, denser towards a random direction. corners : (m, 3, 3) → (count, 3), (count, 3) float"""
    normals, areas = normals_and_areas(corners)
    centre = corners.mean(axis=1)
    along = centre @ rng.standard_normal(3)
    along = (along - along.min()) / max(float(np.ptp(along)), 1e-12)
    weight = areas * np.exp(unevenness * along)
    face = rng.choice(len(corners), size=count, p=weight / weight.sum())
    u = rng.random((2, count, 1))
    u = np.where(u.sum(axis=0) > 1, 1 - u, u)
    a, b, c = corners[face, 0], corners[face, 1], corners[face, 2]
    return a + u[0] * (b - a) + u[1] * (c - a), normals[face]


def _touches(faces: Ints, count: int) -> Bools:
    result = np.zeros(count, dtype=bool)
    result[faces] = True
    return result


def _mean_of_neighbours(faces: Ints, count: int) -> csr_array:
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    number = np.bincount(edges[:, 0], minlength=count)
    weight = 1 / np.maximum(number, 1)
    return coo_array((weight[edges[:, 0]], (edges[:, 0], edges[:, 1])), shape=(count, count)).tocsr()


def _vertex_normals(vertices: Array, faces: Ints) -> Array:
    cross = cross_products(vertices[faces])
    normal = np.zeros_like(vertices)
    for k in range(3):
        np.add.at(normal, faces[:, k], cross)
    return np.asarray(normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30))
