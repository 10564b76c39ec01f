"""Mixed piles: the pieces of several broken objects in one heap, perhaps with a piece that belongs to none of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cmnet.evaluation.answers import answer_of
from cmnet.evaluation.cases import Case
from cmnet.evaluation.predictions import Prediction
from cmnet.evaluation.protocol import ObjectScore, score_case
from cmnet.geometry.pose import Pose
from cmnet.parts.part import Part
from cmnet.solving.assembly import Assembly

FOREIGN = -1  # the owner of a piece that belongs to no object of the pile


@dataclass(frozen=True, eq=False)
class Pile:
    """What is handed over, and where it comes from.

    parts : n parts, each somewhere in space
    given : n poses T_given_puzzle, from the coordinates of the part's own puzzle to those handed over
    owner : (n,) int, index into `cases`, or FOREIGN
    place : (n,) int, index of the part in its puzzle
    """

    cases: tuple[Case, ...]
    parts: tuple[Part, ...]
    given: tuple[Pose, ...]
    owner: tuple[int, ...]
    place: tuple[int, ...]


@dataclass(frozen=True)
class PileScore:
    """What became of one pile."""

    objects: tuple[str, ...]  # their names
    pieces: int  # in all
    groups: int  # that came out
    pure: bool  # no group mixes objects
    exact: bool  # pure, and one group for every object
    foreign_out: bool | None  # the foreign piece stayed alone; None: there was none
    joins: int  # used
    joins_right: int
    pa_crd: float  # %, mean over the objects, each against its own largest part
    placed: float  # %, likewise: parts in the group of their object's largest part
    seconds: float


def make_pile(cases: Sequence[Case], foreign: Part | None, rng: np.random.Generator) -> Pile:
    """Heap up the parts of some puzzles, and perhaps a foreign piece, in random order."""
    heap = [(owner, k, part) for owner, case in enumerate(cases) for k, part in enumerate(case.puzzle.parts)]
    if foreign is not None:
        heap.append((FOREIGN, 0, foreign))
    spread = max(case.size for case in cases)
    given = [Pose.random(rng, spread) for _ in heap]
    order = rng.permutation(len(heap))
    return Pile(
        cases=tuple(cases),
        parts=tuple(heap[k][2].moved(given[k]) for k in order),
        given=tuple(given[k] for k in order),
        owner=tuple(heap[k][0] for k in order),
        place=tuple(heap[k][1] for k in order),
    )


def judge_pile(pile: Pile, assembly: Assembly, seconds: float) -> PileScore:
    """Compare what came out with what went in."""
    owners = [{pile.owner[k] for k in group} for group in assembly.groups]
    pure = all(len(of) == 1 for of in owners)
    scores = [_judge_object(pile, assembly, owner) for owner in range(len(pile.cases))]
    grouped = {k for group in assembly.groups for k in group}
    foreign = [k for k, owner in enumerate(pile.owner) if owner == FOREIGN]
    return PileScore(
        objects=tuple(case.puzzle.name for case in pile.cases),
        pieces=len(pile.parts),
        groups=len(assembly.groups),
        pure=pure,
        exact=pure and sorted(owner for of in owners for owner in of) == list(range(len(pile.cases))),
        foreign_out=not grouped.intersection(foreign) if foreign else None,
        joins=sum(join.used for join in assembly.joins),
        joins_right=sum(score.joins_right for score in scores),
        pa_crd=float(np.mean([score.pa_crd for score in scores])),
        placed=float(np.mean([score.placed for score in scores])),
        seconds=seconds,
    )


def _judge_object(pile: Pile, assembly: Assembly, owner: int) -> ObjectScore:
    """One object by itself, as if nothing else had been in the pile."""
    case = pile.cases[owner]
    members = sorted((k for k in range(len(pile.parts)) if pile.owner[k] == owner), key=lambda k: pile.place[k])
    answer = answer_of(assembly, members, case.puzzle.anchor, [pile.given[k] for k in members])
    name, anchor = case.puzzle.name, case.puzzle.anchor
    return score_case(case, Prediction(name, "pile", case.parts, anchor, answer.poses, case.centres, 0.0, answer.joins))
