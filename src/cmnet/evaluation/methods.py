"""What is judged: a method takes a `Puzzle` and answers with (p, 4, 4) poses in the anchor's frame; NaN: not placed."""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cmnet.errors import InputError
from cmnet.evaluation.cases import Array, Puzzle, stream
from cmnet.geometry.pose import Pose

if TYPE_CHECKING:
    from cmnet.parts.points import Points

Method = Callable[[Puzzle], Array]
Makers = Mapping[str, Callable[[], Method]]  # by name; called when the method is first needed
PairPose = Callable[["Points", "Points", float], Pose]  # (p, q, unit) → T_q_p

METHODS = ("cmnet", "chance")


def method_makers(name: str, weights: str, points: int | None = None, seed: int = 0) -> Makers:
    """The method by its name, with chance beside it; each is made only when it is first needed."""
    if name not in METHODS:
        raise InputError(f"there is no method {name!r}; choose one of {', '.join(METHODS)}")
    by_chance: Makers = {"chance": lambda: chance(seed)}
    return by_chance if name == "chance" else {"cmnet": lambda: network(weights, points, seed), **by_chance}


def network(weights: str, points: int | None, seed: int) -> Method:
    """The relative pose of a pair by the network."""
    from cmnet.assembler import Assembler

    return pairwise(Assembler(weights=weights, points=points, seed=seed).pose)


def pairwise(pose: PairPose) -> Method:
    """A method for puzzles of two parts from a function (p, q, unit) → T_q_p; q is the anchor."""

    def method(puzzle: Puzzle) -> Array:
        if len(puzzle.points) != 2:
            raise ValueError(f"a pairwise method cannot solve {puzzle.name} with its {len(puzzle.points)} parts")
        moved = 1 - puzzle.anchor
        poses = np.tile(np.eye(4), (2, 1, 1))
        poses[moved] = pose(puzzle.points[moved], puzzle.points[puzzle.anchor], puzzle.unit).matrix()
        return poses

    return method


def chance(seed: int) -> Method:
    """Random poses: any rotation, the part's mean laid on a random point of the anchor."""

    def method(puzzle: Puzzle) -> Array:
        rng = stream(seed, "chance", puzzle.name)
        targets = rng.choice(puzzle.points[puzzle.anchor].xyz, size=len(puzzle.points))
        rotations = [Pose.random(rng).R for _ in puzzle.points]
        means = [points.xyz.mean(axis=0) for points in puzzle.points]
        poses = np.array([Pose(R, t - R @ mean).matrix() for R, t, mean in zip(rotations, targets, means)])
        poses[puzzle.anchor] = np.eye(4)
        return poses

    return method


def weights_hash(weights: str) -> str | None:
    """SHA-256 of a weights file; None where there is no file."""
    file = Path(weights)
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else None
