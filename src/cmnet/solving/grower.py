"""The largest set of joins that agrees: grow greedily, then doubt what the growth rests on and see whether more agrees.

A wrong join that is surer than the right ones is taken first, and those that contradict it are left over. So where
sure joins are left over, the merges around them that rest on a single join are banned one after the other, and the
growth without that join is kept if more speaks for it in all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cmnet.pairing.joins import Join
from cmnet.solving.evidence import Table
from cmnet.solving.groups import FREE, Against, Group, Rules
from cmnet.solving.growth import RELAXED, Growth, Problem

DOUBTS = 16  # growths that are tried in all


@dataclass
class Grower:
    """Puts parts into groups by the joins between them.

    centres : (n, 3) float, of every part in its own coordinates
    shift   : how far apart agreeing joins may put a part's centre
    against : what the volumes of two parts say against a pose
    accept  : least probability of a merge
    start   : groups that hold together already, further joins being between parts of any two of them
    rules   : what is known beforehand
    loops   : False: a spanning tree; every merge rests on one join, and none is doubted
    relaxed : least probability of a merge of parts that are known to belong together
    places  : True: of a single part it is enough that its place is probable, however it is turned there
    """

    joins: Sequence[Join]
    centres: np.ndarray
    shift: float
    against: Against
    accept: float = 0.5
    start: Sequence[Group] | None = None
    rules: Rules = FREE
    loops: bool = True
    relaxed: float = RELAXED
    places: bool = False

    def grow(self) -> list[Group]:
        """All groups in the end, single parts included, in the order of their first part."""
        problem = Problem(
            Table.of(self.joins, self.rules.touching),
            np.asarray(self.centres, dtype=np.float64).reshape(-1, 3),
            self.shift,
            self.against,
            self.accept,
            self.start or (),
            self.rules,
            self.loops,
            self.relaxed,
            self.places,
        )
        best = Growth(problem).run()
        return (doubt(best) if self.loops else best).groups()


def doubt(best: Growth) -> Growth:
    """The best of several growths, each without one of the joins that the best so far rests on."""
    tried: set[int] = set()
    for _ in range(DOUBTS):
        suspect = next((k for k in _suspects(best) if k not in tried), None)
        if suspect is None:
            break
        tried.add(suspect)
        other = Growth(best.problem, best.banned | {suspect}).run()
        if other.total > best.total + 1e-9:
            best = other
    return best


def _suspects(growth: Growth) -> list[int]:
    """Joins that a merge rests on alone, where sure joins are left over; first those with most left over around."""
    table, rules = growth.problem.table, growth.problem.rules
    used = {k for merge in growth.merges for k in merge.joins}
    sure = np.flatnonzero(table.confidence >= growth.problem.accept / 2)
    left = np.zeros(len(growth.problem.centres))
    for k in sure:
        if k not in used and k not in growth.banned:
            left[table.parts[k]] += table.confidence[k]
    alone = [merge.joins[0] for merge in growth.merges if len(merge.joins) == 1]
    doubtful = {k: float(left[table.parts[k]].sum() - table.confidence[k]) for k in alone}
    known = {k for k in alone if tuple(sorted(table.parts[k].tolist())) in rules.touching}
    return sorted((k for k in alone if k not in known and left[table.parts[k]].any()), key=lambda k: (-doubtful[k], k))
