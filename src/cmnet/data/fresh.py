"""Objects broken on the fly and sampled, for training without a data set on disk."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cmnet.data.generated import GeneratedObjects, Recipe
from cmnet.data.objects import SampledObject, sample_object


class FreshObjects:
    """Object i is a function of (seed, i) and the recipe alone; nothing is read or written.

    keep : the last so many objects stay in memory, for sources that are gone through again and again
    """

    def __init__(self, seed: int, recipe: Recipe | str, total_points: int = 5000, length: int = 100_000, keep: int = 0):
        self.objects = GeneratedObjects(seed, recipe, length)
        self.seed, self.total_points, self.keep = seed, total_points, keep
        self._kept: dict[tuple[int, int], SampledObject] = {}

    def __len__(self) -> int:
        return len(self.objects)

    def get(self, i: int, variant: int = 0) -> SampledObject:
        """Object i; every variant is a fresh sampling of it."""
        if (i, variant) not in self._kept:
            made = self.objects[i]
            seed = int(np.random.SeedSequence([self.seed, i, variant]).generate_state(1)[0])
            sampled = sample_object(f"generated/{made.name}", made.parts, self.total_points, seed)
            sampled = replace(sampled, contact=made.fracture.contacts)  # exact, where samples only estimate
            if not self.keep:
                return sampled
            while len(self._kept) >= self.keep:
                self._kept.pop(next(iter(self._kept)))
            self._kept[i, variant] = sampled
        return self._kept[i, variant]
