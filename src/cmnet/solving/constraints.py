"""What the user knows already: which parts touch or do not, where a part lies, what belongs to one object.

A JSON file; parts by name, file name or index (from 0):

    {"format": "cmnet.constraints/1",
     "join": [["a", "b"], {"parts": ["a", "c"], "pose": [[...], [...], [...], [0, 0, 0, 1]]}],
     "forbid": [["a", "d"], {"parts": ["b", "c"], "pose": [[...], ...]}], "fix": [{"part": "a", "pose": [[...], ...]}],
     "same": [["a", "b", "c"]], "different": [["a", "d"]]}

join: the two touch; the way they do is the one of their candidates that the rest agrees with best, however unsure, or
the given pose (x_a = pose · x_c). forbid: never joined directly, or not in that pose. fix: the pose in the assembled
frame. same, different: all in one group, no two in one group.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from cmnet.errors import InputError
from cmnet.geometry.pose import Pose
from cmnet.parts.health import LARGEST
from cmnet.parts.part import Part
from cmnet.reading import expanded, read_json
from cmnet.solving.groups import Pair

FORMAT = "cmnet.constraints/1"
KEYS = ("join", "forbid", "fix", "same", "different")
ROUNDED = 1e-3  # what the entries of a rotation may be off by, typed by hand


@dataclass(frozen=True, eq=False)
class Touch:
    """Two parts (i < j) that touch, and how, where that is known."""

    parts: Pair
    T_i_j: Pose | None = None


@dataclass(frozen=True, eq=False)
class Constraints:
    """Parts by index, pairs as (i, j) with i < j; an empty one changes nothing.

    names     : of all parts, for messages
    join      : parts that touch
    forbid    : pairs that are not joined directly; wrong : poses in which they are not
    fix       : part and its pose T_assembled_part
    same      : parts that belong into one group
    different : pairs that must not come into one group
    """

    names: tuple[str, ...] = ()
    join: tuple[Touch, ...] = ()
    forbid: tuple[Pair, ...] = ()
    fix: tuple[tuple[int, Pose], ...] = ()
    same: tuple[tuple[int, ...], ...] = ()
    different: tuple[Pair, ...] = ()
    wrong: tuple[Touch, ...] = ()


Known = Constraints | str | Path | Mapping[str, Any]


def of_one_object(names: Sequence[str], known: Constraints | None = None) -> Constraints:
    """What is known already, and that all parts belong into one group."""
    known = known or Constraints(tuple(names))
    return replace(known, same=(tuple(range(len(names))),))


def renamed(known: Constraints, indices: Mapping[int, int]) -> Constraints:
    """With other indices, and without what is of parts that have none."""
    name = indices.__getitem__

    def touches(some: Sequence[Touch]) -> tuple[Touch, ...]:
        kept = (touch for touch in some if {*touch.parts} <= indices.keys())
        return tuple(Touch((name(t.parts[0]), name(t.parts[1])), t.T_i_j) for t in kept)

    def pairs(some: Sequence[Pair]) -> tuple[Pair, ...]:
        return tuple((name(i), name(j)) for i, j in some if {i, j} <= indices.keys())

    together = (tuple(name(k) for k in parts if k in indices) for parts in known.same)
    return Constraints(
        tuple(known.names[k] for k in sorted(indices, key=name)),
        touches(known.join),
        pairs(known.forbid),
        tuple((name(k), T) for k, T in known.fix if k in indices),
        tuple(parts for parts in together if len(parts) > 1),
        pairs(known.different),
        touches(known.wrong),
    )


def load_constraints(source: Known, parts: Sequence[str | Part]) -> Constraints:
    """Read constraints on the given parts (or part names) from a file, or from a mapping laid out like one."""
    if isinstance(source, Constraints):
        return source
    if isinstance(source, Mapping):
        return _Reader("the constraints", parts).read(source)
    if not isinstance(source, str | Path):
        raise InputError(f"constraints are a file, a mapping laid out like one, or Constraints, not {_sort_of(source)}")
    path = expanded(source)
    data = read_json(path, "correct it, or give another file of constraints")
    return _Reader(str(path), parts).read(data)


def to_json(known: Constraints) -> dict[str, Any]:
    """Constraints laid out like a file of them; parts by index, since names may be any."""

    def touch(one: Touch) -> Any:
        return {"parts": list(one.parts), "pose": one.T_i_j.matrix().tolist()} if one.T_i_j else list(one.parts)

    return {
        "format": FORMAT,
        "join": [touch(one) for one in known.join],
        "forbid": [*map(list, known.forbid), *map(touch, known.wrong)],
        "fix": [{"part": k, "pose": T.matrix().tolist()} for k, T in known.fix],
        "same": [list(parts) for parts in known.same],
        "different": [list(pair) for pair in known.different],
    }


@dataclass(frozen=True)
class _Reader:
    """Turns the entries of one source into Constraints; every mistake becomes one sentence that names the entry."""

    source: str
    parts: Sequence[str | Part]

    def read(self, data: Any) -> Constraints:
        if not isinstance(data, Mapping) or data.get("format") != FORMAT:
            raise InputError(f'{self.source}: not constraints; a file starts with {{"format": "{FORMAT}", ...')
        _only(self.source, [key for key in data if key != "format"], KEYS)
        forbidden = [self._touch(where, entry) for where, entry in self._entries(data, "forbid")]
        return Constraints(
            names=tuple(part if isinstance(part, str) else part.name for part in self.parts),
            join=tuple(self._touch(where, entry) for where, entry in self._entries(data, "join")),
            forbid=tuple(touch.parts for touch in forbidden if touch.T_i_j is None),
            wrong=tuple(touch for touch in forbidden if touch.T_i_j is not None),
            fix=tuple(self._fix(where, entry) for where, entry in self._entries(data, "fix")),
            same=tuple(self._sets(data, "same")),
            different=tuple(pair for parts in self._sets(data, "different") for pair in combinations(sorted(parts), 2)),
        )

    def _entries(self, data: Mapping[str, Any], key: str) -> Iterator[tuple[str, Any]]:
        entries = data.get(key, [])
        if not isinstance(entries, list):
            raise InputError(f"{self.source}: {key!r} is a list of entries, not {_sort_of(entries)}")
        for n, entry in enumerate(entries):
            yield f"{self.source}: entry {n + 1} of {key!r}", entry

    def _sets(self, data: Mapping[str, Any], key: str) -> Iterator[tuple[int, ...]]:
        return (self._several(where, entry) for where, entry in self._entries(data, key))

    def _touch(self, where: str, entry: Any) -> Touch:
        if not isinstance(entry, Mapping):
            i, j = sorted(self._several(where, entry, 2))
            return Touch((i, j))
        _only(where, entry, ("parts", "pose"))
        i, j = self._several(where, entry.get("parts"), 2)
        T_i_j = _pose(where, entry["pose"]) if "pose" in entry else None
        return Touch((i, j), T_i_j) if i < j else Touch((j, i), T_i_j and T_i_j.inverse())

    def _fix(self, where: str, entry: Any) -> tuple[int, Pose]:
        if not isinstance(entry, Mapping) or not {"part", "pose"} <= entry.keys():
            raise InputError(f'{where} must read {{"part": "a", "pose": 4 rows of 4 numbers}}')
        _only(where, entry, ("part", "pose"))
        return self._index(where, entry["part"]), _pose(where, entry["pose"])

    def _several(self, where: str, entry: Any, size: int | None = None) -> tuple[int, ...]:
        if not isinstance(entry, list) or len(entry) < 2 or len(entry) != (size or len(entry)):
            raise InputError(f"{where} must be a list of {size or 'two or more'} parts, not {_sort_of(entry)}")
        found = tuple(self._index(where, part) for part in entry)
        if len(set(found)) < len(found):
            raise InputError(f"{where} names a part twice: {', '.join(map(str, entry))}")
        return found

    def _index(self, where: str, part: Any) -> int:
        """By name first, then by file name."""
        names = [other if isinstance(other, str) else other.name for other in self.parts]
        if isinstance(part, int) and not isinstance(part, bool):
            if not 0 <= part < len(names):
                raise InputError(f"{where}: there is no part {part}; parts are numbered 0 to {len(names) - 1}")
            return part
        if not isinstance(part, str):
            raise InputError(f"{where} must name parts by name, file name or number, not by {_sort_of(part)}")
        if part in names:
            return names.index(part)
        files = [_file_name(other) for other in self.parts]
        found = [k for k, file in enumerate(files) if file == Path(part).name]
        found = found or [k for k, name in enumerate(names) if name == Path(part).stem]
        if len(found) == 1:
            return found[0]
        if found:
            raise InputError(f"{where}: several parts come from a file {part!r}; use one of {', '.join(names)}")
        raise InputError(f"{where}: there is no part {part!r}{_hint(part, names)}; there are {_few(names)}")


def _only(where: str, given: Iterable[str], keys: tuple[str, ...]) -> None:
    for key in given:
        if key not in keys:
            raise InputError(f"{where}: unknown key {key!r}{_hint(key, keys)}; known are {', '.join(keys)}")


def _pose(where: str, rows: Any) -> Pose:
    try:
        M = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        M = np.zeros(0)
    if M.shape != (4, 4) or not (np.abs(M) <= LARGEST).all() or not np.allclose(M[3], [0, 0, 0, 1]):
        raise InputError(f"{where}: a pose is 4 rows of 4 numbers up to {LARGEST:g}, the last row 0 0 0 1")
    U, stretch, Vt = np.linalg.svd(M[:3, :3])
    if np.abs(stretch - 1).max() > ROUNDED:
        raise InputError(f"{where}: the pose is not a rotation, it stretches by {stretch[0]:.4g}; give a rigid motion")
    if np.linalg.det(U @ Vt) < 0:
        raise InputError(f"{where}: the pose mirrors the part; give a rigid motion")
    return Pose(U @ Vt, M[:3, 3])


def _file_name(part: str | Part) -> str | None:
    return None if isinstance(part, str) or part.file is None else part.file.name


def _hint(word: str, known: Sequence[str]) -> str:
    close = get_close_matches(str(word), known, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _sort_of(value: Any) -> str:
    return f"a list of {len(value)}" if isinstance(value, list) else type(value).__name__
