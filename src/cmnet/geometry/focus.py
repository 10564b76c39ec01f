"""Fewer samples where a surface is smooth, more where it is not: edges and rough breaks say more than plain skin."""

import numpy as np

from cmnet.geometry.neighbors import nearest
from cmnet.geometry.types import Array, Bools, Floats

NEIGHBORS = 12  # whose normals are compared
OPPOSED = -0.5  # normals with a smaller dot product belong to the other side of a wall


def unevenness(xyz: Floats, normals: Floats) -> Array:
    """(n,) float in [0, 1]: how much the normals around each sample differ. xyz, normals : (n, 3) float"""
    around = normals[nearest(xyz, xyz, min(NEIGHBORS, len(xyz)))[1]]
    same_side = np.einsum("nkc,nc->nk", around, normals) > OPPOSED
    total = np.einsum("nkc,nk->nc", around, same_side.astype(around.dtype))
    return np.asarray(1 - np.linalg.norm(total, axis=1) / same_side.sum(axis=1), dtype=np.float64)


def focused(xyz: Floats, normals: Floats, count: int, share: float) -> Bools:
    """(n,) bool: `count` of the samples, `share` of them where the normals differ most, the others anywhere.

    xyz, normals : (n, 3) float, in random order: of what is smooth, the first ones are taken
    """
    if count == len(xyz):
        return np.ones(len(xyz), dtype=bool)
    order = np.argsort(-unevenness(xyz, normals), kind="stable")
    edges, rest = np.split(order, [round(share * count)])
    chosen = np.zeros(len(xyz), dtype=bool)
    chosen[edges] = chosen[np.sort(rest)[: count - len(edges)]] = True
    return chosen
