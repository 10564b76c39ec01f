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
