"""How exactly every part lies against the one that stays: what the joins of a group leave open together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse.csgraph import connected_components

from cmnet.geometry.pose import Pose
from cmnet.geometry.types import Array
from cmnet.pairing.align.normal_equations import add_between
from cmnet.pairing.join import Join
from cmnet.pairing.judge.uncertainty import Uncertainty, covariance_of
from cmnet.pairing.surface.surface import Surface
from cmnet.solving.assembly import Assembly

LEAST = 1e-3  # weight of a join, however unsure it is: a part that hangs on it alone lies as it says


def with_uncertainties(assembly: Assembly, surfaces: Sequence[Surface], fixed: Collection[int] = ()) -> Assembly:
    """The assembly with what is known of how exactly its parts lie; nothing of those that only a given join holds.

    fixed : parts whose place was given; in a group without any, the part at rest stays
    """
    found: list[Uncertainty | None] = [None] * len(surfaces)
    for group in assembly.groups:
        at_rest = next((k for k in group if np.array_equal(assembly.poses[k], np.eye(4))), group[0])
        stays = [k for k in group if k in fixed] or [at_rest]
        for k, uncertainty in _of_group(assembly, group, stays, surfaces):
            found[k] = uncertainty
    return replace(assembly, uncertainties=found)


def _of_group(
    assembly: Assembly, group: Sequence[int], stays: Sequence[int], surfaces: Sequence[Surface]
) -> Iterator[tuple[int, Uncertainty]]:
    """Of every part that joins connect with one that stays."""
    unit, place = surfaces[group[0]].unit, {k: n for n, k in enumerate(group)}
    # In units, about the middle of the group: scans may lie far from their origin.
    T = [Pose.from_matrix(assembly.poses[k]) @ surfaces[k].T_part_surface for k in group]
    middle = np.mean([pose.t for pose in T], axis=0)
    T = [Pose(pose.R, (pose.t - middle) / unit) for pose in T]
    joins = [join for join in assembly.joins if join.used and set(join.parts) <= set(group)]
    links = [link for join in joins if (link := _link(join, place, T, surfaces)) is not None]
    for n, C in _solved(T, [place[k] for k in stays], links).items():
        yield group[n], Uncertainty.of(C, T[n].t).scaled(unit).moved(Pose(np.eye(3), middle))


@dataclass(frozen=True, eq=False)
class _Link:
    """Two parts by their places in the group, and the covariance (6, 6) of j against i, in the group's frame."""

    i: int
    j: int
    covariance: Array
    weight: float


def _link(join: Join, place: Mapping[int, int], T: Sequence[Pose], surfaces: Sequence[Surface]) -> _Link | None:
    """None: a given join, of parts that hardly touch."""
    (i, j), (a, b) = (place[k] for k in join.parts), (surfaces[k] for k in join.parts)
    C = covariance_of(a, b, T[i].inverse() @ T[j])
    if C is None and join.uncertainty is not None:  # what only another look shows
        C = join.uncertainty.moved(a.T_part_surface.inverse()).scaled(1 / a.unit).covariance
    if C is None:
        return None
    seen = T[i].adjoint()
    return _Link(i, j, seen @ C @ seen.T, max(join.sure, LEAST))


def _solved(T: Sequence[Pose], stays: Sequence[int], links: Sequence[_Link]) -> dict[int, Array]:
    """(6, 6) float of each part: what uncertain joins make of poses that even them out as `averaging` does."""
    count = len(T)
    H, S, linked = np.zeros((count, 6, count, 6)), np.zeros((count, 6, count, 6)), np.zeros((count, count))
    linked[np.ix_(stays, stays)] = 1
    for link in links:
        i, j = link.i, link.j
        linked[i, j] = 1
        block = Pose(np.eye(3), -(T[i].t + T[j].t) / 2).adjoint()
        square = link.weight * block.T @ block
        spread = square @ link.covariance @ square
        add_between(H, i, j, square)
        add_between(S, i, j, spread)
    home = connected_components(linked, directed=False)[1]
    moves = [n for n in range(count) if n not in stays and home[n] == home[stays[0]]]
    A, M = (X[moves][:, :, moves].reshape(6 * len(moves), 6 * len(moves)) for X in (H, S))
    A = np.asarray(np.linalg.inv(A), dtype=np.float64)
    C = (A @ M @ A).reshape(len(moves), 6, len(moves), 6)
    return dict.fromkeys(stays, np.zeros((6, 6))) | {n: C[row, :, row] for row, n in enumerate(moves)}
