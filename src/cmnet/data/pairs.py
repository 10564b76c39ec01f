"""Pairs of parts to train and to judge on: taken apart, turned at random, with the way back and the true matches."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from cmnet.data.objects import LIFT, OPPOSED, ObjectSource, SampledObject
from cmnet.errors import InputError
from cmnet.geometry.pose import Pose
from cmnet.parts.points import Points

Array = NDArray[np.float64]
Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Choice = Literal["random", "most-touching"]
Scale = Literal["area", "given"]

POSITIVE_RADIUS = 0.018  # network units; the paper's


@dataclass(frozen=True, eq=False)
class Pair:
    """Two touching parts of one object, each centred on its mean and turned at random, in network units.

    points_p, normals_p : (n, 3) float32        points_q, normals_q : (m, 3) float32
    T_q_p   : takes p's points to their true place on q
    matches : (k, 2) int64, rows (i, j): point i of p belongs to point j of q; k may be 0
    unit    : length of one network unit, in the unit of the files
    pieces  : number of parts of the whole object
    """

    name: str
    points_p: Floats
    normals_p: Floats
    points_q: Floats
    normals_q: Floats
    T_q_p: Pose
    matches: Ints
    unit: float
    pieces: int


def draw_pair(
    obj: SampledObject,
    rng: np.random.Generator,
    source: Choice = "random",
    positive_radius: float = POSITIVE_RADIUS,
    normals: bool = True,
    scale: Scale = "area",
) -> Pair:
    """Choose two parts and take them apart.

    source  : "random": p is any part that touches another, q the one it shares most area with;
              "most-touching": the two that share most area, q the larger part
    normals : a match needs opposed normals, besides lying within `positive_radius`
    scale   : "area": one unit from the parts' area; "given": the unit of the files is the network's
    """
    if len(obj.points) < 2:
        raise InputError(f"{obj.name} has {len(obj.points)} part; a pair needs two, so leave such fractures out")
    i, j = _random_parts(obj, rng) if source == "random" else _most_touching(obj)
    unit = obj.unit if scale == "area" else 1.0
    p, q = _scaled(obj.points[i], unit), _scaled(obj.points[j], unit)
    T_p_w, T_q_w = _taken_apart(p, rng), _taken_apart(q, rng)
    p_apart, q_apart = p.moved(T_p_w), q.moved(T_q_w)
    return Pair(
        name=f"{obj.name}:{i}-{j}",
        points_p=p_apart.xyz.astype(np.float32),
        normals_p=p_apart.normals.astype(np.float32),
        points_q=q_apart.xyz.astype(np.float32),
        normals_q=q_apart.normals.astype(np.float32),
        T_q_p=T_q_w @ T_p_w.inverse(),
        matches=true_matches(p, q, positive_radius, normals),
        unit=unit,
        pieces=len(obj.points),
    )


def true_matches(p: Points, q: Points, radius: float, normals: bool = True) -> Ints:
    """(k, 2) int64: points of two assembled parts that lie within `radius`, in order of index.

    With `normals` they also have to face each other and lie off one another's tangent plane by at most a third of the
    radius: without that, the far skins of a wall thinner than the radius would count as touching.
    """
    near = cKDTree(p.xyz).sparse_distance_matrix(cKDTree(q.xyz), radius, output_type="ndarray")
    i, j = near["i"].astype(np.int64), near["j"].astype(np.int64)
    if normals:
        offset, n_p, n_q = p.xyz[i] - q.xyz[j], p.normals[i], q.normals[j]
        facing = np.einsum("kc,kc->k", n_p, n_q) < OPPOSED
        lift = np.maximum(np.abs(np.einsum("kc,kc->k", offset, n_p)), np.abs(np.einsum("kc,kc->k", offset, n_q)))
        keep = facing & (lift <= LIFT * radius)
        i, j = i[keep], j[keep]
    order = np.lexsort((j, i))
    return np.stack([i[order], j[order]], axis=1)


def _random_parts(obj: SampledObject, rng: np.random.Generator) -> tuple[int, int]:
    touching = np.flatnonzero(obj.contact.sum(axis=1) > 0)
    if not len(touching):  # worn or gaping objects: any two will do, they have no match to teach
        i, j = rng.choice(len(obj.points), size=2, replace=False)
        return int(i), int(j)
    i = int(rng.choice(touching))
    return i, int(np.argmax(obj.contact[i]))


def _most_touching(obj: SampledObject) -> tuple[int, int]:
    areas = np.array([p.area for p in obj.points])
    if obj.contact.any():
        pair = np.unravel_index(np.argmax(obj.contact), obj.contact.shape)
    else:
        pair = tuple(np.argsort(-areas, kind="stable")[:2])
    i, j = sorted(map(int, pair))
    return (i, j) if areas[i] <= areas[j] else (j, i)


def _scaled(points: Points, unit: float) -> Points:
    return Points(points.xyz / unit, points.normals, points.area / unit**2)


def _taken_apart(points: Points, rng: np.random.Generator) -> Pose:
    """T_part_world: the part centred on its mean and turned at random."""
    turn = Pose.random(rng)
    return turn @ Pose(np.eye(3), -points.xyz.mean(axis=0))


class PairDataset:
    """Pairs by number; item i is a function of (seed, i) alone, so a run resumes by starting at the right item.

    mode "stream": an endless stream. Each pass takes the objects in a new order; part, rotations and the sampling
                   of the surface change from pass to pass (`variants` samplings in all, which bounds the cache).
    mode "fixed":  item i is the most-touching pair of object i, always turned alike.
    `len` is the number of objects: one pass.
    """

    def __init__(
        self,
        source: ObjectSource,
        seed: int = 0,
        mode: Literal["stream", "fixed"] = "stream",
        choice: Choice = "random",
        positive_radius: float = POSITIVE_RADIUS,
        normals: bool = True,
        scale: Scale = "area",
        variants: int = 4,
    ) -> None:
        self.source, self.seed, self.mode, self.variants = source, seed, mode, variants
        self.choice: Choice = "most-touching" if mode == "fixed" else choice
        self.positive_radius, self.normals = positive_radius, normals
        self.scale: Scale = scale

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, i: int) -> Pair:
        if i < 0 or (self.mode == "fixed" and i >= len(self)):
            raise IndexError(i)
        epoch, place = divmod(i, len(self))
        if self.mode == "stream":
            place = int(np.random.default_rng([self.seed, 0, epoch]).permutation(len(self))[place])
        obj = self.source.get(place, epoch % self.variants)
        rng = np.random.default_rng([self.seed, 1, i])
        return draw_pair(obj, rng, self.choice, self.positive_radius, self.normals, self.scale)
