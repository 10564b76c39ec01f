"""Whether two breaks go up and down together: the reliefs of surfaces that fit by chance have nothing in common."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from cmnet.geometry.pose import Pose
from cmnet.geometry.trees import distance_to_few
from cmnet.geometry.types import Array, Bools, Ints
from cmnet.pairing.surface.surface import Surface

FACED = 5  # nearest samples among which one that faces is sought
FEWEST_FACING = 12  # samples below which nothing is said
OUTLYING = 3.0  # standard deviations from the median gap beyond which samples do not belong to the break,
LEAST_SPREAD = 5e-4  # taken to be this at least, in units
STEEP = 0.3  # least cosine by which a gap is measured along the common normal
# Relief is what rises over the mean around it, weighed by this distance, in units: bowls are no relief.
RELIEF_AROUND = 0.06
GRAIN = 0.02  # length over which a break goes up and down once, in units
BORDER = 0.04  # from the border inwards, in units: samples that wear may have rounded
ALIKE = 0.995  # no correlation counts for more


def common_relief(a: Surface, b: Surface, T_a_b: Pose) -> float:
    """What the likeness of the two reliefs says against chance, in nats: that of the side which says less.

    With n independent samples of correlation r it is −n/2 · log(1 − r²); of all samples, or of the inner ones alone,
    if these say more: wear rounds the border of a break.
    """
    sides = zip(_said(a, b, T_a_b), _said(b, a, T_a_b.inverse()))
    return max(min(said) for said in sides)


def _said(a: Surface, b: Surface, T_a_b: Pose) -> tuple[float, float]:
    """By b's samples that face a: by all, and by the inner ones."""
    limits = a.scale.tolerances
    near = np.flatnonzero(np.abs(a.box.at(a.signed, T_a_b, b.points)) < limits.apart + 2 * a.box.size)
    x, n = T_a_b.apply(b.points[near]), T_a_b.rotate(b.normals[near])
    distance, index = a.dense_cells.nearest(x, FACED, 1.5 * limits.apart)
    index = np.where(np.isfinite(distance), index, 0)
    faces = np.isfinite(distance) & (np.einsum("mkc,mc->mk", a.dense_normals[index], n) < limits.facing_loosely)
    at = index[np.arange(len(near)), faces.argmax(axis=1)]
    normal = a.dense_normals[at]
    gap = np.einsum("mc,mc->m", x - a.dense[at], normal)
    met = np.flatnonzero(faces.any(axis=1) & (np.abs(gap) < limits.apart))
    inward = _inward(b, near[met])
    kept = _together(gap[met])
    met, inward = met[kept], inward[kept]
    inner = met[inward >= min(float(np.median(inward)), BORDER)] if len(met) else met
    area, most = b.area / len(b.points), a.scale.budget.relief
    everywhere, inside = (_nats(x[some], normal[some], gap[some], area, most) for some in (met, inner))
    return everywhere, inside


def _nats(x: Array, normal: Array, gap: Array, area: float, most: int) -> float:
    """What samples x, each of which stands for an area, say of what they face with its normals at these gaps.

    most : of them that are compared
    """
    if len(x) < FEWEST_FACING:
        return 0.0
    some = slice(None, None, -(-len(x) // most))
    own, other = _reliefs(x[some], normal[some], gap[some] - np.median(gap)).T
    likeness = float(own @ other) / max(float(np.sqrt((own @ own) * (other @ other))), 1e-12)
    return -0.5 * len(x) * area / GRAIN**2 * float(np.log(1 - np.clip(likeness, 0.0, ALIKE) ** 2))


def _inward(surface: Surface, chosen: Ints) -> Array:
    """(m,) float: how far each of the chosen samples lies from the border of them all."""
    outside = np.ones(len(surface.points), dtype=bool)
    outside[chosen] = False
    border = chosen[outside[surface.next_to[chosen]].any(axis=1)]
    return distance_to_few(surface.points[border], surface.points[chosen])


def _together(gap: Array) -> Bools:
    """Which gaps are not outlying."""
    if not len(gap):
        return np.zeros(0, dtype=bool)
    off = np.abs(gap - np.median(gap))
    return np.asarray(off < OUTLYING * max(1.4826 * float(np.median(off)), LEAST_SPREAD))


def _reliefs(x: Array, normal: Array, gap: Array) -> Array:
    """(m, 2) float: how far samples x rise over those around them, and what they face over its own."""
    offset = x - x.mean(axis=0)
    axes = np.linalg.eigh(offset.T @ offset)[1]
    local = offset @ axes
    up = local[:, 0]
    cosine = normal @ axes[:, 0]
    faced = up - gap * np.sign(cosine) / np.maximum(np.abs(cosine), STEEP)
    sheet, heights = sheet_terms(local[:, 1:]), np.stack([up, faced], axis=1)
    heights -= sheet @ np.linalg.lstsq(sheet, heights, rcond=None)[0]
    weight = np.exp(-0.5 * cdist(x, x, "sqeuclidean") / RELIEF_AROUND**2)
    return np.asarray(heights - weight @ heights / weight.sum(axis=1, keepdims=True))


def sheet_terms(uv: Array) -> Array:
    """(m, 6) float: 1, u, v, u², uv, v², of which a curved sheet is made."""
    u, v = uv.T
    return np.stack([np.ones_like(u), u, v, u * u, u * v, v * v], axis=1)
