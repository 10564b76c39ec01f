"""The published solver (supplement, "Inference & Pose-Graph Optimization"), for comparison.

Of all pairs, every part keeps only the edge with the highest score; the information of an edge is the inverse of its
transport mass, as published; rotations by Shonan averaging, then translations; the largest part is the anchor. What is
left has hardly ever a loop, and it may fall apart: published, the parts that nothing connects to the anchor get poses
that mean nothing. Here every connected set is a group of its own, as in any `Assembly`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cmnet.geometry.types import Array
from cmnet.pairing.join import Join
from cmnet.solving.assembly import Assembly, to_assembly
from cmnet.solving.groups import Group, standing
from cmnet.solving.shonan import Edge, follow, shonan


def solve_paper(edges: Sequence[Edge], areas: Sequence[float] | Array) -> Assembly:
    """Put parts together by their best-scoring edges.

    edges : the weight is the score, the transport mass Σ exp(Z) of a pair; one edge a pair, or one for either direction
    areas : (n,) float, of all parts; the largest is the anchor

    The joins come by their scores, which are all that is known of them.
    """
    sound = [edge for edge in edges if np.isfinite(edge.weight) and edge.weight > 0]
    kept = _best_of_each(sound, len(areas))
    # A score is no probability, and nobody has looked at the surfaces.
    joins = [Join((e.i, e.j), e.T_i_j, None, None, None, None, number=n) for n, e in enumerate(sound)]
    groups = []
    for T in follow(kept):
        informed = [Edge(e.i, e.j, e.T_i_j, 1 / e.weight) for e in kept if e.i in T]
        used = tuple(join for edge, join in zip(sound, joins) if edge in kept and edge.i in T)
        groups.append(Group(shonan(T, informed, np.zeros((len(areas), 3)), robust=False), used))
    by_score = [joins[k] for k in sorted(range(len(sound)), key=lambda k: -sound[k].weight)]
    held = standing(groups, np.asarray(areas, dtype=np.float64), {})
    return to_assembly(held, len(areas), by_score)


def _best_of_each(edges: Sequence[Edge], count: int) -> list[Edge]:
    """The best edge out of every part. An edge leads out of both its parts, unless there is one for the way back."""
    directions = {(edge.i, edge.j) for edge in edges}
    best: dict[int, Edge] = {}
    for edge in edges:
        ends = (edge.i,) if (edge.j, edge.i) in directions else (edge.i, edge.j)
        for k in ends:
            if k not in best or edge.weight > best[k].weight:
                best[k] = edge
    return list({id(edge): edge for edge in best.values()}.values())
