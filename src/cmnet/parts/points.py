"""From parts to oriented points: samples in proportion to area, and one length unit for all parts."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cmnet.geometry.noise import averaged, noise_of
from cmnet.geometry.pose import Pose
from cmnet.geometry.sampling import SATURATION, Split, allocate, poisson_subset, sample_surface
from cmnet.geometry.types import Array, Ints
from cmnet.parts.part import Part

UNIT_AREA = 1.6  # surface of all parts together, in network units: 5000 samples then lie about 0.018 apart
NOISY, STILL = 0.0004, 0.0002  # noise from which clouds are averaged, and what may stay of it, in network units
CROWD = 8  # of a dense cloud, so many points per sample wanted are looked at


@dataclass(frozen=True, eq=False)
class Points:
    """Samples of one part's surface, in the part's own coordinates.

    xyz     : (n, 3) float
    normals : (n, 3) float, unit length, outwards
    area    : of the surface they stand for
    """

    xyz: Array
    normals: Array
    area: float

    def __len__(self) -> int:
        return len(self.xyz)

    def moved(self, T_b_a: Pose) -> "Points":
        """The same samples with their coordinates taken from frame a to frame b."""
        return Points(T_b_a.apply(self.xyz), T_b_a.rotate(self.normals), self.area)


def sample_parts(
    parts: Sequence[Part], total: int, seed: int = 0, minimum: int = 256, split: Split = allocate
) -> list[Points]:
    """About `total` samples over all parts, split by area, at least `minimum` a part (a cloud: at most all it has).

    Neither the order of the parts nor their poses, names or scale change which samples are drawn.
    """
    counts = split(np.array([part.area for part in parts]), total, minimum)
    return [sample_part(part, int(n), seed) for part, n in zip(parts, counts)]


def unit_length(points: Sequence[Points] | Sequence[Part]) -> float:
    """The length of one network unit, in the unit of the parts: derived from their areas alone."""
    return unit_of_area(sum(p.area for p in points))


def unit_of_area(area: float) -> float:
    """The same, from the area of all parts together."""
    return float(np.sqrt(area / UNIT_AREA))


def without_noise(part: Part, unit: float) -> Part:
    """A cloud with its noise averaged away, as far as it is dense enough for that; a mesh as it is.

    unit : length of one network unit
    """
    if part.faces is not None:
        return part
    noise = noise_of(part.vertices, part.outward)
    if noise <= NOISY * unit:
        return part
    points, normals = averaged(part.vertices, part.outward, noise, STILL * unit)
    return replace(part, vertices=points, normals=normals)


def sample_part(part: Part, count: int, seed: int = 0) -> Points:
    """So many samples of a part (a cloud: at most all it has)."""
    area = part.area
    rng = np.random.default_rng([seed, *_fingerprint(part)])
    if part.faces is not None:
        return Points(*sample_surface(part.vertices, part.faces, count, rng), area)
    chosen = rng.permutation(len(part.vertices))[: CROWD * count]
    xyz, normals = part.vertices[chosen], part.outward[chosen]
    if len(xyz) > count:
        kept = poisson_subset(xyz, normals, count, float(np.sqrt(SATURATION * area / count)))
        xyz, normals = xyz[kept], normals[kept]
    return Points(xyz, normals, area)


def _fingerprint(part: Part) -> list[int]:
    """What tells parts apart whatever their pose, scale, name and file format: how their faces hang together."""
    digest = hashlib.sha256(str(len(part.vertices)).encode())
    if part.faces is not None:
        digest.update(np.ascontiguousarray(_numbered_by_use(part.faces), dtype="<i8").tobytes())
    return np.frombuffer(digest.digest(), dtype="<u4").tolist()


def _numbered_by_use(faces: Ints) -> Ints:
    """The faces (m, 3) with their vertices numbered as they are met: formats keep the order of faces only."""
    _, first, number = np.unique(faces, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[number].reshape(faces.shape)
