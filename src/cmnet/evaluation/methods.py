"""What is judged: a method takes a `Puzzle` and gives an `Answer`."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Protocol

import numpy as np

from cmnet.data.streams import stream
from cmnet.errors import InputError
from cmnet.evaluation.answers import Answer, answer_of
from cmnet.evaluation.cases import Puzzle
from cmnet.evaluation.choices import PAPER, STRICT
from cmnet.evaluation.oracle import Oracle
from cmnet.geometry.pose import Pose

if TYPE_CHECKING:
    from cmnet.parts.part import Part
    from cmnet.parts.points import Points
    from cmnet.solving.assembly import Assembly

Method = Callable[[Puzzle], Answer]
Makers = Mapping[str, Callable[[], Method | Oracle]]  # by name; called when the method is first needed
PairPose = Callable[["Points", "Points", float], Pose]  # (p, q, unit) → T_q_p

METHODS = ("cmnet", "chance", "identity", "oracle")
REFERENCES = {STRICT: ("chance",), PAPER: ("identity", "chance", "oracle")}  # by protocol, beside what is judged


class Assembles(Protocol):
    """What puts parts together: an `Assembler`."""

    def assemble(self, parts: "Sequence[Part]", *, one_object: bool = False) -> "Assembly": ...


def method_makers(
    name: str,
    weights: str,
    points: int | None = None,
    seed: int = 0,
    solver: str | None = None,
    one_object: bool = False,
    protocol: str = STRICT,
) -> Makers:
    """The method by its name, with the references of the protocol beside it, each made when it is first needed.

    points     : samples of an object that the network gets; None: as it was trained
    solver     : puts the parts together; None: the network alone says the pose of a pair
    one_object : tell it that all parts belong to one object
    """
    if name not in METHODS:
        raise InputError(f"there is no method {name!r}; choose one of {', '.join(METHODS)}")
    if solver is None:
        own = cache(lambda: network(weights, points, seed))
    else:
        own = cache(lambda: solved(weights, solver, seed, one_object, points))
    makers: Makers = {"cmnet": own, "chance": lambda: chance(seed), "identity": lambda: identity, "oracle": Oracle}
    return {label: makers[label] for label in dict.fromkeys((name, *REFERENCES[protocol]))}


def network(weights: str, points: int | None, seed: int) -> Method:
    """The relative pose of a pair by the network."""
    from cmnet.assembler import Assembler

    return pairwise(Assembler(weights=weights, points=points, seed=seed).pose)


def solved(weights: str, solver: str, seed: int, one_object: bool = False, points: int | None = None) -> Method:
    """All parts put together by the assembler, with the weights, "none" included, and the solver of that name."""
    from cmnet.assembler import Assembler

    # One core an object: several of them are judged side by side.
    return assembled(Assembler(weights, solver, points, seed=seed, workers=1), seed, one_object)


def assembled(assembler: Assembles, seed: int = 0, one_object: bool = False) -> Method:
    """A method from anything that puts parts together. It gets them off their centres, somewhere in space."""

    def method(puzzle: Puzzle) -> Answer:
        rng = stream(seed, "offset", puzzle.name)
        given = [Pose(np.eye(3), puzzle.unit * rng.standard_normal(3)) for _ in puzzle.parts]
        assembly = assembler.assemble([part.moved(T) for part, T in zip(puzzle.parts, given)], one_object=one_object)
        return answer_of(assembly, range(len(given)), puzzle.anchor, given)

    return method


def pairwise(pose: PairPose) -> Method:
    """A method for puzzles of two parts from a function (p, q, unit) → T_q_p; q is the anchor."""

    def method(puzzle: Puzzle) -> Answer:
        if len(puzzle.points) != 2:
            raise ValueError(f"a pairwise method cannot solve {puzzle.name} with its {len(puzzle.points)} parts")
        moved = 1 - puzzle.anchor
        poses = np.tile(np.eye(4), (2, 1, 1))
        poses[moved] = pose(puzzle.points[moved], puzzle.points[puzzle.anchor], puzzle.unit).matrix()
        return Answer(poses)

    return method


def identity(puzzle: Puzzle) -> Answer:
    """Every part unturned, its mean on the anchor's."""
    means = np.array([points.xyz.mean(axis=0) for points in puzzle.points])
    return Answer(np.array([Pose(np.eye(3), means[puzzle.anchor] - mean).matrix() for mean in means]))


def chance(seed: int) -> Method:
    """Random poses: any rotation, the part's mean laid on a random point of the anchor."""

    def method(puzzle: Puzzle) -> Answer:
        rng = stream(seed, "chance", puzzle.name)
        targets = rng.choice(puzzle.points[puzzle.anchor].xyz, size=len(puzzle.points))
        rotations = [Pose.random(rng).R for _ in puzzle.points]
        means = [points.xyz.mean(axis=0) for points in puzzle.points]
        poses = np.array([Pose(R, t - R @ mean).matrix() for R, t, mean in zip(rotations, targets, means)])
        poses[puzzle.anchor] = np.eye(4)
        return Answer(poses)

    return method
