"""How far a mean over a few broken objects can be trusted."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

RESAMPLES = 2000
LEVEL = 0.95


def interval(
    values: ArrayLike, clusters: Sequence[str], rng: np.random.Generator, resamples: int = RESAMPLES
) -> tuple[float, float]:
    """The 95 % bootstrap interval of the mean.

    values   : (n,) float
    clusters : (n,) what each value belongs to; fractures of one object are drawn together, since they are alike
    """
    values = np.asarray(values, dtype=np.float64)
    _, member = np.unique(np.asarray(clusters), return_inverse=True)
    sums, counts = np.bincount(member, weights=values), np.bincount(member)
    drawn = rng.integers(len(sums), size=(resamples, len(sums)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
