"""What is trained and judged on: parts of one object taken apart and turned at random, with the way back.

Several pairs of one object come together, so that every part is described once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from cmnet.data.augment import Augmentation, kept, roughened
from cmnet.data.objects import ObjectSource, SampledObject
from cmnet.data.pairs import Choice, choose_pairs, true_matches
from cmnet.geometry.focus import focused
from cmnet.geometry.pose import Pose
from cmnet.geometry.types import Array, Bools, Floats32, Ints
from cmnet.parts.points import Points

Scale = Literal["area", "given"]

POSITIVE_RADIUS = 0.018  # network units; the paper's
CLEAN = Augmentation()


@dataclass(frozen=True)
class Drawing:
    """How an exercise is drawn from a broken object."""

    positive_radius: float = POSITIVE_RADIUS  # points nearer than this belong together, network units
    normals: bool = True  # a match also needs opposed normals
    scale: Scale = "area"  # network unit: from the parts' area, or the unit of the files
    choice: Choice = "random"  # which parts make a pair
    pairs: int = 1  # of an object, at most
    apart: float = 0.0  # share of the further pairs that do not touch
    augmentation: Augmentation = CLEAN
    seen: Callable[[int], int] = int  # how many of a part's samples the network sees,
    focus: float = 0.0  # of them, the share that is taken where normals differ most


@dataclass(frozen=True, eq=False)
class Fragment:
    """One part, centred on its mean and turned at random, in network units.

    points, normals : (n, 3) float32
    breaking        : (n,) bool, whether a point lies on a break: on any other part of the whole object
    """

    points: Floats32
    normals: Floats32
    breaking: Bools


@dataclass(frozen=True, eq=False)
class Pair:
    """Two fragments of an exercise, by number.

    T_q_p   : takes p's points to their true place on q
    matches : (k, 2) int64, rows (i, j): point i of p belongs to point j of q; k may be 0
    """

    p: int
    q: int
    T_q_p: Pose
    matches: Ints


@dataclass(frozen=True, eq=False)
class Exercise:
    """Pairs of one broken object and the fragments they are made of.

    unit   : length of one network unit, in the unit of the files
    pieces : number of parts of the whole object
    stage  : of the curriculum it belongs to
    """

    name: str
    fragments: tuple[Fragment, ...]
    pairs: tuple[Pair, ...]
    unit: float
    pieces: int
    stage: int = 0


def draw_exercise(
    obj: SampledObject, rng: np.random.Generator, drawing: Drawing | None = None, stage: int = 0
) -> Exercise:
    """Choose pairs of parts and take them apart."""
    drawing = drawing or Drawing()
    numbers = choose_pairs(obj, rng, drawing.choice, drawing.pairs, drawing.apart)
    unit = obj.unit if drawing.scale == "area" else 1.0
    whole = _Whole(obj, unit, drawing)
    used = sorted({part for pair in numbers for part in pair})
    seen = {k: _seen(whole.points[k], drawing, rng) for k in used}
    remain = {k: which for k, (_, _, which) in seen.items()}
    moves = {k: _taken_apart(xyz, rng) for k, (xyz, _, _) in seen.items()}
    fragments = [_fragment(*seen[k], whole.breaking(k), moves[k]) for k in used]
    pairs = [
        Pair(
            used.index(i),
            used.index(j),
            moves[j] @ moves[i].inverse(),
            _left(whole.matches(i, j), remain[i], remain[j]),
        )
        for i, j in numbers
    ]
    # A pair that touches, but between the samples: there is nothing to teach, and "no match" would be wrong.
    telling = [pair for pair, ij in zip(pairs, numbers) if len(pair.matches) or obj.contact[ij] == 0] or pairs[:1]
    if obj.lookalike is not None and drawing.apart > 0:
        stranger = int(rng.integers(len(obj.lookalike.points)))
        fragments.append(_alone(_Whole(obj.lookalike, unit, drawing), stranger, rng))
        telling.append(_strangers(int(rng.integers(len(used))), len(used)))
    name = f"{obj.name}:{','.join(f'{i}-{j}' for i, j in numbers)}"
    return Exercise(name, tuple(fragments), tuple(telling), unit, len(obj.points), stage)


def _alone(whole: _Whole, k: int, rng: np.random.Generator) -> Fragment:
    """One part of an object, taken away from the rest of it."""
    seen = _seen(whole.points[k], whole.drawing, rng)
    return _fragment(*seen, whole.breaking(k), _taken_apart(seen[0], rng))


def _strangers(p: int, q: int) -> Pair:
    """Two fragments that do not belong together, wherever they are."""
    return Pair(p, q, Pose.identity(), np.empty((0, 2), dtype=np.int64))


class _Whole:
    """An object in network units. Which points of any two of its parts belong together is computed once."""

    def __init__(self, obj: SampledObject, unit: float, drawing: Drawing) -> None:
        self.points = [Points(p.xyz / unit, p.normals, p.area / unit**2) for p in obj.points]
        self.drawing = drawing
        self.low, self.high = (np.array([f(p.xyz, axis=0) for p in self.points]) for f in (np.min, np.max))
        self.found: dict[tuple[int, int], Ints] = {}

    def matches(self, i: int, j: int) -> Ints:
        """(k, 2) int64, rows: a point of part i and one of part j that belong together."""
        if i > j:
            return self.matches(j, i)[:, ::-1]
        if (i, j) not in self.found:
            radius, normals = self.drawing.positive_radius, self.drawing.normals
            self.found[i, j] = true_matches(self.points[i], self.points[j], radius, normals)
        return self.found[i, j]

    def breaking(self, i: int) -> Bools:
        """(n,) bool: which points of part i lie on any other part."""
        reach = self.drawing.positive_radius
        near = ((self.low - reach <= self.high[i]) & (self.low[i] <= self.high + reach)).all(axis=1)
        result = np.zeros(len(self.points[i]), dtype=bool)
        for j in np.flatnonzero(near):
            if j != i:
                result[self.matches(i, int(j))[:, 0]] = True
        return result


def _left(matches: Ints, remain_p: Bools, remain_q: Bools) -> Ints:
    """The matches between points that remain, by their new numbers, in order of index."""
    i, j = matches[remain_p[matches[:, 0]] & remain_q[matches[:, 1]]].T
    i, j = (np.cumsum(remain_p) - 1)[i], (np.cumsum(remain_q) - 1)[j]
    order = np.lexsort((j, i))
    return np.stack([i[order], j[order]], axis=1)


def _taken_apart(xyz: Array, rng: np.random.Generator) -> Pose:
    """T_part_world: the part centred on its mean and turned at random."""
    turn = Pose.random(rng)
    return turn @ Pose(np.eye(3), -xyz.mean(axis=0))


def _seen(points: Points, drawing: Drawing, rng: np.random.Generator) -> tuple[Array, Array, Bools]:
    """Noisy positions and normals of the samples that the network sees, and (n,) bool: which of all these are."""
    which = kept(points.xyz, drawing.augmentation, rng)
    xyz, normals = roughened(points.xyz[which], points.normals[which], drawing.augmentation, rng)
    chosen = focused(xyz, normals, drawing.seen(len(xyz)), drawing.focus)
    which[which] = chosen
    return xyz[chosen], normals[chosen], which


def _fragment(xyz: Array, normals: Array, which: Bools, breaking: Bools, T_part_world: Pose) -> Fragment:
    xyz, normals = T_part_world.apply(xyz), T_part_world.rotate(normals)
    return Fragment(xyz.astype(np.float32), normals.astype(np.float32), breaking[which])


class ObjectStream(Protocol):
    """Broken objects by number, without end; object i is a function of i alone."""

    def __getitem__(self, i: int) -> SampledObject: ...

    def stage(self, i: int) -> int:
        """Of the curriculum that object i belongs to."""
        ...


class Shuffled:
    """The objects of a source again and again, each pass in a new order and from another sampling of the surfaces.

    variants : samplings of each object in all, which bounds the cache
    """

    def __init__(self, source: ObjectSource, seed: int = 0, variants: int = 4) -> None:
        self.source, self.seed, self.variants = source, seed, variants

    def __getitem__(self, i: int) -> SampledObject:
        epoch, place = divmod(i, len(self.source))
        order = np.random.default_rng([self.seed, 0, epoch]).permutation(len(self.source))
        return self.source.get(int(order[place]), epoch % self.variants)

    def stage(self, i: int) -> int:
        return 0


class Ordered:
    """The objects of a source once, in order."""

    def __init__(self, source: ObjectSource) -> None:
        self.source = source

    def __getitem__(self, i: int) -> SampledObject:
        if not 0 <= i < len(self.source):
            raise IndexError(i)
        return self.source.get(i)

    def stage(self, i: int) -> int:
        return 0


class ExerciseDataset:
    """Exercises by number; number i is a function of (seed, i) alone, so a run resumes by starting at the right one."""

    def __init__(self, objects: ObjectStream, seed: int = 0, drawing: Drawing | None = None) -> None:
        self.objects, self.seed, self.drawing = objects, seed, drawing or Drawing()

    def __getitem__(self, i: int) -> Exercise:
        obj = self.objects[i]
        rng = np.random.default_rng([self.seed, 1, i])
        return draw_exercise(obj, rng, self.drawing, self.objects.stage(i))
