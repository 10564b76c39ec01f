"""The stages of an assembly, each of which can be left out: to see what it is worth."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Stages:
    """Everything is on by default, and nothing but an experiment should turn it off."""

    geometric: bool = True  # hypotheses from break edges
    learned: bool = True  # hypotheses from the matches of the network, where there is one
    refine: bool = True  # hypotheses are moved until the surfaces meet
    verify: bool = True  # joins are examined on the surfaces; without, hypotheses count by their order alone
    loops: bool = True  # joins that agree support each other; without, a tree of single joins
    rematch: bool = True  # groups are matched again with their combined surfaces
    coarse: bool = True  # a second, coarser scale: suggests poses, and looks once more at what is still open
    fine: bool = True  # a third, finer scale looks in the end at what no other has settled


ALL = Stages()
