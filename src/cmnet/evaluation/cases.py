"""What is asked: parts of a known assembly, taken apart, turned at random and centred, with the truth kept aside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cmnet.data.streams import stream
from cmnet.geometry.pose import Pose
from cmnet.geometry.types import Array, Bools

if TYPE_CHECKING:
    from cmnet.data.objects import SampledObject
    from cmnet.parts.part import Part
    from cmnet.parts.points import Points

Load = Callable[[str], "list[Part]"]  # an object's name → its parts in their assembled places


@dataclass(frozen=True, eq=False)
class Puzzle:
    """What a method gets to see.

    points : the parts' samples, each part centred on its own mean and turned at random
    anchor : index of the part that stays put; answers are poses in its frame
    parts  : the parts themselves, moved like their samples; empty where samples are enough
    """

    name: str
    points: tuple[Points, ...]
    anchor: int
    unit: float
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, eq=False)
class Case:
    """A puzzle and its solution.

    pieces  : number of the object's own parts
    parts   : which of all parts take part, in the order in which the puzzle holds them
    centres : (p, 3) float, where the parts' means lie in the assembled object
    truth   : (p, 4, 4) float, T_anchor_part in the puzzle's coordinates; NaN: a foreign part, which belongs nowhere
    size    : the largest side of the object's box
    """

    puzzle: Puzzle
    pieces: int
    parts: tuple[int, ...]
    centres: Array
    truth: Array
    size: float

    @property
    def own(self) -> Bools:
        """(p,) bool: which parts belong to the object."""
        return np.array([bool(np.isfinite(T).all()) for T in self.truth])


def pair_case(obj: SampledObject, seed: int, load: Load | None = None) -> Case | None:
    """The paper's relative pose task on the pair that touches most; None where no two parts touch."""
    own = [k for k in range(len(obj.points)) if k not in obj.foreign]
    chosen = most_touching(np.asarray(obj.contact, dtype=np.float64)[np.ix_(own, own)])
    parts = None if chosen is None else (own[chosen[0]], own[chosen[1]])
    return None if parts is None else make_case(obj, parts, seed, load)


def assembly_case(obj: SampledObject, seed: int, load: Load | None = None) -> Case:
    """All parts, in an order that tells nothing."""
    order = stream(seed, "order", obj.name).permutation(len(obj.points))
    return make_case(obj, order.tolist(), seed, load)


def most_touching(contact: Array) -> tuple[int, int] | None:
    """The pair i < j with most contact (the first of equals). Of two parts it is always these two. contact : (p, p)"""
    if len(contact) == 2:
        return 0, 1
    upper = np.triu(contact + contact.T, k=1)
    if not upper.max(initial=0) > 0:
        return None
    i, j = np.unravel_index(np.argmax(upper), upper.shape)
    return int(i), int(j)


def make_case(obj: SampledObject, parts: Sequence[int], seed: int, load: Load | None = None) -> Case:
    """Take `parts` of the object apart. The largest of its own by area is the anchor."""
    chosen, own = [obj.points[k] for k in parts], [k not in obj.foreign for k in parts]
    anchor = int(np.argmax([points.area * mine for points, mine in zip(chosen, own)]))
    centres = np.array([points.xyz.mean(axis=0) for points in chosen])
    entries = [_entry(centre, stream(seed, f"entry {k}", obj.name)) for k, centre in zip(parts, centres)]
    truth = np.array([(entries[anchor] @ entry.inverse()).matrix() for entry in entries])
    truth[anchor], truth[~np.array(own)] = np.eye(4), np.nan
    moved = tuple(points.moved(entry) for points, entry in zip(chosen, entries))
    whole = load(obj.name) if load else []
    meshes = tuple(whole[k].moved(entry) for k, entry in zip(parts, entries)) if whole else ()
    bodies = [points.xyz for k, points in enumerate(obj.points) if k not in obj.foreign]
    size = float(np.ptp(np.concatenate(bodies), axis=0).max())
    puzzle = Puzzle(obj.name, moved, anchor, obj.unit, meshes)
    return Case(puzzle, len(bodies), tuple(parts), centres, truth, size)


def _entry(centre: Array, rng: np.random.Generator) -> Pose:
    """T_part_object: turned at random about the part's own mean, which goes to the origin."""
    R = Pose.random(rng).R
    return Pose(R, -R @ centre)
