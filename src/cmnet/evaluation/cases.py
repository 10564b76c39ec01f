"""What is asked: parts of a known assembly, taken apart, turned at random and centred, with the truth kept aside."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from cmnet.geometry.pose import Pose

Array = NDArray[np.float64]


class Points(Protocol):
    """Samples of one part, a dataclass. xyz : (n, 3) float, normals : (n, 3) float, area : surface area"""

    @property
    def xyz(self) -> Array: ...
    @property
    def normals(self) -> Array: ...
    @property
    def area(self) -> float: ...


class SampledObject(Protocol):
    """A fracture with its parts in their assembled places.

    points : one `Points` per part, contact : (p, p) float, how much of each pair touches, unit : the object's scale
    """

    @property
    def name(self) -> str: ...
    @property
    def points(self) -> Sequence[Points]: ...
    @property
    def contact(self) -> NDArray[Any]: ...
    @property
    def unit(self) -> float: ...


@dataclass(frozen=True, eq=False)
class Puzzle:
    """What a method gets to see.

    points : the parts, each centred on its own mean and turned at random
    anchor : index of the part that stays put; answers are poses in its frame
    """

    name: str
    points: tuple[Points, ...]
    anchor: int
    unit: float


@dataclass(frozen=True, eq=False)
class Case:
    """A puzzle and its solution.

    parts   : which of the object's `pieces` parts take part
    centres : (p, 3) float, where the parts' means lie in the assembled object
    truth   : (p, 4, 4) float, T_anchor_part in the puzzle's coordinates
    """

    puzzle: Puzzle
    pieces: int
    parts: tuple[int, ...]
    centres: Array
    truth: Array


def stream(seed: int, purpose: str, name: str) -> np.random.Generator:
    """Random numbers that depend on the object's name, never on its place in a list."""
    digest = hashlib.sha256(f"{purpose}:{name}".encode()).digest()
    return np.random.default_rng([seed, int.from_bytes(digest[:8], "little")])


def pair_case(obj: SampledObject, seed: int) -> Case | None:
    """The paper's relative pose task on the pair that touches most; None where no two parts touch."""
    parts = most_touching(np.asarray(obj.contact, dtype=np.float64))
    return None if parts is None else make_case(obj, parts, seed)


def most_touching(contact: Array) -> tuple[int, int] | None:
    """The pair i < j with most contact (the first of equals). Of two parts it is always these two. contact : (p, p)"""
    if len(contact) == 2:
        return 0, 1
    upper = np.triu(contact + contact.T, k=1)
    if not upper.max(initial=0) > 0:
        return None
    i, j = np.unravel_index(np.argmax(upper), upper.shape)
    return int(i), int(j)


def make_case(obj: SampledObject, parts: Sequence[int], seed: int) -> Case:
    """Take `parts` of the object apart. The largest by area is the anchor."""
    chosen = [obj.points[k] for k in parts]
    anchor = int(np.argmax([points.area for points in chosen]))
    centres = np.array([points.xyz.mean(axis=0) for points in chosen])
    entries = [_entry(centre, stream(seed, f"entry {k}", obj.name)) for k, centre in zip(parts, centres)]
    truth = np.array([(entries[anchor] @ entry.inverse()).matrix() for entry in entries])
    truth[anchor] = np.eye(4)
    moved = tuple(_moved(points, entry) for points, entry in zip(chosen, entries))
    return Case(Puzzle(obj.name, moved, anchor, obj.unit), len(obj.points), tuple(parts), centres, truth)


def _entry(centre: Array, rng: np.random.Generator) -> Pose:
    """T_part_object: turned at random about the part's own mean, which goes to the origin."""
    R = Pose.random(rng).R
    return Pose(R, -R @ centre)


def _moved(points: Points, T: Pose) -> Points:
    return cast(Points, replace(cast(Any, points), xyz=T.apply(points.xyz), normals=T.rotate(points.normals)))
