"""The solver that uses every join: grow groups by agreement, keep parts apart, even out loops."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from cmnet.geometry.types import Array
from cmnet.pairing.align.joint_icp import CLOSELY, COARSELY
from cmnet.pairing.joins import Join
from cmnet.pairing.surface.surface import Surface
from cmnet.solving.assembly import Assembly, to_assembly
from cmnet.solving.averaging import average
from cmnet.solving.clashes import against_of
from cmnet.solving.constraints import Constraints
from cmnet.solving.groups import Group
from cmnet.solving.grower import Grower
from cmnet.solving.growth import RELAXED
from cmnet.solving.obeying import plan, unmet
from cmnet.solving.settling import settle, without_slips
from cmnet.solving.shonan import Edge, shonan

SHIFT = 0.03  # units by which agreeing joins may put a part's centre apart


def solve(
    surfaces: Sequence[Surface],
    joins: Sequence[Join],
    accept: float = 0.5,
    constraints: Constraints | None = None,
    loops: bool = True,
    start: Sequence[Group] | None = None,
    apart: bool = True,
    solid: Sequence[Surface] | None = None,
    relaxed: float = RELAXED,
    settling: bool = False,
    places: bool = False,
) -> Assembly:
    """Put parts together by the joins between them.

    accept      : least probability of a merge that is made
    constraints : what is known beforehand; `Assembly.notes` says what of it could not be obeyed
    loops       : False: a spanning tree of the surest joins, without agreement, doubt or averaging
    start       : groups that hold together already (`groups_of` an assembly whose joins are among the joins)
    apart       : False: parts may run into each other
    solid       : the parts, seen no more closely than their joins are exact: what must not run into each other
    relaxed     : least probability of a merge of parts that are known to belong together, if that is less
    settling    : True: groups that have changed settle on their surfaces, where joins are only as exact as `solid`
    places      : True: of a single part it is enough that its place is probable, however it is turned there
    """
    unit = surfaces[0].unit if surfaces else 1.0
    centres = np.array([surface.T_part_surface.t for surface in surfaces]).reshape(-1, 3)
    known = plan(constraints, joins, centres, SHIFT * unit)
    begun = known.start if start is None else start
    looks = [surfaces] if solid is None or solid is surfaces else [solid, surfaces]
    against = against_of(*looks) if apart else lambda i, j, T_i_j: 0.0
    asked = accept, begun, known.rules, loops, relaxed, places
    groups = Grower(known.believed, centres, SHIFT * unit, against, *asked).grow()
    if loops:
        groups = [even_out(group, centres, unit, _held(group, known.fixed)) for group in groups]
    if settling and solid is not None and solid is not surfaces:  # joins of the first look are exact as they are
        same = {frozenset(group.T) for group in begun}
        groups = [g if frozenset(g.T) in same else settled(g, surfaces, solid, _held(g, known.fixed)) for g in groups]
    areas = np.array([surface.area for surface in surfaces])
    return to_assembly(groups, areas, known.joins, known.fixed, [*known.notes, *unmet(known, groups)])


def even_out(group: Group, centres: Array, length: float, held: Sequence[int] = ()) -> Group:
    """The group with poses that all its joins agree on best; held parts stay, or else the first part does."""
    if len(group.T) == 1:
        return group
    edges = [Edge(*join.parts, join.T_i_j, join.sure) for join in group.joins]
    T = shonan(group.T, edges, centres, length, held)
    return average(Group(T, group.joins), centres, length, held)


def settled(group: Group, surfaces: Sequence[Surface], solid: Sequence[Surface], held: Sequence[int] = ()) -> Group:
    """The group, settled on what its joins were found by, and then more closely."""
    if len(group.T) == 1:
        return group
    return without_slips(group, settle(settle(group, solid, COARSELY, held), surfaces, CLOSELY, held), surfaces, held)


def _held(group: Group, fixed: Collection[int]) -> list[int]:
    return [k for k in fixed if k in group.T]
