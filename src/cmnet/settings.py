"""What can be set: how closely parts are looked at, and what is believed. One place each, today's values as defaults.

Lengths are in units. The unit of a scale is the square root of a tenth of the surface of all parts, times `Scale.unit`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Scale:
    """How closely parts are looked at.

    unit     : over that of the first scale
    samples  : even samples a part, at most
    level    : creases kept of every level of a part's walls, at most
    creases  : of a part in all, at most
    seeds    : of them suggest poses, at most
    voxels   : of the box around a part, at most
    width    : of the sieve that poses go through, see `propose`
    touching : poses that the breaks themselves suggest, see `propose_touching`
    """

    unit: float
    samples: int
    level: int
    creases: int
    seeds: int
    voxels: int
    width: int = 1
    touching: int = 0


FIRST = Scale(1.0, samples=30_000, level=1000, creases=1500, seeds=250, voxels=500_000)
COARSE = replace(FIRST, unit=2.5, width=3, touching=24)
FINE = Scale(0.4, samples=100_000, level=2000, creases=3000, seeds=400, voxels=2_000_000)


@dataclass(frozen=True)
class Acceptance:
    """What is enough to believe something, and how much is tried."""

    careful: float = 0.8  # least probability of a merge while there is more to come,
    likely: float = 0.5  # and in the end;
    relaxed: float = 0.1  # then of parts that are known to belong together,
    guess: float = 0.02  # and last of what must be somewhere
    keep: float = 0.02  # least confidence of a candidate that is worth keeping
    shown: float = 0.001  # the same of a join of two parts that another look examines
    rounds: int = 4  # groups that have grown are looked at again, so often at most
    most_fine: int = 16  # groups, single parts included, that are looked at finely, at most
    most_left: int = 30  # the same of which all are sought on the largest one with patience


@dataclass(frozen=True)
class Settings:
    """All of it."""

    first: Scale = FIRST
    coarse: Scale = COARSE
    fine: Scale = FINE
    acceptance: Acceptance = Acceptance()
