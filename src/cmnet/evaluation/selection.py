"""Which fractures are judged."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cmnet.data.breaking_bad import BROKEN, FractureFolder, find_fractures
from cmnet.errors import InputError
from cmnet.evaluation.cases import Load
from cmnet.evaluation.choices import PAPER
from cmnet.evaluation.predictions import Settings
from cmnet.geometry.sampling import allocate, allocate_as_published

if TYPE_CHECKING:
    from cmnet.data.objects import FolderObjects
    from cmnet.parts.part import Part

HALVES = ("development", "held-out")


def half_of(fracture: FractureFolder) -> str:
    """All fractures of an object fall on the same side, by the name of the object alone."""
    name = f"{fracture.subset}/{fracture.category}/{fracture.object_id}"
    return HALVES[hashlib.sha256(name.encode()).digest()[0] % 2]


def select(settings: Settings) -> FolderObjects:
    """The fractures that the settings ask for."""
    from cmnet.data.objects import FolderObjects
    from cmnet.data.scan import AS_STORED, parse_condition

    condition = AS_STORED if settings.scan is None else parse_condition(settings.scan)
    pieces = BROKEN if settings.pieces == "all" else _span(settings.pieces)
    objects = FolderObjects(
        settings.data,
        settings.subset,
        settings.split,
        pieces,
        total_points=settings.points,
        seed=settings.seed,
        condition=condition,
        share=allocate_as_published if settings.protocol == PAPER else allocate,
    )
    kept = [f for f in objects.fractures if settings.half in (None, half_of(f))]
    if not kept:
        raise InputError(f"no object in {settings.data} falls into the {settings.half} half; leave --half out")
    objects.fractures = [kept[k] for k in spread(len(kept), settings.limit)]
    return objects


def loader(*sources: FolderObjects) -> Load:
    """The parts of a fracture, in their assembled places, by its name."""
    homes = {fracture.name: (source, fracture) for source in sources for fracture in source.fractures}

    def load(name: str) -> list[Part]:
        source, fracture = homes[name]
        return source.read(fracture).parts

    return load


def spread(count: int, limit: int | None) -> list[int]:
    """At most `limit` indices below `count`, evenly spaced: neighbours in a sorted folder are alike."""
    kept = min(count, limit or count)
    return [k * count // kept for k in range(kept)]


def drawn(root: Path, half: str | None, pieces: Sequence[int] | None, limit: int | None) -> list[FractureFolder]:
    """Fractures to try things on: at most `limit` of each number of pieces, drawn once and for all.

    half : one of HALVES; None: all objects      pieces : numbers of pieces; None: all there are
    """
    found = [f for f in find_fractures(root, pieces=BROKEN) if half in (None, half_of(f))]
    picked = []
    for count in sorted({len(f.files) for f in found}) if pieces is None else pieces:
        some = [f for f in found if len(f.files) == count]
        picked += [some[i] for i in np.random.default_rng(count).permutation(len(some))[:limit]]
    return picked


def _span(text: str) -> tuple[int, int]:
    low, _, high = text.partition("-")
    return int(low), int(high or low)
