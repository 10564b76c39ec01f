"""What the network matched of two parts: as arrays for the pair stage, and with scores for whoever wants to see it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cmnet.geometry.types import Array
from cmnet.judgement import GEOMETRY, Judgement
from cmnet.pairing.propose.matches import Correspondences
from cmnet.pairing.surface.breaks import Breaks

if TYPE_CHECKING:
    from torch import Tensor

    from cmnet.model.descriptors import Descriptors
    from cmnet.model.network import CMNet, Matches
    from cmnet.solving.assembly import Assembly

Pair = tuple[int, int]

UNFITTED = "the weights come without tables of confidence: confidences are those of geometry alone."
KEPT = 1_000_000  # scored points of all pairs together


@dataclass(frozen=True, eq=False)
class PairMatches:
    """The matched points of parts i and j, each in the coordinates of its part, the strongest first.

    points_i, points_j : (k, 3) float
    weights            : (k,) float in [0, 1], how strongly they are matched
    shape, occupancy   : (k,) float in [0, 1], how alike the two points look and how well one fills what the other
                         leaves open; None where that is not known
    """

    points_i: Array
    points_j: Array
    weights: Array
    shape: Array | None = None
    occupancy: Array | None = None

    def turned(self) -> PairMatches:
        """The same of parts j and i."""
        return replace(self, points_i=self.points_j, points_j=self.points_i)


def correspondences(p: Descriptors, q: Descriptors, matches: Matches) -> Correspondences:
    """The matches of two described parts as arrays, for the pair stage."""
    i, j = matches.indices.unbind(1)
    return Correspondences(
        _array(p.points, i),
        _array(q.points, j),
        _array(p.normals, i),
        _array(q.normals, j),
        _array(p.frames, i),
        _array(q.frames, j),
        _array(matches.weights),
        p.unit,
    )


def breaks_of(d: Descriptors) -> Breaks | None:
    """Where the network holds a described part for broken, if it says so at all."""
    return None if d.breaking is None else Breaks(_array(d.points), _array(d.normals), _array(d.breaking))


def judgement_of(net: CMNet | None) -> Judgement:
    """The tables that were fitted with a network; without one, or where it has none, those of geometry alone."""
    return GEOMETRY if net is None or net.judgement is None else net.judgement


def with_doubt(assembly: Assembly, net: CMNet) -> Assembly:
    """The assembly, which says in its notes where its confidences were not fitted with the network."""
    return assembly if net.judgement else replace(assembly, notes=[*assembly.notes, UNFITTED])


def scored(net: CMNet, p: Descriptors, q: Descriptors, matches: Matches, pairs: int = 1) -> PairMatches:
    """The strongest matches with the two sides of Eq. 4 apart; as many as there is room for where `pairs` are kept.

    A score is the cosine of the attended descriptors: alike in shape, opposite in occupancy; 0 where they are not.
    """
    i, j = matches.indices[: max(KEPT // pairs, 1)].unbind(1)
    weigh_shape, weigh_occupancy = matches.attention
    shape = _cosine(p.shape[i] * weigh_shape, q.shape[j] * weigh_shape)
    occupancy = -_cosine(p.occupancy[i] * weigh_occupancy, q.occupancy[j] * weigh_occupancy)
    return PairMatches(
        _array(p.points, i),
        _array(q.points, j),
        _array(matches.weights[: len(i)]),
        None if net.shape_head is None else _array(shape.clamp(0, 1)),
        None if net.occupancy_head is None else _array(occupancy.clamp(0, 1)),
    )


def with_matches(assembly: Assembly, kept: dict[Pair, PairMatches]) -> Assembly:
    """The assembly with the matches of the pairs that it has joins of. kept : of parts i < j"""
    pairs = {(min(join.parts), max(join.parts)) for join in assembly.joins}
    return replace(assembly, matches={pair: kept[pair] for pair in sorted(pairs & kept.keys())})


def _cosine(a: Tensor, b: Tensor) -> Tensor:
    """(k,) float of rows. a, b : (k, d) float"""
    return (a * b).sum(1) / (a.norm(dim=1) * b.norm(dim=1)).clamp(min=1e-12)


def _array(tensor: Tensor, rows: Tensor | None = None) -> Array:
    chosen = tensor.detach().cpu() if rows is None else tensor.detach().cpu()[rows.cpu()]
    return chosen.double().numpy()
