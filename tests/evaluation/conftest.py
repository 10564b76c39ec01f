"""Stand-ins for sampled fractures: a bar of size 1 cut across into pieces of growing length, neighbours touching."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest

from cmnet.evaluation.cases import Array, Puzzle
from cmnet.evaluation.methods import Method
from cmnet.geometry.pose import Pose


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


def bar(name: str = "everyday/Bar/a/fractured_0", pieces: int = 2, n: int = 40) -> Bar:
    rng = np.random.default_rng(len(name))
    ends = np.cumsum(np.arange(pieces + 1)) / (pieces * (pieces + 1) / 2)
    clouds = []
    for low, high in pairwise(ends):
        xyz = rng.random((n, 3)) * [high - low, 0.3, 0.2] + [low, 0, 0]
        xyz[0, 0], xyz[1, 0] = low, high
        clouds.append(Cloud(xyz, rng.standard_normal((n, 3)), float(high - low)))
    k = np.arange(pieces)
    contact = np.where(abs(k[:, None] - k) == 1, np.minimum(k[:, None], k) + 1.0, 0.0)
    return Bar(name, tuple(clouds), contact)


def oracle(bars: list[Bar], off: Pose | None = None) -> Method:
    """A method that knows the answer, since it knows which point is which; `off` is put on top of it."""

    def method(puzzle: Puzzle) -> Array:
        world = {len(b.points): b for b in bars if b.name == puzzle.name}.popitem()[1]
        into_world = []
        for points in puzzle.points:
            (truth,) = [c for c in world.points if np.isclose(c.area, points.area)]
            into_world.append(_fit(points.xyz, truth.xyz))
        poses = np.array([(into_world[puzzle.anchor].inverse() @ T).matrix() for T in into_world])
        if off is not None:
            poses = poses @ off.matrix()
        poses[puzzle.anchor] = np.eye(4)
        return poses

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
