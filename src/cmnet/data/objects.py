"""Broken objects as samples: the pieces in their assembled places, and how much of them touches."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from cmnet.data.breaking_bad import FractureFolder, find_fractures
from cmnet.data.cache import default_cache, key_of, read_arrays, write_arrays
from cmnet.data.scan import AS_STORED, Condition, foreign_part, scan
from cmnet.data.stored import Stored, files_of, read_stored
from cmnet.data.streams import stream
from cmnet.errors import InputError
from cmnet.geometry.sampling import Split, allocate
from cmnet.geometry.types import Array, Bools
from cmnet.parts.part import Part
from cmnet.parts.points import Points, sample_parts, unit_length
from cmnet.reading import expanded

# A sample touches the mate where one of the mate's nearest few samples
WITNESSES = 4
REACH = 1.2  # lies within so many spacings,
LIFT = 0.35  # off its tangent plane by at most so many (the far skin of a thin wall lies further off),
OPPOSED = -0.5  # and has a normal whose dot product is below this.

FORMAT = "cmnet.objects/2"  # part of the cache key: change it whenever the same files would give other samples


@dataclass(frozen=True, eq=False)
class SampledObject:
    """One broken object, every piece in its assembled place and in the coordinates of the files.

    contact   : (p, p) float mating areas, symmetric, zero on the diagonal
    unit      : length of one network unit
    lookalike : the same object broken another way, whose parts look as if they belonged here
    foreign   : indices of pieces that belong to another object and touch nothing
    """

    name: str
    points: tuple[Points, ...]
    contact: Array
    unit: float
    lookalike: "SampledObject | None" = None
    foreign: tuple[int, ...] = ()


class ObjectSource(Protocol):
    """Where pairs come from: a folder of broken objects, or objects broken on the fly."""

    def __len__(self) -> int: ...

    def get(self, i: int, variant: int = 0) -> SampledObject:
        """Object i; every variant is a fresh sampling of it."""
        ...


def sample_object(
    name: str, parts: Sequence[Part], total: int = 5000, seed: int = 0, split: Split = allocate
) -> SampledObject:
    """Sample a broken object whose parts lie in their assembled places. split : how the parts share the samples"""
    points = tuple(sample_parts(parts, total, seed, split=split))
    return SampledObject(name, points, contact_areas(points), unit_length(points))


def contact_areas(points: Sequence[Points]) -> Array:
    """(p, p) float: the area over which each two parts touch, the mean of what either side says."""
    trees = [cKDTree(p.xyz) for p in points]
    one_way = np.zeros((len(points), len(points)))
    for i, a in enumerate(points):
        for j, b in enumerate(points):
            if i != j and _near(a, b):
                one_way[i, j] = a.area * _touching(a, b, trees[j]).mean()
    return (one_way + one_way.T) / 2


def spacing(points: Points) -> float:
    """Distance of neighbouring samples, roughly."""
    return float(np.sqrt(points.area / len(points)))


def _near(a: Points, b: Points) -> bool:
    """Whether the bounding boxes come within reach of each other."""
    gap = np.maximum(a.xyz.min(axis=0) - b.xyz.max(axis=0), b.xyz.min(axis=0) - a.xyz.max(axis=0))
    return bool((gap <= REACH * max(spacing(a), spacing(b))).all())


def _touching(a: Points, b: Points, tree_b: cKDTree) -> Bools:
    """(n,) bool: which of a's samples lie on b, face to face."""
    # At a crease the nearest sample may lie on the other plane, so a few are asked.
    d = spacing(b)
    distances, nearest = tree_b.query(a.xyz, k=WITNESSES, distance_upper_bound=REACH * d)
    rows, columns = np.nonzero(np.isfinite(distances))
    hit = np.asarray(nearest)[rows, columns]
    facing = np.einsum("kc,kc->k", a.normals[rows], b.normals[hit]) < OPPOSED
    lift = np.abs(np.einsum("kc,kc->k", a.xyz[rows] - b.xyz[hit], b.normals[hit]))
    touching = np.zeros(len(a), dtype=bool)
    touching[rows[facing & (lift <= LIFT * d)]] = True
    return touching


class FolderObjects:
    """The fractures of a folder in Breaking Bad's layout, sampled once and kept in a cache.

    cache     : where prepared samples are kept; by default the user's cache folder. Never the data folder itself.
    condition : how the pieces are scanned
    share     : how the pieces share the samples
    """

    def __init__(
        self,
        root: str | Path,
        subset: str | None = None,
        split: str | None = None,
        pieces: tuple[int, int] | None = (2, 2),
        total_points: int = 5000,
        seed: int = 0,
        cache: Path | None = None,
        condition: Condition = AS_STORED,
        share: Split = allocate,
    ) -> None:
        self.root = expanded(root)
        self.fractures = self._all = find_fractures(self.root, subset, split, pieces)
        self.total_points, self.seed, self.condition, self.share = total_points, seed, condition, share
        self.cache = default_cache() / "objects" if cache is None else expanded(cache)

    def __len__(self) -> int:
        return len(self.fractures)

    def __getitem__(self, i: int) -> SampledObject:
        return self.get(i)

    def get(self, i: int, variant: int = 0) -> SampledObject:
        """Object i; every variant is a fresh sampling of it."""
        fracture = self.fractures[i]
        shares = () if self.share is allocate else (self.share.__name__,)
        settings = FORMAT, self.total_points, self.seed, variant, str(self.condition), *shares
        files = (*files_of(fracture), *(file for other in self._others(fracture) for file in files_of(other)))
        key = key_of(files, self.root, *settings)
        file = self.cache / key[:2] / f"{key}.npz"
        ready = _unpacked(fracture.name, read_arrays(file))
        if ready is None:
            ready = self._sampled(fracture, variant)
            write_arrays(file, _packed(ready))
        return ready

    def _sampled(self, fracture: FractureFolder, variant: int) -> SampledObject:
        seed = int(np.random.SeedSequence([self.seed, variant]).generate_state(1)[0])
        stored = self.read(fracture)
        sampled = sample_object(fracture.name, stored.parts, self.total_points, seed, self.share)
        own = np.isin(np.arange(len(stored.parts)), stored.foreign, invert=True)
        return replace(sampled, contact=sampled.contact * np.outer(own, own), foreign=stored.foreign)

    def read(self, fracture: FractureFolder) -> Stored:
        """Its pieces in their places, as scanned: the same whenever and in whatever order they are asked for."""
        stored, rng = read_stored(fracture), stream(self.seed, "scan", fracture.name)
        own = [part for k, part in enumerate(stored.parts) if k not in stored.foreign]
        foreign = [stored.parts[k] for k in stored.foreign]
        foreign += [foreign_part(read_stored(other).parts, own, rng) for other in self._others(fracture)]
        parts = scan(own, self.condition, rng, foreign)
        return Stored(parts, tuple(range(len(parts) - len(foreign), len(parts))))

    def _others(self, fracture: FractureFolder) -> list[FractureFolder]:
        """Where foreign parts come from: fractures of other objects, whichever subset these lie in."""
        if not self.condition.foreign:
            return []
        own = fracture.category, fracture.object_id
        others = [f for f in self._all if (f.category, f.object_id) != own]
        if not others:
            raise InputError(f"no other object than {'/'.join(own)} in {self.root} to take a foreign part from")
        rng = stream(self.seed, "foreign", fracture.name)
        return [others[int(rng.integers(len(others)))] for _ in range(self.condition.foreign)]


def _packed(obj: SampledObject) -> dict[str, NDArray]:
    return {
        "xyz": np.concatenate([p.xyz for p in obj.points]),
        "normals": np.concatenate([p.normals for p in obj.points]),
        "counts": np.array([len(p) for p in obj.points]),
        "areas": np.array([p.area for p in obj.points]),
        "contact": obj.contact,
        "foreign": np.array(obj.foreign, dtype=np.int64),
    }


def _unpacked(name: str, arrays: dict[str, NDArray] | None) -> SampledObject | None:
    """The object that `_packed` made these arrays from, or None where they do not fit together."""
    if arrays is None:
        return None
    try:
        ends = np.cumsum(arrays["counts"])
        if not (len(arrays["xyz"]) == len(arrays["normals"]) == ends[-1]):
            return None
        xyz, normals = (np.split(arrays[k], ends[:-1]) for k in ("xyz", "normals"))
        points = tuple(Points(x, n, float(a)) for x, n, a in zip(xyz, normals, arrays["areas"], strict=True))
        foreign = tuple(arrays["foreign"].tolist())
        return SampledObject(name, points, arrays["contact"], unit_length(points), foreign=foreign)
    except (KeyError, IndexError, ValueError):
        return None
