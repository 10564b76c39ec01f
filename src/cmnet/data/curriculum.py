"""The objects that the shipped weights are trained on: broken on the fly, from thick and easy to thin and worn."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cmnet.data.fresh import FreshObjects
from cmnet.data.generated import RECIPES, Recipe
from cmnet.data.objects import SampledObject
from cmnet.data.shapes import FORMS
from cmnet.data.wear import Wear
from cmnet.errors import InputError

BLOCK = 16  # objects that are kept in memory and mixed with one another
USES = 8  # exercises taken from each object: breaking one costs about as much as a training step
TRIES = 8  # at objects that will not break as asked


@dataclass(frozen=True)
class Stage:
    """Recipes and how often each is taken, until a number of exercises is reached.

    lookalikes : share of the objects that come with the same object broken another way
    """

    until: int | None
    shares: tuple[tuple[Recipe, float], ...]
    lookalikes: float = 0.0


_ALL = RECIPES["training"]
_THICK = Recipe(shapes=(*FORMS, "cookie", "statue", "toy_figure"), pieces=(2, 2), min_volume=0.1)
_TWO = replace(_ALL, pieces=(2, 2))
_MANY = replace(_ALL, pieces=(9, 20))
_WORN = replace(_ALL, wear=Wear(erosion=0.003, chips=0.3, noise=0.0004))
_WORSE = replace(_ALL, wear=Wear(erosion=0.008, chips=1.0, noise=0.0008))

_EVERYTHING = ((_TWO, 0.2), (_ALL, 0.45), (_MANY, 0.1), (_WORN, 0.15), (_WORSE, 0.1))

STAGES = (
    Stage(768, ((_THICK, 0.7), (_TWO, 0.3))),
    Stage(3_072, ((_TWO, 0.35), (_ALL, 0.65))),
    Stage(5_120, _EVERYTHING),
    Stage(None, _EVERYTHING, lookalikes=0.25),
)


class Curriculum:
    """Objects by number, without end: every one is used `uses` times, mixed with those of its block.

    seed, i → the object alone; nothing is read or written.
    """

    def __init__(
        self, seed: int, total_points: int, stages: tuple[Stage, ...] = STAGES, block: int = BLOCK, uses: int = USES
    ) -> None:
        self.seed, self.stages, self.block, self.uses = seed, stages, block, uses
        recipes = dict.fromkeys(recipe for stage in stages for recipe, _ in stage.shares)
        self.sources = {recipe: FreshObjects(seed, recipe, total_points, length=2**31) for recipe in recipes}
        self._kept: tuple[int, dict[int, SampledObject]] = (-1, {})

    def __getitem__(self, i: int) -> SampledObject:
        block, place = divmod(i, self.block * self.uses)
        order = np.random.default_rng([self.seed, 0, block]).permutation(self.block * self.uses)
        number = block * self.block + int(order[place]) // self.uses
        if self._kept[0] != block:
            self._kept = block, {}
        kept = self._kept[1]
        if number not in kept:
            kept[number] = self._broken(number)
        return kept[number]

    def _broken(self, number: int) -> SampledObject:
        source = self.sources[self.recipe(number)]
        lookalikes = self.stages[self.stage(number * self.uses)].lookalikes
        make = source.twice if np.random.default_rng([self.seed, 3, number]).random() < lookalikes else source.get
        for attempt in range(TRIES):
            try:
                return make(number + (attempt << 24))
            except InputError:  # a draw that cannot be realised must not end a run of hours
                if attempt == TRIES - 1:
                    raise
        raise AssertionError("unreachable")

    def stage(self, i: int) -> int:
        return next(k for k, stage in enumerate(self.stages) if stage.until is None or i < stage.until)

    def recipe(self, number: int) -> Recipe:
        """Of object `number`."""
        shares = self.stages[self.stage(number * self.uses)].shares
        rng = np.random.default_rng([self.seed, 2, number])
        return shares[int(rng.choice(len(shares), p=[share for _, share in shares]))][0]
