"""Whether a confidence means what it says: of the joins that claim 90 %, about 90 % are right."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

BINS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class Bin:
    """The joins whose confidence lies within [low, high), or [low, 1]."""

    low: float
    high: float
    n: int
    claimed: float  # mean confidence
    right: float  # share that is right
    right_low: float  # its 95 % Wilson interval
    right_high: float


def reliability(confidence: ArrayLike, right: ArrayLike, edges: tuple[float, ...] = BINS) -> list[Bin]:
    """One entry for every bin that is not empty. confidence : (n,) float in [0, 1]; right : (n,) bool"""
    claimed, truth = (np.asarray(values, dtype=np.float64) for values in (confidence, right))
    bins = []
    for low, high in pairwise(edges):
        inside = (claimed >= low) & ((claimed < high) | (high == edges[-1]))
        if n := int(inside.sum()):
            share = float(truth[inside].mean())
            bins.append(Bin(low, high, n, float(claimed[inside].mean()), share, *wilson(share, n)))
    return bins


def calibration_error(bins: list[Bin]) -> float:
    """Expected calibration error: the mean over all joins of |claimed − right| of their bin."""
    total = sum(b.n for b in bins)
    return sum(b.n * abs(b.claimed - b.right) for b in bins) / total if total else float("nan")


def wilson(share: float, n: int, z: float = 1.96) -> tuple[float, float]:
    """The interval in which the true share lies, given the one seen among n."""
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return float(max(middle - half, 0.0)), float(min(middle + half, 1.0))
