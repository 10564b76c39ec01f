"""Assemblies on their way: of parts whose surfaces are known, by joins that are."""

from dataclasses import replace

import numpy as np

from breaking import fitted
from cmnet.assembling.clashes import Clashes
from cmnet.assembling.loop import finished, merge
from cmnet.assembling.passes import Judge, Pass
from cmnet.assembling.state import State, centres_of
from cmnet.settings import Acceptance
from cmnet.solving.terms import terms
from worlds import numbered


def here(stage, work, items):
    return [work(item) for item in items]


def state_of(surfaces, joins=(), constraints=None, learned=None, each=here, coarse=None, **enough):
    """coarse : the same parts from afar; None: as they are; enough : see `Acceptance`"""
    acceptance = Acceptance(**enough)
    known = terms(constraints, centres_of(surfaces), acceptance.agree_shift * surfaces[0].unit)
    seen = lambda name: coarse if coarse and name == "coarse" else surfaces  # noqa: E731
    state = State(seen, known, learned or {}, each, acceptance)
    state.joins, state.memo.count = numbered(joins), len(joins)
    return state


def solved(state, accept=0.5, scales=("first",)):
    """The assembly by what is known already: nobody is matched."""
    merge(state, Pass("test", None, scales, Judge.ONE, accept))
    return finished(state, [f"part {k}" for k in range(len(state.parts))])


def clashes(*scales):
    """Of parts as they are seen at some scales."""
    return Clashes([dict(enumerate(surfaces)) for surfaces in scales])


def with_breaks(surfaces):
    """The parts of which a network says that nothing is broken, and that judges them by its own tables."""
    return [replace(part, broken=np.zeros(len(part.points)), judgement=fitted()) for part in surfaces]
