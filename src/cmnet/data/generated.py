"""Objects broken on the fly: object i of a seed is the same whoever asks for it, whenever and in whatever order."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cmnet.data.fracture import MECHANISMS, Fracture, Intact, fracture, prepare
from cmnet.data.scan import Condition, foreign_part, scan
from cmnet.data.shapes import EVERYDAY, FORMS, HELD_OUT, SHAPES, make_shape
from cmnet.data.wear import Wear, apply_wear
from cmnet.errors import InputError
from cmnet.parts.part import Part

# How often an object breaks into 2, 3, ... 8 pieces, as in the sample of Breaking Bad.
USUAL_PIECES = {2: 0.30, 3: 0.04, 4: 0.24, 5: 0.04, 6: 0.20, 7: 0.04, 8: 0.14}
TRIES = 8


@dataclass(frozen=True)
class Recipe:
    """What to break and how. `stream` keeps the random numbers of benchmark and training apart."""

    shapes: tuple[str, ...] = tuple(EVERYDAY)  # categories, taken in turn
    pieces: tuple[int, int] | None = None  # least and most, evenly drawn; None = as usual in Breaking Bad
    mechanism: str | None = None  # one of MECHANISMS; None = drawn anew for every fracture
    min_volume: float | None = None  # least share of the volume a piece has; 1 / 40 gives Breaking Bad v2
    wear: Wear | None = None  # None = fresh breaks
    stream: int = 1  # random streams: 1 training, 2 benchmark

    def __post_init__(self) -> None:
        unknown = [name for name in self.shapes if name not in SHAPES]
        if unknown or not self.shapes:
            raise InputError(f"no shape {', '.join(unknown) or 'given'}; choose from {', '.join(SHAPES)}")
        if self.mechanism is not None and self.mechanism not in MECHANISMS:
            raise InputError(f"no mechanism {self.mechanism!r}; choose one of {', '.join(MECHANISMS)}")
        if self.pieces is not None and not 2 <= self.pieces[0] <= self.pieces[1] <= 50:
            raise InputError(f"pieces must be a range A-B within 2-50, not {self.pieces[0]}-{self.pieces[1]}")


RECIPES = {
    "everyday": Recipe(),
    "volume-constrained": Recipe(min_volume=1 / 40),
    "training": Recipe(shapes=(*EVERYDAY, *FORMS), pieces=None),
    "many-pieces": Recipe(shapes=(*EVERYDAY, *FORMS), pieces=(9, 50)),
    "worn": Recipe(shapes=(*EVERYDAY, *FORMS), wear=Wear(erosion=0.004, chips=0.5, noise=0.0005)),
    "benchmark": Recipe(shapes=tuple(HELD_OUT), pieces=(2, 20), stream=2),
}


@dataclass(frozen=True, eq=False)
class GeneratedObject:
    """One broken object: where it came from, its pieces in their assembled places, and their contacts."""

    name: str
    shape: str
    fracture: Fracture

    @property
    def parts(self) -> list[Part]:
        return self.fracture.parts


class GeneratedObjects:
    """A map-style source of `length` broken objects; object i is a function of (seed, i) and the recipe alone."""

    def __init__(self, seed: int, recipe: Recipe | str = "training", length: int = 1_000_000) -> None:
        if isinstance(recipe, str) and recipe not in RECIPES:
            raise InputError(f"no recipe {recipe!r}; choose one of {', '.join(RECIPES)}")
        self.recipe = RECIPES[recipe] if isinstance(recipe, str) else recipe
        self.seed, self.length = seed, length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> GeneratedObject:
        if not 0 <= index < self.length:
            raise IndexError(f"object {index} of {self.length}")
        return next(iter(break_object(self.recipe, self.seed, index)))


def object_name(recipe: Recipe, index: int) -> tuple[str, str]:
    """The shape and the name of object `index`."""
    shape = recipe.shapes[index % len(recipe.shapes)]
    return shape, f"{shape}_{index:06d}"


def break_object(recipe: Recipe, seed: int, index: int, fractures: int = 1) -> list[GeneratedObject]:
    """Make object `index` and break it `fractures` times. The shape and its lattice are made once."""
    shape, name = object_name(recipe, index)
    intact = _intact(shape, name, np.random.default_rng([recipe.stream, seed, index]))
    result = []
    for k in range(fractures):
        rng = np.random.default_rng([recipe.stream, seed, index, k + 1])
        broken = _break(intact, recipe, rng)
        if recipe.wear is not None:
            broken = worn(broken, recipe, recipe.wear, seed, index, k)
        result.append(GeneratedObject(name, shape, broken))
    return result


def _intact(shape: str, name: str, rng: np.random.Generator) -> Intact:
    return prepare(make_shape(shape, rng), name, check_crossings=False)  # shapes are made without crossings


def _break(intact: Intact, recipe: Recipe, rng: np.random.Generator) -> Fracture:
    """Break an object; where a draw cannot be realised, draw again."""
    for attempt in range(TRIES):
        pieces = _draw_pieces(recipe, rng)
        try:
            return fracture(intact, pieces, rng, recipe.mechanism, recipe.min_volume)
        except InputError:
            if attempt == TRIES - 1:
                raise
    raise AssertionError("unreachable")


def _draw_pieces(recipe: Recipe, rng: np.random.Generator) -> int:
    if recipe.pieces is None:
        return int(rng.choice(list(USUAL_PIECES), p=list(USUAL_PIECES.values())))
    return int(rng.integers(recipe.pieces[0], recipe.pieces[1] + 1))


def worn(broken: Fracture, recipe: Recipe, wear: Wear, seed: int, index: int, k: int) -> Fracture:
    """The same fracture after wear, with pieces of other objects among its own if the wear asks for them."""
    rng = np.random.default_rng([recipe.stream, seed, index, k + 1, 1])
    others = _others(recipe, wear.foreign, seed, index)
    return apply_wear(broken, wear, rng, [parts[int(rng.integers(len(parts)))] for parts in others])


def scanned(broken: Fracture, recipe: Recipe, condition: Condition, seed: int, index: int, k: int) -> Fracture:
    """The same fracture as a scanner gives it; contacts are those of the breaks, and which faces these are is lost."""
    rng = np.random.default_rng([recipe.stream, seed, index, k + 1, 2])
    own = broken.parts[: len(broken.parts) - broken.foreign]
    others = _others(recipe, condition.foreign, seed, index)
    foreign = [*broken.parts[len(own) :], *(foreign_part(parts, own, rng) for parts in others)]
    parts = scan(own, condition, rng, foreign)
    left = {part.name for part in parts}
    kept = [j for j, part in enumerate(own) if part.name in left]
    contacts = np.zeros((len(parts), len(parts)))
    contacts[: len(kept), : len(kept)] = broken.contacts[np.ix_(kept, kept)]
    parts = [replace(part, name=f"piece_{j}") for j, part in enumerate(parts)]
    return Fracture(parts, broken.mechanism, contacts, [], broken.repairs, len(foreign))


def _others(recipe: Recipe, count: int, seed: int, index: int) -> list[list[Part]]:
    """The pieces of so many other objects, to take foreign ones from."""
    fresh = replace(recipe, wear=None, pieces=(2, 4), min_volume=None, mechanism=None)
    # Indices beyond 2³¹ are nobody's objects, so a stranger is never another object's piece.
    return [break_object(fresh, seed, 2**31 + 64 * index + n)[0].parts for n in range(count)]
