"""Objects broken on the fly and sampled, for training without a data set on disk."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cmnet.data.generated import GeneratedObject, GeneratedObjects, Recipe, break_object
from cmnet.data.objects import SampledObject, sample_object


class FreshObjects:
    """Object i is a function of (seed, i) and the recipe alone; nothing is read or written."""

    def __init__(self, seed: int, recipe: Recipe | str, total_points: int = 5000, length: int = 100_000):
        self.objects = GeneratedObjects(seed, recipe, length)
        self.seed, self.total_points = seed, total_points

    def __len__(self) -> int:
        return len(self.objects)

    def get(self, i: int, variant: int = 0) -> SampledObject:
        """Object i; every variant is a fresh sampling of it."""
        return self._sampled(self.objects[i], i, variant)

    def twice(self, i: int) -> SampledObject:
        """The same with a lookalike."""
        one, other = break_object(self.objects.recipe, self.seed, i, fractures=2)
        return replace(self._sampled(one, i, 0), lookalike=self._sampled(other, i, 1))

    def _sampled(self, made: GeneratedObject, i: int, variant: int) -> SampledObject:
        seed = int(np.random.SeedSequence([self.seed, i, variant]).generate_state(1)[0])
        sampled = sample_object(f"generated/{made.name}", made.parts, self.total_points, seed)
        return replace(sampled, contact=made.fracture.contacts)  # exact, where samples only estimate
