"""What is known on the way from parts to an assembly: the candidates, what holds together, what was tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cmnet.assembling.clashes import Clashes
from cmnet.assembling.memo import Key, Memo, Question
from cmnet.geometry.pose import Pose
from cmnet.geometry.types import Array
from cmnet.pairing.join import Join
from cmnet.pairing.surface.surface import Surface
from cmnet.settings import Acceptance
from cmnet.solving.assembly import ranked
from cmnet.solving.groups import Group, Pair, standing, with_singles
from cmnet.solving.terms import Terms

Surfaces = Callable[[str], Sequence[Surface]]  # of all parts, by the name of a scale; made when first asked for
Each = Callable[[str, Callable[[Any], Any], Sequence[Any]], list[Any]]  # (stage, work, items): what work makes of each


@dataclass(eq=False)
class State:
    """What passes work on.

    surfaces : see `Surfaces`
    terms    : what is known beforehand
    learned  : T_i_j of parts that the network suggests
    each     : does the work
    acceptance : what is enough
    memo     : what was computed before; looking : False: nothing else is compared
    joins    : candidates, numbered, the surest first
    groups   : of several parts, or of fixed ones, the largest first, as `standing` leaves them
    aside    : joins that wait; earlier : the candidates before the last pass that may be taken back
    tried    : groups that were compared, and how
    views    : surfaces of groups, by how and at which scale they are compared
    """

    surfaces: Surfaces
    terms: Terms
    learned: Mapping[Pair, Sequence[Pose]]
    each: Each
    acceptance: Acceptance = field(default_factory=Acceptance)
    memo: Memo = field(default_factory=Memo)
    looking: bool = True
    joins: list[Join] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    aside: list[Join] = field(default_factory=list)
    earlier: list[Join] | None = None
    tried: set[Question] = field(default_factory=set)
    views: dict[str, dict[Key, Surface]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.groups = list(self.terms.start)

    @property
    def parts(self) -> Sequence[Surface]:
        return self.surfaces("first")

    @property
    def unit(self) -> float:
        return self.parts[0].unit if self.parts else 1.0

    @property
    def areas(self) -> Array:
        return np.array([surface.area for surface in self.parts])

    @property
    def centres(self) -> Array:
        return centres_of(self.parts)

    @property
    def shift(self) -> float:
        """By which agreeing joins may put a part's centre apart."""
        return self.acceptance.agree_shift * self.unit

    def all_groups(self) -> list[Group]:
        """Single parts included."""
        return with_singles(self.groups, len(self.parts))

    @property
    def open(self) -> bool:
        return len(self.all_groups()) > 1

    def believed(self) -> list[Join]:
        """The joins that groups may rest on."""
        return self.terms.believed(self.joins, self.centres, self.shift)

    def clashes(self, scales: tuple[str, ...]) -> Clashes:
        said = self.memo.volumes.setdefault(scales, {})
        return Clashes([dict(enumerate(self.surfaces(name))) for name in scales], self.acceptance, said)

    def take(self, groups: Sequence[Group]) -> None:
        """The groups that hold from now on, with the joins that they rest on marked as used."""
        used = {join.number for group in groups for join in group.joins}
        listed = self.terms.listed(self.joins)
        self.joins = ranked([replace(join, used=join.number in used) for join in listed])
        self.groups = [
            Group(group.T, tuple(join for join in self.joins if join.used and {*join.parts} <= group.T.keys()))
            for group in standing(groups, self.areas, self.terms.fixed)
        ]


def centres_of(surfaces: Sequence[Surface]) -> Array:
    """(n, 3) float, of every part in its own coordinates."""
    return np.array([surface.T_part_surface.t for surface in surfaces]).reshape(-1, 3)
