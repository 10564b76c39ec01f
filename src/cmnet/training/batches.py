"""From numbered pairs to batches. Batch b of a run is a function of (seed, b), so a run resumes by starting at b."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from cmnet.data.pairs import Pair, PairDataset


class PairTensors(NamedTuple):
    """A `Pair` as tensors, and its number, from which every draw of its training step is seeded."""

    number: int
    points_p: Tensor
    normals_p: Tensor
    points_q: Tensor
    normals_q: Tensor
    T_q_p: Tensor
    matches: Tensor


def to_tensors(pair: Pair, number: int) -> PairTensors:
    return PairTensors(
        number=number,
        points_p=torch.from_numpy(pair.points_p),
        normals_p=torch.from_numpy(pair.normals_p),
        points_q=torch.from_numpy(pair.points_q),
        normals_q=torch.from_numpy(pair.normals_q),
        T_q_p=torch.from_numpy(pair.T_q_p.matrix()).float(),
        matches=torch.from_numpy(pair.matches),
    )


class NumberedPairs(Dataset):
    """The pairs of a `PairDataset` as tensors."""

    def __init__(self, pairs: PairDataset) -> None:
        self.pairs = pairs

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, i: int) -> PairTensors:
        return to_tensors(self.pairs[i], i)


class Consecutive:
    """Batches of consecutive numbers, dealt to the ranks in turn: batch b of rank r starts at (b · ranks + r) · size.

    Counts `batches` in all, of which it deals those from `start` on.
    """

    def __init__(self, batches: int, size: int = 1, start: int = 0, rank: int = 0, ranks: int = 1) -> None:
        self.batches, self.size, self.start, self.rank, self.ranks = batches, size, start, rank, ranks

    def __len__(self) -> int:
        return self.batches

    def __iter__(self) -> Iterator[list[int]]:
        for batch in range(self.start, self.batches):
            first = (batch * self.ranks + self.rank) * self.size
            yield list(range(first, first + self.size))


class Dealt:
    """The numbers 0 … count − 1, one a batch, dealt to the ranks in turn."""

    def __init__(self, count: int, rank: int = 0, ranks: int = 1) -> None:
        self.numbers = range(rank, count, ranks)

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[list[int]]:
        return ([i] for i in self.numbers)


def loader(pairs: PairDataset, sampler: Consecutive | Dealt, workers: int = 0) -> DataLoader:
    """Batches are lists of pairs: parts differ in size, and nothing is padded."""
    return DataLoader(NumberedPairs(pairs), batch_sampler=sampler, collate_fn=_as_list, num_workers=workers)


def _as_list(pairs: Sequence[PairTensors]) -> list[PairTensors]:
    return list(pairs)
