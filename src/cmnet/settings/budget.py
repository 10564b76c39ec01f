"""How many samples, poses and rounds each step may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rounds:
    """How what touches is brought together."""

    radii: tuple[float, ...]  # units: how far samples may lie from the other surface, one radius a round
    samples: int  # that are used, at most
    stiff: float  # of the mean stiffness, added to all: keeps what slides freely from sliding away


@dataclass(frozen=True)
class Refinement(Rounds):
    """The same of one pose, where creases that close hold, too."""

    rim: float  # weight of a closing crease, against 1 for a sample
    nearest: bool  # whether the nearest samples and creases are sought, or those taken that the voxels know
    creases: int = 400  # that are used, at most


@dataclass(frozen=True)
class Settling(Rounds):
    """The same of all parts together, where the skin goes on across a crack."""

    skin: float  # its weight, against 1 for what touches
    reach: float  # units: how far across


@dataclass(frozen=True)
class Sieve:
    """Poses that samples on breaks judge, first as they are suggested, then where they have settled."""

    kept: tuple[int, int]  # poses that remain before and after probing for overlap; these settle
    judges: tuple[int, int]  # samples that judge, first and then
    near: tuple[float, float]  # units: how far those may be off, first and then
    sunk: float = 0.004  # square units, or of a part's area in holes: contact that a probe inside outweighs


@dataclass(frozen=True)
class Holes:
    """How many poses are tried in what a group has left open."""

    opened: int  # samples of its breaks, spread out,
    breaks: int  # and of the part's
    turns: int  # about their normals
    sieve: Sieve  # that these poses go through
    kept: int  # in the end
    fewest: int = 10  # samples on breaks of either, else nothing is tried


@dataclass(frozen=True)
class Faces:
    """How the faces of breaks, what of them looks one way, are laid on each other."""

    one_way: float = 0.55  # least cosine of the normals on a face with its own
    samples: int = 60  # of a face, at least
    most: int = 10  # of a part, the largest ones
    cell: float = 0.01  # of the map of heights, in units
    turns: int = 90  # that are tried
    step: float = 0.02  # of the shifts that are tried, in units
    farthest: float = 0.4  # of these
    judges: int = 120  # samples that are laid on the other face, at most
    covered: float = 0.4  # share of them that must lie on it, if it is as large
    peaks: int = 6  # poses of two faces


@dataclass(frozen=True)
class Budget:
    """Of one scale."""

    # Samples of a part
    density: int = 8500  # even samples per square unit
    fewest: int = 2500  # of a part
    probes: int = 400  # samples that look for overlap
    inner: int = 1000  # points inside a part that measure it
    fitted: int = 2500  # neighbourhoods that creases are fitted to, on every finer level
    drawn: int = 50_000  # samples of such a level, at most
    added: int = 12_000  # of them kept for refining poses
    # Poses that creases suggest, in stages
    local_creases: tuple[int, int] = (5, 14)  # near a seed, that judge its poses first
    local_kept: tuple[int, int] = (25_000, 25_000)  # poses that remain
    aligned_kept: tuple[int, int, int] = (1500, 500, 250)  # poses that are then aligned on creases, one after the other
    aligned_creases: tuple[int, int, int] = (130, 300, 400)  # that are used for it
    aligned_near: tuple[float, float, float] = (0.03, 0.02, 0.015)  # units: so near they must be
    scored_creases: int = 400  # that judge a pose as a whole
    rivals: float = 0.4  # poses are kept that close so much of the rim that the best one closes
    proposed: int = 24  # poses that creases suggest, which are refined roughly
    examined: int = 12  # of which so many, by the rim they close, are examined
    finished: int = 6  # and so many, by all they show, refined to the end
    # Poses that breaks suggest
    sieve: Sieve = Sieve((1200, 400), (100, 300), (0.03, 0.01))
    on_breaks: Rounds = Rounds((0.03, 0.025, 0.02, 0.015, 0.012), 300, stiff=0.02)  # settle in it
    like_touching: int = 24  # those in which they touch,
    like_faces: int = 60  # and those in which faces are alike,
    like_kept: int = 6  # of which so many are examined at two scales
    like_judges: int = 300  # samples that say how much touches,
    like_near: float = 0.004  # and how far they may be off, in units
    laid: Faces = Faces()  # on each other
    holes: Holes = Holes(300, 24, 16, Sieve((4000, 1500), (60, 300), (0.03, 0.012)), kept=24)
    # Aligning
    rough: Refinement = Refinement((0.02, 0.016, 0.012, 0.01, 0.008), 700, 1e-3, rim=0.3, nearest=False)
    exact: Refinement = Refinement(
        (0.008, 0.006, 0.005, 0.004, 0.004, 0.003, 0.003, 0.003), 1500, 1e-3, rim=0.03, nearest=True
    )
    settling: Settling = Settling(
        (0.01, 0.008, 0.008, 0.006, 0.006, 0.005, 0.005, 0.004, 0.004, 0.003), 700, 0.05, skin=0.3, reach=0.12
    )
    # Judging
    relief: int = 400  # samples whose reliefs are compared, at most
