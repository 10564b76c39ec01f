"""What the page is told about a join: the figures, the contact, the gaps in its own pose, the matched points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from cmnet.geometry.trees import nearest_one
from cmnet.geometry.types import Array
from cmnet.matched import PairMatches
from cmnet.pairing.join import Join
from cmnet.pairing.judge.uncertainty import Uncertainty
from cmnet.report.document import number
from cmnet.report.gaps import Target, gaps_of_join
from cmnet.report.percent import percent, unbroken
from cmnet.report.viewer_mesh import Display
from cmnet.report.viewer_pack import BEYOND, Block, bytes_of_gaps
from cmnet.solving.assembly import Assembly

SPARE = 24  # joins that are shown beside the used ones, the surest first
FACING = -0.5  # the dot product of normals below which two surfaces face each other
LINES = 150  # matches shown of one join, the strongest first


def shown_joins(assembly: Assembly) -> list[int]:
    """Every used join and the surest others, by confidence."""
    ranked = sorted(range(len(assembly.joins)), key=lambda k: -assembly.joins[k].sure)
    spare = set([k for k in ranked if not assembly.joins[k].used][:SPARE])
    return [k for k in ranked if assembly.joins[k].used or k in spare]


def matches_of(assembly: Assembly, join: Join) -> PairMatches | None:
    """What was matched of the two parts of a join, in its order."""
    i, j = join.parts
    found = assembly.matches.get((min(i, j), max(i, j)))
    return found.turned() if found is not None and i > j else found


@dataclass(frozen=True, eq=False)
class JoinPacker:
    """Packs one join after another. where : (n, 3) float of every part, the points of its surface that are drawn"""

    targets: Sequence[Target]
    drawn: Sequence[Display]
    where: Sequence[Array]
    limit: float
    block: Block

    def pack(self, join: Join, matches: PairMatches | None) -> dict[str, Any]:
        gaps = gaps_of_join(join, self.targets, BEYOND * self.limit, self.where)
        facts = {
            "parts": [int(k) for k in join.parts],
            "pose": join.T_i_j.matrix().ravel().tolist(),
            "confidence": number(join.confidence),
            "sure": unbroken(percent(join.confidence)),
            "area": number(join.contact_area),
            "gap": number(join.gap_rms),
            "penetration": number(join.penetration),
            **off_by(join.uncertainty),
            "used": bool(join.used),
            "contact": self._contact(join, gaps),
            "gaps": [self.block.add(bytes_of_gaps(gap, self.limit)) for gap in gaps],
        }
        return facts if matches is None else {**facts, "matches": self._matches(join, matches)}

    def _contact(self, join: Join, gaps: tuple[Array, Array]) -> dict[str, Any]:
        """Where the two meet, in the coordinates of part i: the middle, the direction from i to j, the extent."""
        i, j = join.parts
        near = [np.flatnonzero(np.abs(gap) < self.limit) for gap in gaps]
        x_i, n_i = self.where[i][near[0]], self.drawn[i].normals[near[0]]
        x_j, n_j = join.T_i_j.apply(self.where[j][near[1]]), join.T_i_j.rotate(self.drawn[j].normals[near[1]])
        points, normals = _facing(x_i, n_i, x_j, n_j)
        across = normals.sum(axis=0)
        if len(points) == 0:
            points = np.stack([self.where[i].mean(axis=0), join.T_i_j.apply(self.where[j]).mean(axis=0)])
            across = points[1] - points[0]
        middle = points.mean(axis=0)
        length = float(np.linalg.norm(across))
        return {
            "point": middle.tolist(),
            "normal": (across / length).tolist() if length > 0 else [0.0, 1.0, 0.0],
            "radius": float(np.quantile(np.linalg.norm(points - middle, axis=1), 0.95)),
        }

    def _matches(self, join: Join, matches: PairMatches) -> dict[str, Any]:
        """Both ends of every line, each from the low corner of its part: as single numbers they stay exact."""
        best = np.argsort(-matches.weights, kind="stable")[:LINES]
        low_i, low_j = (self.drawn[k].vertices.min(axis=0) for k in join.parts)
        ends = np.concatenate([matches.points_i[best] - low_i, matches.points_j[best] - low_j], axis=1)
        facts: dict[str, Any] = {
            "ends": self.block.add(ends.astype(np.float32)),
            "weights": np.round(matches.weights[best], 4).tolist(),
        }
        for name, scores in (("shape", matches.shape), ("occupancy", matches.occupancy)):
            if scores is not None:
                facts[name] = np.round(scores[best], 4).tolist()
                facts[f"{name}Mean"] = unbroken(percent(float(np.mean(facts[name]))))
        return facts


def _facing(x_i: Array, n_i: Array, x_j: Array, n_j: Array) -> tuple[Array, Array]:
    """Of the points of j those that face their nearest point of i, and the normals there, pointing from i to j."""
    if len(x_i) == 0 or len(x_j) == 0:
        return np.empty((0, 3)), np.empty((0, 3))
    nearest = nearest_one(cKDTree(x_i), x_j)[1]
    facing = np.einsum("nc,nc->n", n_i[nearest], n_j) < FACING
    return x_j[facing], (n_i[nearest] - n_j)[facing]


def off_by(known: Uncertainty | None) -> dict[str, Any]:
    """How far a pose may be off, if that is known: a length and degrees."""
    return {} if known is None else {"off": [known.length, known.degrees]}
