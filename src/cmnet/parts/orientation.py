"""Which side of a part is outside: faces that disagree are made to agree, parts turned inside out are turned back."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from cmnet.geometry.triangles import areas, cross_products
from cmnet.geometry.types import Array, Bools, Ints
from cmnet.parts.edges import face_links, linked_groups


def faces_to_flip(vertices: Array, faces: Ints) -> Bools:
    """(m,) bool: the faces to turn round so that neighbours agree and the whole encloses a positive volume.

    vertices : (n, 3) float, faces : (m, 3) int. Open surfaces whose outside cannot be told stay as they are.
    """
    flip = _to_agree(vertices, faces)
    corners = vertices[faces]
    outward = cross_products(corners) / 2
    outward[flip] *= -1
    middles = corners.mean(axis=1)
    return ~flip if is_inside_out(middles, outward) else flip


def is_inside_out(points: Array, outward: Array) -> bool:
    """Whether a surface that closes on itself, or nearly so, has its normals inside.

    points : (n, 3) float samples, outward : (n, 3) float their normals times the areas they stand for.
    By the divergence theorem ∑ x · n dA = 3 V; with ∑ n dA ≠ 0 (an open surface) V is only known up to |∑ n dA| · size.
    """
    offsets = points - points.mean(axis=0)
    volume = float(np.einsum("nc,nc->", offsets, outward)) / 3
    doubt = float(np.linalg.norm(outward.sum(axis=0)) * np.linalg.norm(np.ptp(points, axis=0)))
    return volume < -doubt


def _to_agree(vertices: Array, faces: Ints) -> Bools:
    """(m,) bool: the faces at odds with their surroundings, the smaller side of every quarrel."""
    a, b, agree = face_links(faces)
    if agree.all():
        return np.zeros(len(faces), dtype=bool)
    groups = linked_groups(a, b, len(faces))
    odd = _parity(a, b, agree, groups)
    area = areas(vertices[faces])
    turned = np.bincount(groups, area * odd) > np.bincount(groups, area) / 2
    flip = odd ^ turned[groups]
    # A surface with one side only (a Möbius strip) has no answer: it stays as it is.
    return flip if ((flip[a] ^ flip[b]) != agree).all() else np.zeros_like(flip)


def _parity(a: Ints, b: Ints, agree: Bools, groups: Ints) -> Bools:
    """(m,) bool: whether a face disagrees with the first face of its group, along a tree of links."""
    count = len(groups)  # also the number of a node beside the faces, from which the first of every group is reached
    roots = np.unique(groups, return_index=True)[1]
    rows, columns = np.concatenate([a, b, np.full(len(roots), count)]), np.concatenate([b, a, roots])
    unlike = np.concatenate([~agree, ~agree, np.zeros(len(roots), dtype=bool)])
    keys, once = np.unique(columns * (count + 1) + rows, return_index=True)
    graph = csr_array((np.ones(len(once), dtype=np.int8), (rows[once], columns[once])), shape=(count + 1, count + 1))
    _, parent = breadth_first_order(graph, count)
    parent = parent.astype(np.int64)
    odd = np.zeros(count + 1, dtype=bool)
    odd[:-1] = unlike[once][np.searchsorted(keys, np.arange(count) * (count + 1) + parent[:-1])]
    parent[count] = count
    # Pointer doubling: after each round a face knows its parity relative to an ancestor twice as far up.
    while (parent[parent] != parent).any():
        odd, parent = odd ^ odd[parent], parent[parent]
    return odd[:-1]
