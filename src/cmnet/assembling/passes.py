"""The plan of an assembly: who is matched with whom, at which scales, how that is judged, and what is enough.

A part out of place keeps its group from fitting anywhere, and one that waits loses nothing: so the surest comes first.
Groups show what they have left open together. Worn edges have no fine structure: what is still open is compared at a
coarser scale. Contacts much smaller than the parts, a stem or a neck, show only at a finer one. What is left then is
sought once more on the largest group, with patience. Parts that are known to belong to the rest go, in the end, where
they most likely do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from cmnet.assembling import steps
from cmnet.assembling.state import State
from cmnet.settings import Acceptance


class Judge(Enum):
    """How two groups are compared."""

    PAIR = "two parts, of which nothing is known yet"
    ONE = "at one scale"
    TWO = "at two scales: what either of them finds, both examine"
    PATIENT = "at two scales, with patience: more poses, and more time for each to settle"
    BELONGING = "the same of parts that are known to belong together: a confidence is that of a place"


@dataclass(frozen=True)
class Pass:
    """Matching and solving, once or in rounds until nothing changes any more.

    who     : is matched with whom; None: nobody
    scales  : at which surfaces are compared; what two of them have to say counts together
    accept  : least probability of a merge
    relaxed : the same of parts that are known to belong together, if that is less
    enough  : confidence of new joins of two groups from which these count instead of all that was known of them
    begin   : what is done to the candidates first, and whether there is a reason for the pass at all
    again   : the candidates are solved before anybody is matched
    settles : groups that have changed settle on their surfaces: joins are only as exact as what they were found by
    places  : of a single part it is enough that its place is probable, however it is turned there
    most    : groups, single parts included, up to which the pass is worth its time
    told    : only where parts are known to belong together
    breaks  : only where a network says what is broken
    """

    name: str
    who: steps.Who | None
    scales: tuple[str, ...]
    judge: Judge
    accept: float
    relaxed: float = 1.0
    enough: float = 0.5
    rounds: int = 1
    begin: steps.Begin = steps.as_it_is
    again: bool = False
    settles: bool = False
    places: bool = False
    most: int | None = None
    told: bool = False
    breaks: bool = False

    @property
    def kind(self) -> str:
        """What passes of one kind have compared is not compared again by another."""
        return " ".join([self.judge.name.lower(), *self.scales])

    @property
    def solid(self) -> tuple[str, ...]:
        """Scales at which parts must not run into each other: none is closer than what their joins were found by."""
        return ("first",) if self.scales == ("first",) else ("coarse", "first")

    def applies(self, state: State) -> bool:
        together = state.terms.rules.together or not self.told
        broken = not self.breaks or state.parts[0].broken is not None
        few = self.most is None or len(state.all_groups()) <= self.most
        return bool((state.open or state.aside) and together and broken and few) or self.judge is Judge.PAIR


def plan(a: Acceptance = Acceptance()) -> tuple[Pass, ...]:
    """The passes, one after the other."""
    groups = Pass("groups", steps.larger_groups, ("first",), Judge.ONE, a.careful, enough=a.likely, rounds=a.rounds)
    coarse = replace(groups, name="coarse groups", who=steps.any_groups, scales=("coarse", "first"), judge=Judge.TWO)
    likely = replace(coarse, name="likely", accept=a.likely, again=True)
    placed = replace(likely, name="one object", relaxed=a.relaxed, begin=steps.remind, places=True, told=True)
    guess = replace(
        placed, name="guess", who=steps.left_over_of_one, judge=Judge.BELONGING, relaxed=a.guess, enough=a.guess
    )
    left = replace(coarse, name="left over", who=steps.left_over, judge=Judge.PATIENT, accept=a.likely, enough=a.guess)
    left = replace(left, begin=steps.remember, places=True, most=a.most_left, breaks=True)
    return (
        Pass("pairs", steps.all_parts, ("first",), Judge.PAIR, a.careful),
        groups,
        replace(coarse, name="coarse pairs", who=steps.parts_across, rounds=1, settles=True),
        replace(coarse, settles=True),
        replace(likely, settles=True),
        replace(groups, name="fine", who=steps.any_groups, scales=("fine",), accept=a.likely, most=a.most_fine),
        left,
        placed,
        replace(guess, begin=steps.as_it_is, again=False),
        replace(guess, name="taken apart", begin=steps.take_apart),
        replace(guess, name="as it was", who=None, begin=steps.put_back),
    )
