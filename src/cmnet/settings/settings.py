"""The three scales of looking, and all that can be set of an assembly."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cmnet.settings.budget import Budget, Holes, Settling, Sieve
from cmnet.settings.tolerances import Tolerances


@dataclass(frozen=True)
class Scale:
    """How closely parts are looked at. Its unit is the square root of a tenth of the surface of all parts, × `unit`."""

    unit: float  # over that of the first scale
    samples: int  # even samples a part, at most
    level: int  # creases kept of every level of a part's walls, at most
    creases: int  # of a part in all, at most
    seeds: int  # of them suggest poses, at most
    voxels: int  # of the box around a part, at most
    width: int = 1  # times as many poses go through the sieve: rounded edges judge poorly on their own
    touching: int = 0  # poses that the breaks themselves suggest
    tolerances: Tolerances = Tolerances()  # what counts as what
    budget: Budget = Budget()  # how much of it


FIRST = Scale(1.0, samples=30_000, level=1000, creases=1500, seeds=250, voxels=500_000)
COARSE = replace(
    FIRST,
    unit=2.5,
    width=3,
    touching=24,
    budget=Budget(
        holes=Holes(100, 15, 12, Sieve((1500, 500), (60, 300), (0.03, 0.012)), kept=16),
        settling=Settling(
            (0.02, 0.016, 0.012, 0.01, 0.008, 0.006, 0.006, 0.005, 0.005, 0.004), 700, 0.05, skin=0.5, reach=0.06
        ),
    ),
)
FINE = Scale(0.4, samples=100_000, level=2000, creases=3000, seeds=400, voxels=2_000_000)


@dataclass(frozen=True)
class Matching:
    """How poses are found by the matches of the network. Lengths are in network units."""

    top: int = 256  # strongest matches that suggest a pose each
    pairs: int = 400  # of matches that suggest a pose together, at most
    long: float = 0.08  # two matches lie so far apart on either part,
    stretch: float = 0.03  # differ by so little in it,
    bend: float = 0.35  # and their normals by so little in their cosines
    near: float = 0.06  # matches that agree with a pose bring their points so near,
    facing: float = -0.3  # with a smaller cosine of their normals
    tried: int = 100  # poses, those that most matches agree with first, that are polished
    polish: int = 3  # rounds of weighted SVD on the matches that agree
    same_turn: float = 10.0  # degrees: poses nearer to each other than this,
    same_shift: float = 0.05  # and than this, are one
    inliers: float = 0.1  # radius of the published weighted SVD,
    rounds: int = 5  # and its rounds


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
    most_across: int = 300  # pairs of parts of different groups that are matched one by one, at most
    from_joins: int = 8  # poses of joins between their parts that are tried for two groups, the surest ones
    from_pair: int = 2  # suggestions of the network that are taken from two parts,
    from_groups: int = 12  # and for two groups
    from_creases: int = 6  # poses of two parts that the coarse surfaces suggest to the first look,
    few_pairs: int = 300  # where there are so few pairs
    agree_shift: float = 0.03  # units of the first scale by which agreeing joins may put a part's centre apart
    meeting: float = 0.03  # units within which samples of two parts of groups count as meeting
    sunk: float = 4.0  # probes inside another part, weighed by depth, that say nothing yet: worn edges, noise, voxels
    per_probe: float = 1.0  # nats that every further one says against a pose
    swallowed: float = 0.3  # share of a part's volume inside another that says nothing yet,
    per_volume: float = 60.0  # and nats for a whole volume
    refused: float = 0.5  # confidence above which it is worth telling that a join was refused


@dataclass(frozen=True)
class Settings:
    """All that can be set of an assembly; lengths are in units of their scale."""

    first: Scale = FIRST  # at which all parts are compared with each other
    coarse: Scale = COARSE  # which sees past worn edges
    fine: Scale = FINE  # for what no other has settled
    matching: Matching = Matching()  # by the network
    acceptance: Acceptance = Acceptance()  # of joins
