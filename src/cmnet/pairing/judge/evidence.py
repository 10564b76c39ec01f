"""What speaks for and against a pose: contact, gap, rim closure, penetration, and what could still slide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cmnet.geometry.compiled import compiled
from cmnet.geometry.pose import Pose
from cmnet.geometry.trees import distance_to_few
from cmnet.geometry.types import Array, Bools, Ints
from cmnet.pairing.align.normal_equations import plane_rows
from cmnet.pairing.surface.creases import complement
from cmnet.pairing.surface.surface import Surface

RIM_STEP = 0.008  # the rim is measured in steps of this length, in units
WITNESSES = 5  # nearest samples that must all agree that a sample lies behind the surface
FEWEST_TOUCHING = 6  # samples, for a shape of the contact


@dataclass(frozen=True, eq=False)
class Evidence:
    """Of one pose of a pair; lengths in units.

    rim         : length of the creases of both parts that close on each other
    closure     : share of the contact's outline that lies on such creases
    contact     : area over which the surfaces touch
    gap         : root-mean-square distance of touching surfaces
    near        : area where the surfaces face each other closely without touching
    inside      : share of either part's volume inside the other, the larger one
    depth       : how deep, at the 95th percentile of what is inside
    hold        : how firmly contact and rim hold against sliding and turning, 0 (freely) to 1
    grip        : the same of the contact alone: two flat faces have none
    relief      : root-mean-square distance of what touches from a plane: the deeper, the less likely by chance
    width       : the same across, from the line along which the contact is longest
    broken      : mean probability, over the contact, that it lies on a break; None: nobody says
    """

    rim: float
    closure: float
    contact: float
    gap: float
    near: float
    inside: float
    depth: float
    hold: float
    grip: float
    relief: float
    width: float
    broken: float | None = None


@dataclass(frozen=True, eq=False)
class _Side:
    """What one part meets on the other, in its own frame; t of its n samples touch."""

    touching: Bools  # (n,)
    near: Bools  # (n,)
    gaps: Array  # (t,)
    depths: Array  # (s,) of those inside
    matched: Array  # (k, 3) creases that close,
    planes: Array  # (k, 2, 3) and the normals of their two faces
    normals: Array  # (t, 3) of the other part


def verify(a: Surface, b: Surface, T_a_b: Pose) -> Evidence:
    """Examine one pose of b in a's frame, both ways."""
    sides = ((b, _side(a, b, T_a_b)), (a, _side(b, a, T_a_b.inverse())))
    contact = float(np.mean([s.area * e.touching.mean() for s, e in sides]))
    gaps = np.concatenate([e.gaps for _, e in sides])
    outline = [_outline(s, e) for s, e in sides]
    total = sum(n for _, n in outline)
    depths = np.concatenate([e.depths for _, e in sides])
    relief, width, _ = _extents(b.points[sides[0][1].touching])
    hold, grip = _hold(b, sides[0][1])
    return Evidence(
        rim=float(np.mean([_length(e.matched) for _, e in sides])),
        closure=sum(n for n, _ in outline) / total if total else 0.0,
        contact=contact,
        gap=float(np.sqrt((gaps**2).mean())) if len(gaps) else a.scale.tolerances.lift,
        near=float(np.mean([s.area * (e.near & ~e.touching).mean() for s, e in sides])),
        inside=max(_deep_inside(a, b, T_a_b), _deep_inside(b, a, T_a_b.inverse())),
        depth=float(np.quantile(depths, 0.95)) if len(depths) else 0.0,
        hold=hold,
        grip=grip,
        relief=relief,
        width=width,
        broken=_broken(sides),
    )


def _broken(sides: Sequence[tuple[Surface, _Side]]) -> float | None:
    """Mean over all that touches of what the parts themselves say."""
    said = [s.broken[e.touching] for s, e in sides if s.broken is not None]
    if len(said) < len(sides):
        return None
    touching = np.concatenate(said)
    return float(touching.mean()) if len(touching) else 0.0


def _deep_inside(a: Surface, b: Surface, T_a_b: Pose) -> float:
    """Share of b's volume inside a, what lies just below its surface or may be an error of the voxels left out."""
    return inside(a, b, T_a_b, max(a.scale.tolerances.sunk, a.box.size))


def inside(a: Surface, b: Surface, T_a_b: Pose, least: float = 0.0) -> float:
    """Share of b's volume that lies inside a, deeper than `least` units."""
    if not len(b.inner):
        return 0.0
    return float((a.box.at(a.signed, T_a_b, b.inner) < -least).mean())


def _side(a: Surface, b: Surface, T_a_b: Pose) -> _Side:
    """What b's even samples and creases meet on a."""
    limits, signed = a.scale.tolerances, a.box.at(a.signed, T_a_b, b.points)
    reach, margin = max(limits.touch, a.spacing), limits.unseen + a.box.size
    deep = signed <= -margin
    candidate = np.flatnonzero(~deep & (signed < limits.nearby * reach + 2 * a.box.size))
    x, n = T_a_b.apply(b.points[candidate]), T_a_b.rotate(b.normals[candidate])
    distance, index = a.dense_cells.nearest(x, WITNESSES, 2 * margin)
    partner, near = np.empty(len(x), dtype=np.int64), np.empty(len(x), dtype=np.bool_)
    height, depth = np.empty(len(x)), np.empty(len(x))
    given = limits.facing, limits.lift, reach, limits.nearby * reach
    _look_around(x, n, distance, index, a.dense, a.dense_normals, *given, partner, near, height, depth)
    met, inside = partner >= 0, (depth > limits.sunk) & (partner < 0)
    closing = _closed_rim(a, b, T_a_b)
    return _Side(
        touching=_spread_out(met, candidate, len(signed)),
        near=_spread_out(near, candidate, len(signed)),
        gaps=height[met],
        depths=np.concatenate([depth[inside], -signed[deep]]),
        matched=b.creases.points[closing],
        planes=b.creases.normals[closing],
        normals=T_a_b.inverse().rotate(a.dense_normals[partner[met]]),
    )


@compiled
def _look_around(
    x: Array,
    n: Array,
    distance: Array,
    index: Ints,
    points: Array,
    normals: Array,
    facing: float,
    lift: float,
    reach: float,
    nearby: float,
    partner: Ints,
    near: Bools,
    height: Array,
    depth: Array,
) -> None:
    """What samples x with normals n (m, 3) meet of the other part's points and normals (p, 3).

    distance, index : (m, k) of the nearest of these, infinite and of no meaning where there are fewer
    reach, nearby   : how far from a sample lies what it touches, and what it should touch
    Sets, of every sample, (m,): the nearest one it touches (−1: none), whether one faces it nearby, how high it lies
    above the one it touches, and how deep it lies behind all of them (0: it does not).
    """
    for i in range(len(x)):
        partner[i], near[i], height[i], depth[i] = -1, False, 0.0, np.inf
        for k in range(distance.shape[1]):
            if distance[i, k] == np.inf:
                break
            j = index[i, k]
            a, b, c = normals[j]
            up = (x[i, 0] - points[j, 0]) * a + (x[i, 1] - points[j, 1]) * b + (x[i, 2] - points[j, 2]) * c
            depth[i] = min(depth[i], max(-up, 0.0))
            if n[i, 0] * a + n[i, 1] * b + n[i, 2] * c < facing:
                near[i] = near[i] or distance[i, k] < nearby
                if partner[i] < 0 and distance[i, k] < reach and abs(up) < lift:
                    partner[i], height[i] = j, up
        if depth[i] == np.inf:
            depth[i] = 0.0


def _spread_out(flags: Bools, index: Ints, count: int) -> Bools:
    """(count,) bool: the flags of some, and False for the others."""
    everywhere = np.zeros(count, dtype=bool)
    everywhere[index] = flags
    return everywhere


def _closed_rim(a: Surface, b: Surface, T_a_b: Pose) -> Ints:
    """(k,) int: the creases of b that lie on complementary creases of a."""
    moved = T_a_b.apply(b.creases.points)
    distance, index = a.crease_cells.nearest(moved, 3, a.scale.tolerances.rim_closed)
    i, j = np.nonzero(np.isfinite(distance))
    fit = complement(a.creases.normals[index[i, j]], np.einsum("ij,krj->kri", T_a_b.R, b.creases.normals[i]))
    return np.unique(i[fit > a.scale.tolerances.agree_examined])


def _length(points: Array) -> float:
    """Length of the curve that crease points lie along: the voxels of one step that they fill, times the step."""
    if not len(points):
        return 0.0
    voxels = np.floor(points / RIM_STEP).astype(np.int64)
    voxels -= voxels.min(axis=0)
    return RIM_STEP * len(np.unique(np.ravel_multi_index(tuple(voxels.T), tuple(voxels.max(axis=0) + 1))))


def _outline(surface: Surface, side: _Side) -> tuple[int, int]:
    """Of the samples at the border of the contact: how many lie near a closing crease, and how many there are."""
    if not side.touching.any() or side.touching.all():
        return 0, 0
    touching = np.flatnonzero(side.touching)
    border = surface.points[touching[~side.touching[surface.next_to[touching]].all(axis=1)]]
    closed = surface.scale.tolerances.rim_closed + surface.spacing
    return int((distance_to_few(side.matched, border) < closed).sum()), len(border)


def _extents(points: Array) -> tuple[float, float, float]:
    """Root-mean-square extents along the principal directions, the smallest first. points : (n, 3) float"""
    if len(points) < FEWEST_TOUCHING:
        return 0.0, 0.0, 0.0
    offset = points - points.mean(axis=0)
    least, middle, most = np.sqrt(np.maximum(np.linalg.eigvalsh(offset.T @ offset / len(points)), 0.0))
    return float(least), float(middle), float(most)


def _hold(b: Surface, side: _Side) -> tuple[float, float]:
    """Smallest stiffness over all six ways to move, of the contact and its rim, and of the contact alone.

    0 where the parts can slide or turn freely. What touches holds along its normal; a rim that closes holds along both
    of its faces, and counts as much.
    """
    x, normal = b.points[side.touching], side.normals
    if len(x) < FEWEST_TOUCHING:
        return 0.0, 0.0
    centre = x.mean(axis=0)
    size = max(float(np.sqrt(((x - centre) ** 2).sum(axis=1).mean())), 1e-9)
    grip = _stiffness((x - centre) / size, normal)
    edge, faces = np.repeat(side.matched, 2, axis=0), side.planes.reshape(-1, 3)
    hold = (grip + _stiffness((edge - centre) / size, faces)) / 2
    return float(np.linalg.eigvalsh(hold)[0]), float(np.linalg.eigvalsh(grip)[0])


def _stiffness(x: Array, normal: Array) -> Array:
    """(6, 6) float: mean resistance against turning and shifting of points held along normals. x, normal : (n, 3)"""
    J = plane_rows(x, normal)
    return np.asarray(J.T @ J / max(len(x), 1))
