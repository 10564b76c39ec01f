"""From numbered exercises to batches. Batch b of a run is a function of (seed, b): a run resumes by starting at b."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from cmnet.data.exercises import Exercise, ExerciseDataset


class FragmentTensors(NamedTuple):
    """A `Fragment` as tensors."""

    points: Tensor
    normals: Tensor
    breaking: Tensor


class PairTensors(NamedTuple):
    """A `Pair` as tensors."""

    p: int
    q: int
    T_q_p: Tensor
    matches: Tensor


class ExerciseTensors(NamedTuple):
    """An `Exercise` as tensors, and its number, from which every draw of its training step is seeded."""

    number: int
    stage: int
    fragments: list[FragmentTensors]
    pairs: list[PairTensors]


def to_tensors(exercise: Exercise, number: int) -> ExerciseTensors:
    tensor = torch.from_numpy
    return ExerciseTensors(
        number,
        exercise.stage,
        [FragmentTensors(tensor(f.points), tensor(f.normals), tensor(f.breaking)) for f in exercise.fragments],
        [PairTensors(x.p, x.q, tensor(x.T_q_p.matrix()).float(), tensor(x.matches)) for x in exercise.pairs],
    )


class NumberedExercises(Dataset):
    """The exercises of an `ExerciseDataset` as tensors."""

    def __init__(self, exercises: ExerciseDataset) -> None:
        self.exercises = exercises

    def __getitem__(self, i: int) -> ExerciseTensors:
        return to_tensors(self.exercises[i], i)


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


def loader(exercises: ExerciseDataset, sampler: Consecutive | Dealt, workers: int = 0) -> DataLoader:
    """Batches are lists of exercises: parts differ in size, and nothing is padded."""
    return DataLoader(NumberedExercises(exercises), batch_sampler=sampler, collate_fn=_as_list, num_workers=workers)


def _as_list(exercises: Sequence[ExerciseTensors]) -> list[ExerciseTensors]:
    return list(exercises)
