"""Stand-ins for fractures: a bar of size 1 cut across into pieces of growing length, neighbours touching.

Once as samples, once as meshes with an assembler that knows where they belong.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
import trimesh

from cmnet.data.objects import sample_object
from cmnet.evaluation.answers import Answer
from cmnet.evaluation.cases import Puzzle
from cmnet.evaluation.methods import Method
from cmnet.geometry.pose import Pose
from cmnet.geometry.types import Array
from cmnet.pairing.join import Join
from cmnet.parts.part import Part
from cmnet.solving.assembly import Assembly


@dataclass(frozen=True)
class Cloud:
    xyz: Array
    normals: Array
    area: float

    def moved(self, T_b_a: Pose) -> "Cloud":
        return Cloud(T_b_a.apply(self.xyz), T_b_a.rotate(self.normals), self.area)


@dataclass(frozen=True)
class Bar:
    name: str
    points: tuple[Cloud, ...]
    contact: Array
    unit: float = 1.0
    foreign: tuple[int, ...] = ()


def bar(name: str = "everyday/Bar/a/fractured_0", pieces: int = 2, n: int = 40) -> Bar:
    rng = np.random.default_rng(len(name))
    clouds = []
    for low, high in pairwise(ends_of(pieces)):
        xyz = rng.random((n, 3)) * [high - low, 0.3, 0.2] + [low, 0, 0]
        xyz[0, 0], xyz[1, 0] = low, high
        clouds.append(Cloud(xyz, rng.standard_normal((n, 3)), float(high - low)))
    k = np.arange(pieces)
    contact = np.where(abs(k[:, None] - k) == 1, np.minimum(k[:, None], k) + 1.0, 0.0)
    return Bar(name, tuple(clouds), contact)


def ends_of(pieces: int) -> Array:
    return np.cumsum(np.arange(pieces + 1)) / (pieces * (pieces + 1) / 2)


def bricks(pieces: int = 4, name: str = "brick") -> list[Part]:
    """The bar as closed meshes in their assembled places."""
    parts = []
    for k, (low, high) in enumerate(pairwise(ends_of(pieces))):
        box = trimesh.creation.box(bounds=[[low, 0, 0], [high, 0.3, 0.2]])
        parts.append(Part(f"{name}_{k}", np.array(box.vertices), np.array(box.faces)))
    return parts


class Knowing:
    """An assembler that knows the whole objects and tells parts apart by their names.

    groups : names that hold together; by default everything of one object
    off    : by name, what is put on top of a part's true place
    """

    def __init__(self, *objects: list[Part], groups=None, off=None) -> None:
        self.world = {part.name: part for parts in objects for part in parts}
        self.groups = [[part.name for part in parts] for parts in objects] if groups is None else groups
        self.off = off or {}

    def assemble(self, parts: list[Part], progress=None, one_object: bool = False) -> Assembly:
        names = [part.name for part in parts]
        T_world = {part.name: self._place(part) for part in parts}
        groups = [sorted(names.index(name) for name in group if name in names) for group in self.groups]
        groups = sorted((group for group in groups if len(group) > 1), key=len, reverse=True)
        poses, joins = np.tile(np.eye(4), (len(parts), 1, 1)), []
        for group in groups:
            T_group = T_world[names[max(group, key=lambda k: parts[k].area)]].inverse()
            for k in group:
                poses[k] = (T_group @ T_world[names[k]]).matrix()
            for i, j in pairwise(sorted(group, key=lambda k: names[k])):
                T_i_j = Pose.from_matrix(poses[i]).inverse() @ Pose.from_matrix(poses[j])
                joins.append(Join((i, j), T_i_j, 0.9, 0.06, 0.0, 0.0, used=True))
        placed = {k for group in groups for k in group}
        return Assembly(poses, groups, [k for k in range(len(parts)) if k not in placed], joins)

    def _place(self, part: Part) -> Pose:
        return self.off.get(part.name, Pose.identity()) @ _fit(part.vertices, self.world[part.name].vertices)


def sampled(parts: list[Part], name: str = "everyday/Bar/a/fractured_0"):
    return sample_object(name, parts, 300 * len(parts))


def oracle(bars: list[Bar], off: Pose | None = None) -> Method:
    """A method that knows the answer, since it knows which point is which; `off` is put on top of it."""

    def method(puzzle: Puzzle) -> Answer:
        world = {len(b.points): b for b in bars if b.name == puzzle.name}.popitem()[1]
        into_world = []
        for points in puzzle.points:
            (truth,) = [c for c in world.points if np.isclose(c.area, points.area)]
            into_world.append(_fit(points.xyz, truth.xyz))
        poses = np.array([(into_world[puzzle.anchor].inverse() @ T).matrix() for T in into_world])
        if off is not None:
            poses = poses @ off.matrix()
        poses[puzzle.anchor] = np.eye(4)
        return Answer(poses)

    return method


def _fit(a: Array, b: Array) -> Pose:
    U, _, Vt = np.linalg.svd((b - b.mean(0)).T @ (a - a.mean(0)))
    R = U @ np.diag([1, 1, np.linalg.det(U @ Vt)]) @ Vt
    return Pose(R, b.mean(0) - R @ a.mean(0))


@pytest.fixture
def make_bar() -> Callable[..., Bar]:
    return bar


@pytest.fixture
def make_oracle() -> Callable[..., Method]:
    return oracle


@pytest.fixture
def bars() -> list[Bar]:
    names = ("everyday/Bar/a/fractured_0", "everyday/Bar/bb/fractured_1", "artifact/c/fractured_22", "everyday/d/x")
    return [bar(name, pieces) for name, pieces in zip(names, (2, 2, 3, 5))]


@pytest.fixture
def make_bricks() -> Callable[..., list[Part]]:
    return bricks


@pytest.fixture
def sample() -> Callable:
    return sampled


@pytest.fixture
def knowing() -> type[Knowing]:
    return Knowing
