"""How far a mean over a few broken objects can be trusted."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from cmnet.geometry.types import Array

RESAMPLES = 2000
LEVEL = 0.95


def interval(
    values: ArrayLike, clusters: Sequence[str], rng: np.random.Generator, resamples: int = RESAMPLES
) -> tuple[float, float]:
    """The 95 % bootstrap interval of the mean.

    values   : (n,) float
    clusters : (n,) what each value belongs to; fractures of one object are drawn together, since they are alike
    """
    ((low, high),) = intervals(np.atleast_2d(values), np.ones((1, len(clusters))), clusters, rng, resamples)
    return low, high


def intervals(
    values: ArrayLike, counts: ArrayLike, clusters: Sequence[str], rng: np.random.Generator, resamples: int = RESAMPLES
) -> list[tuple[float, float]]:
    """The same of m shares Σ values / Σ counts, all from the same draws; draws that count nothing are left out.

    values, counts : (m, n) float
    """
    _, member = np.unique(np.asarray(clusters), return_inverse=True)
    k = int(member.max()) + 1
    drawn = rng.integers(k, size=(resamples, k))
    times = np.array([np.bincount(row, minlength=k) for row in drawn])[:, member]
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = (times @ np.asarray(values, dtype=np.float64).T) / (times @ np.asarray(counts, dtype=np.float64).T)
    return [_middle(share[np.isfinite(share)]) for share in shares.T]


def _middle(shares: Array) -> tuple[float, float]:
    if not len(shares):
        return math.nan, math.nan
    low, high = np.quantile(shares, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
