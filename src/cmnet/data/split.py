"""Choosing what to train on and what to validate on."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cmnet.data.curriculum import STAGES, Curriculum
from cmnet.data.exercises import ObjectStream, Ordered, Shuffled
from cmnet.data.fresh import FreshObjects
from cmnet.data.generated import RECIPES
from cmnet.data.objects import FolderObjects, ObjectSource, SampledObject
from cmnet.errors import InputError

CURRICULUM = "curriculum"


class Chosen:
    """Some objects of a source."""

    def __init__(self, source: ObjectSource, indices: Sequence[int]) -> None:
        self.source, self.indices = source, list(indices)

    def __len__(self) -> int:
        return len(self.indices)

    def get(self, i: int, variant: int = 0) -> SampledObject:
        return self.source.get(self.indices[i], variant)


def has_split(root: Path, subset: str | None, split: str) -> bool:
    """Whether the folder lists the objects of this split."""
    base, name = ((root / subset).parent, Path(subset).name) if subset else (root, "*")
    return any((base / "data_split").glob(f"{name}.{split}.txt"))


def hold_out(source: FolderObjects, share: float) -> tuple[Chosen, Chosen]:
    """Two disjoint choices, by object: all fractures of an object fall on the same side.

    Which side depends on the object's name alone, so it stays there when other objects come or go.
    """
    sides: tuple[list[int], list[int]] = ([], [])
    for i, fracture in enumerate(source.fractures):
        name = f"{fracture.subset}/{fracture.category}/{fracture.object_id}"
        draw = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]) / 2**64
        sides[draw < share].append(i)
    if not all(sides):
        raise InputError(
            f"holding out {share:.0%} of the objects in {source.root} leaves nothing to "
            f"{'validate on' if sides[0] else 'train on'}; add objects, or write lists of them "
            "(data_split/SUBSET.train.txt and SUBSET.val.txt)"
        )
    return Chosen(source, sides[0]), Chosen(source, sides[1])


class Kept:
    """The first so many objects of a stream, in memory once they were asked for."""

    def __init__(self, stream: ObjectStream, length: int) -> None:
        self.stream, self.length = stream, length
        self._kept: dict[int, SampledObject] = {}

    def __len__(self) -> int:
        return self.length

    def get(self, i: int, variant: int = 0) -> SampledObject:
        if i not in self._kept:
            self._kept[i] = self.stream[i]
        return self._kept[i]


def generated_sources(
    recipe: str, pieces: tuple[int, int] | None, points: int, seed: int, validate_on: int
) -> tuple[ObjectStream, ObjectSource]:
    """Objects broken on the fly to train on, and others, from another seed, to validate on."""
    if recipe == CURRICULUM:
        if pieces is not None:
            raise InputError("the curriculum has its own numbers of pieces; with --pieces, choose generated:training")
        last = Curriculum(seed + 1, points, STAGES[-1:], block=1, uses=1)
        return Curriculum(seed, points), Kept(last, validate_on)
    if recipe not in RECIPES or recipe == "benchmark":
        names = [CURRICULUM, *(name for name in RECIPES if name != "benchmark")]  # the benchmark is never trained on
        allowed = ", ".join(names)
        raise InputError(f"there is no recipe {recipe!r} to train on; choose one of {allowed}")
    chosen = RECIPES[recipe] if pieces is None else replace(RECIPES[recipe], pieces=pieces)
    others = Kept(Ordered(FreshObjects(seed + 1, chosen, points)), validate_on)
    return Shuffled(FreshObjects(seed, chosen, points), seed, variants=1), others


def training_sources(
    root: Path,
    subset: str | None,
    pieces: tuple[int, int],
    points: int,
    seed: int,
    share: float = 0.1,
    variants: int = 4,
) -> tuple[ObjectStream, ObjectSource]:
    """What to train and what to validate on: the folder's own train and val lists, or a held-out share of objects."""
    lists = [has_split(root, subset, split) for split in ("train", "val")]
    train = FolderObjects(root, subset, "train" if lists[0] else None, pieces, points, seed)
    sources: tuple[ObjectSource, ObjectSource]
    if all(lists):
        sources = train, FolderObjects(root, subset, "val", pieces, points, seed)
    else:
        sources = hold_out(train, share)
    return Shuffled(sources[0], seed, variants), sources[1]
