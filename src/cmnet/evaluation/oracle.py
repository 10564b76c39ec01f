"""What true matches come to: the ceiling of any network under the published pose and pose graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial import cKDTree

from cmnet.evaluation.answers import Answer, answer_of
from cmnet.evaluation.cases import Case
from cmnet.evaluation.choices import MATING
from cmnet.geometry.pose import Pose
from cmnet.geometry.procrustes import robust_procrustes
from cmnet.geometry.trees import nearest_one
from cmnet.geometry.types import Array, Ints
from cmnet.model.config import CMNetConfig
from cmnet.solving.paper import solve_paper
from cmnet.solving.shonan import Edge

LEAST = 3  # matches that define a pose

Mates = dict[tuple[int, int], tuple[Ints, Ints]]


def mates(places: Sequence[Array], radius: float) -> Mates:
    """By ordered pair (i, j): points of part i that have a point of part j within the radius, and the nearest such.

    places : p arrays (n_i, 3) float, the parts in their places
    """
    trees = [cKDTree(points) for points in places]
    found = {}
    for i, points in enumerate(places):
        for j, tree in enumerate(trees):
            if i != j:
                distance, nearest = nearest_one(tree, points, radius)
                rows = np.flatnonzero(np.isfinite(distance))
                found[i, j] = rows, nearest[rows]
    return found


class Oracle:
    """The one method that is told the truth: which points match. Poses and places are found as published."""

    def answer(self, case: Case) -> Answer:
        puzzle, own = case.puzzle, np.flatnonzero(case.own).tolist()
        points = [puzzle.points[k].xyz for k in own]
        places = [Pose.from_matrix(case.truth[k]).apply(xyz) for k, xyz in zip(own, points)]
        found = mates(places, MATING * case.size)
        pairs = [(i, j) for i, j in found if i < j and len(found[i, j][0]) + len(found[j, i][0]) >= LEAST]
        edges = [_edge(own[i], own[j], points[i], points[j], _matches(found, i, j), case.size) for i, j in pairs]
        assembly = solve_paper(edges, [p.area for p in puzzle.points])
        given = [Pose.identity()] * len(puzzle.points)
        return answer_of(assembly, range(len(given)), puzzle.anchor, given)


def _matches(found: Mates, i: int, j: int) -> tuple[Ints, Ints]:
    """Points of part i and points of part j, (k,) each: what is nearest to each other, seen from either side."""
    (rows, nearest), (columns, back) = found[i, j], found[j, i]
    return np.concatenate([rows, back]), np.concatenate([nearest, columns])


def _edge(i: int, j: int, points_i: Array, points_j: Array, matches: tuple[Ints, Ints], size: float) -> Edge:
    """The published pose of equally strong matches, and their number as their mass."""
    config, (a, b) = CMNetConfig(), matches
    radius = config.inlier_radius * size
    T_i_j = robust_procrustes(points_j[b], points_i[a], np.ones(len(a)), radius, config.inlier_rounds)
    return Edge(i, j, T_i_j, float(len(a)))
