"""How fragments come from a scanner: conditions put on parts that lie in their assembled places. Poses never change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace

import numpy as np

from cmnet.data.presets import parse_preset
from cmnet.data.surface_samples import lies_on, middles, sample_triangles
from cmnet.data.wear import Wear, wear_part
from cmnet.data.worn_surface import is_closed, tessellated, with_holes
from cmnet.errors import InputError
from cmnet.geometry.sampling import sample_faces
from cmnet.geometry.types import Bools, Ints
from cmnet.parts.health import FEWEST_POINTS
from cmnet.parts.part import Part

Rng = np.random.Generator

WITNESSES = 10_000  # samples of a part by which its mates know their breaks,
TOUCHING = 1e-3  # and how far these may lie off them, as a share of the size
SPREAD = 0.1  # how far off outliers lie, as a share of the size


@dataclass(frozen=True)
class Condition:
    """How parts are scanned. Lengths are shares of the object's largest side; every default leaves parts as stored."""

    missing: int = 0  # parts that are lost; the two largest always remain
    foreign: int = 0  # parts of other objects among these
    chips: float = 0.0  # mean number of chips lost from the edges of each part
    erosion: float = 0.0  # depth to which the edges of the breaks are rounded off
    tessellation: float = 0.0  # longest edge of new triangles, other ones for every part; 0: as stored
    decimation: float = 0.0  # how far a simplified surface may be from the stored one
    holes: float = 0.0  # mean number of holes in each part
    points: int = 0  # a part becomes a cloud of so many points, evenly likely by area; 0: as stored
    normals: int = 1  # 0: clouds come without normals
    noise: float = 0.0  # standard deviation of each coordinate of a vertex or point
    outliers: float = 0.0  # share of a cloud's points that are measured in the air, up to SPREAD off the surface
    uneven: float = 0.0  # of a cloud, how many times as dense the densest end is as the sparsest; 0: even


AS_STORED = Condition()
LOW, HIGH = 0.0002, 0.001  # noise of a good and of a poor scanner
CONDITIONS = {
    "as-stored": AS_STORED,
    "missing": Condition(missing=1),
    "foreign": Condition(foreign=1),
    "missing-foreign": Condition(missing=1, foreign=1),
    "chips": Condition(chips=2.0),
    "worn": Condition(chips=0.5, erosion=0.004, noise=0.0005),
    "tessellation": Condition(tessellation=0.01),
    "decimation": Condition(decimation=0.001),
    "holes": Condition(holes=1.0),
    "noise": Condition(noise=LOW),
    "strong-noise": Condition(noise=HIGH),
    "cloud-10k": Condition(points=10_000),
    "cloud-10k-noise": Condition(points=10_000, noise=LOW),
    "cloud-10k-strong-noise": Condition(points=10_000, noise=HIGH),
    "cloud-50k": Condition(points=50_000),
    "cloud-50k-noise": Condition(points=50_000, noise=LOW),
    "cloud-50k-strong-noise": Condition(points=50_000, noise=HIGH),
    "cloud-10k-uneven": Condition(points=10_000, uneven=5.0),
    "cloud-10k-outliers": Condition(points=10_000, outliers=0.01),
    "cloud-10k-holes": Condition(points=10_000, holes=1.0),
    "bare-10k": Condition(points=10_000, normals=0),
    "bare-10k-noise": Condition(points=10_000, normals=0, noise=LOW),
    "bare-10k-strong-noise": Condition(points=10_000, normals=0, noise=HIGH),
    "bare-50k": Condition(points=50_000, normals=0),
    "bare-50k-noise": Condition(points=50_000, normals=0, noise=LOW),
    "bare-50k-strong-noise": Condition(points=50_000, normals=0, noise=HIGH),
}


def parse_condition(text: str) -> Condition:
    """A condition's name, or `key=value,key=value`, or a name followed by changes: `cloud-10k,noise=0.0005`."""
    condition = parse_preset(text, CONDITIONS, AS_STORED, "scan")
    lengths = (condition.erosion, condition.tessellation, condition.decimation, condition.noise)
    if not all(0 <= value < np.inf for value in astuple(condition)) or max(lengths) > 0.1:
        raise InputError(f"scan {text!r}: values are not negative, lengths at most 0.1 of the object's size")
    if 0 < condition.points < FEWEST_POINTS:
        raise InputError(f"scan {text!r}: a cloud has at least {FEWEST_POINTS} points")
    return condition


def scan(parts: Sequence[Part], condition: Condition, rng: Rng, foreign: Sequence[Part] = ()) -> list[Part]:
    """The parts of an object as this scanner gives them, each in its own random way; foreign ones come last."""
    if condition == AS_STORED:
        return [*parts, *foreign]
    size = size_of(parts)
    own = [parts[k] for k in remaining(parts, condition.missing, rng)]
    every = [*own, *(replace(part, name=f"foreign_{k}") for k, part in enumerate(foreign))]
    streams = rng.spawn(len(every))
    wear = Wear(chips=condition.chips, erosion=condition.erosion, decimation=condition.decimation)
    if wear != Wear():
        # Nobody knows where a foreign part was broken.
        flags = [*broken_faces(own, size, rng), *(np.zeros(len(_faces(part)), dtype=bool) for part in foreign)]
        every = [wear_part(part, f, wear, size, r)[0] for part, f, r in zip(every, flags, streams, strict=True)]
    return [_scanned(part, condition, size, r) for part, r in zip(every, streams, strict=True)]


def size_of(parts: Sequence[Part]) -> float:
    """The largest side of the box around all parts."""
    return float(np.ptp(np.concatenate([part.vertices for part in parts]), axis=0).max())


def foreign_part(others: Sequence[Part], parts: Sequence[Part], rng: Rng) -> Part:
    """Any part of another object, scaled as if the two objects were of one size."""
    part = others[int(rng.integers(len(others)))]
    return replace(part, vertices=part.vertices * size_of(parts) / size_of(others), visual=None)


def remaining(parts: Sequence[Part], missing: int, rng: Rng) -> list[int]:
    """Which parts are left when so many are lost; the two largest always are."""
    extent = [float(np.linalg.norm(np.ptp(part.vertices, axis=0))) for part in parts]
    lost = rng.permutation(np.argsort(extent)[:-2])[:missing]
    return [k for k in range(len(parts)) if k not in lost]


def broken_faces(parts: Sequence[Part], size: float, rng: Rng) -> list[Bools]:
    """(m_i,) bool for every part: which of its faces lie on another part."""
    bare = [part.vertices[_faces(part)] / size for part in parts]
    samples = [sample_triangles(corners, WITNESSES, rng) for corners in bare]
    return [
        np.any([lies_on(middles(corners), other, TOUCHING) for other in samples[:k] + samples[k + 1 :]], axis=0)
        for k, corners in enumerate(bare)
    ]


def _faces(part: Part) -> Ints:
    """(m, 3) int, those of a closed mesh."""
    if part.faces is None or not is_closed(part.vertices, part.faces):
        raise InputError(
            f"{part.file or part.name} is no closed mesh, so it cannot be chipped, worn, simplified or cut into other "
            "triangles; mend it, or choose another --scan"
        )
    return part.faces


def _scanned(part: Part, condition: Condition, size: float, rng: Rng) -> Part:
    if condition.tessellation:
        vertices, faces = tessellated(part.vertices / size, _faces(part), condition.tessellation, rng)
        part = replace(part, vertices=size * vertices, faces=faces, colors=None, visual=None)
    if condition.holes:
        part = _with_holes(part, rng.poisson(condition.holes), rng)
    if condition.points:
        part = _as_cloud(part, condition.points, condition.uneven, rng)
    if part.faces is None and not condition.normals:
        part = replace(part, normals=None)
    if condition.noise:
        noise = condition.noise * size * rng.standard_normal(part.vertices.shape)
        part = replace(part, vertices=part.vertices + noise, visual=None)
    if condition.outliers and part.faces is None:
        part = _with_outliers(part, condition.outliers, size, rng)
    return part


def _with_holes(part: Part, count: int, rng: Rng) -> Part:
    if part.faces is None:
        single = np.arange(len(part.vertices))[:, None]  # a point is torn out like a face of one corner
        return _some_points(part, np.flatnonzero(with_holes(part.vertices, single, count, rng)))
    left = part.faces[with_holes(part.vertices, part.faces, count, rng)]
    used, faces = np.unique(left, return_inverse=True)
    return replace(part, vertices=part.vertices[used], faces=faces.reshape(-1, 3), colors=None, visual=None)


def _as_cloud(part: Part, count: int, uneven: float, rng: Rng) -> Part:
    """Points of its surface with the surface's normals; of what is a cloud already, at most so many of its points."""
    if part.faces is not None:
        points, normals = sample_faces(part.triangles, count if uneven <= 1 else round(uneven * count), rng)
        part = replace(part, vertices=points, faces=None, normals=normals, colors=None, visual=None)
    if uneven > 1:  # denser and denser along a random direction
        along = part.vertices @ rng.standard_normal(3)
        share = (along - along.min()) / np.ptp(along)
        part = _some_points(part, np.flatnonzero(rng.random(len(along)) < uneven ** (share - 1)))
    if len(part.vertices) > count:
        part = _some_points(part, np.sort(rng.permutation(len(part.vertices))[:count]))
    return part


def _with_outliers(cloud: Part, share: float, size: float, rng: Rng) -> Part:
    """The cloud with some of its points moved off the surface, anywhere up to SPREAD."""
    chosen = rng.permutation(len(cloud.vertices))[: round(share * len(cloud.vertices))]
    points = cloud.vertices.copy()
    points[chosen] += SPREAD * size * rng.uniform(-1, 1, (len(chosen), 3))
    return replace(cloud, vertices=points)


def _some_points(cloud: Part, kept: Ints) -> Part:
    normals = None if cloud.normals is None else cloud.normals[kept]
    return replace(cloud, vertices=cloud.vertices[kept], normals=normals, colors=None)
