"""Work on an assembly that goes on: candidates are found once, decisions change what is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

from cmnet.assembler import Assembler, Kept, Progress, Suggested, silent
from cmnet.assembling.loop import finished, run
from cmnet.assembling.memo import Memo
from cmnet.assembling.passes import plan
from cmnet.assembling.state import State, centres_of
from cmnet.assembling.work import SurfaceWork
from cmnet.errors import InputError
from cmnet.geometry.pose import Pose
from cmnet.matched import breaks_of, judgement_of, with_doubt, with_matches
from cmnet.model.descriptors import Descriptors
from cmnet.model.network import CMNet
from cmnet.model.weights import DEFAULT
from cmnet.pairing.join import Join
from cmnet.pairing.surface.surface import Surface, length_of_area
from cmnet.parts.health import require_parts
from cmnet.parts.load import load_parts
from cmnet.parts.part import Part
from cmnet.parts.points import unit_of_area
from cmnet.reading import expanded
from cmnet.saved import FILE, memo_from_json, memo_to_json, poses_from_json, poses_to_json, read, sound, write
from cmnet.settings import Settings, to_dict, with_changes
from cmnet.solving.assembly import Assembly
from cmnet.solving.constraints import (
    Constraints,
    Known,
    Touch,
    load_constraints,
    of_one_object,
    renamed,
    to_json,
)
from cmnet.solving.terms import terms


class Session:
    """Parts, the candidates between them, and what was decided about these.

        session = cmnet.Session("fragments/")
        session.propose()                      # compares all that has to be compared, and solves
        session.reject(session.assembly.joins[0])
        session.solve()                        # by the candidates that are known: nothing is compared again

    parts       : as `cmnet.assemble` takes them; more can be added
    weights     : the same; assembler : instead of weights and seed, one that is there
    constraints : what is known beforehand; one_object : that all parts belong together
    progress    : called with the stage, how much of it is done, and how much there is
    """

    def __init__(
        self,
        parts: Any = None,
        weights: str | Path | CMNet = DEFAULT,
        *,
        constraints: Known | None = None,
        one_object: bool = False,
        seed: int = 0,
        assembler: Assembler | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.parts: list[Part] = [] if parts is None else load_parts(parts)
        self.assembler = assembler or Assembler(weights, seed=seed)
        if self.assembler.solver != "robust":
            raise InputError("a session needs the robust solver; the published one decides everything at once")
        names = tuple(part.name for part in self.parts)
        self.constraints = Constraints(names) if constraints is None else load_constraints(constraints, self.parts)
        self.one_object, self.progress = one_object, progress or silent
        self._assembly: Assembly | None = None
        self._decided: list[Constraints] = []  # before each decision
        self._areas: tuple[float, float] | None = None  # of the first parts as they came, and without noise
        self._still: list[Part] = []
        self._counts: list[int] = []  # samples that the network gets of each part
        self._described: list[Descriptors] = []
        self._learned: Suggested = {}
        self._kept: Kept = {}
        self._surfaces: dict[str, list[Surface]] = {}
        self._memo = Memo()

    @property
    def assembly(self) -> Assembly:
        """What was solved last."""
        if self._assembly is None:
            raise InputError("nothing is solved yet; call `propose` first")
        return self._assembly

    def propose(self) -> Assembly:
        """Compare all that has to be compared, which takes its time, and solve."""
        return self._solved(looking=True)

    def solve(self) -> Assembly:
        """Solve again by the candidates that are known. Groups that were never compared stay so until `propose`."""
        return self._solved(looking=not self._memo.answers)

    def _solved(self, looking: bool) -> Assembly:
        require_parts(self.parts)
        self._see(looking)
        first, names = self._seen("first"), [part.name for part in self.parts]
        known = of_one_object(names, self.constraints) if self.one_object else self.constraints
        acceptance = self.assembler.settings.acceptance
        state = State(
            self._seen,
            terms(known, centres_of(first), acceptance.agree_shift * first[0].unit),
            self._learned,
            lambda stage, work, items: self.assembler.each(stage, work, items, self.progress),
            acceptance,
            self._memo,
            looking,
        )
        assembly = finished(run(plan(acceptance), state), names)
        if self.assembler.has_network:
            assembly = with_doubt(assembly, self.assembler.net)
        self._assembly = with_matches(assembly, self._kept)
        return self._assembly

    def _see(self, looking: bool) -> None:
        """What the network has to say of parts and pairs that it has not seen. The first parts set all lengths."""
        new, tell = self.parts[len(self._still) :], self.progress
        raw = self._areas[0] if self._areas else sum(part.area for part in new)
        still = self.assembler.still(new, unit_of_area(raw), tell)
        self._areas = self._areas or (raw, sum(part.area for part in still))
        self._still += still
        if not self.assembler.has_network:
            return
        if fresh := self._still[len(self._counts) :]:
            self._counts += self.assembler.shares(fresh, self._areas[1] if self._counts else None)
        k = len(self._described)
        unit = unit_of_area(self._areas[1])
        self._described += self.assembler.described(self._still[k:], self._counts[k:], unit, tell)
        pairs = [pair for pair in combinations(range(len(self.parts)), 2) if pair not in self._learned]
        if looking and pairs:
            self._learned |= self.assembler.suggested(self._described, pairs, tell, self._kept)

    def _seen(self, name: str) -> list[Surface]:
        """The surfaces of all parts at the scale of that name."""
        known = self._surfaces.setdefault(name, [])
        if len(known) < len(self._still):
            assert self._areas
            breaks = {k: b for k, d in enumerate(self._described) if (b := breaks_of(d)) is not None}
            scale, length = getattr(self.assembler.settings, name), length_of_area(self._areas[1])
            judgement = judgement_of(self.assembler.net if self.assembler.has_network else None)
            work = SurfaceWork(dict(enumerate(self._still)), breaks, length, scale, self.assembler.seed, judgement)
            known += self.assembler.each("surfaces", work, range(len(known), len(self._still)), self.progress)
        return known

    def accept(self, join: Join | int) -> None:
        """The two parts belong together in just this pose."""
        touch = self._touch(join)
        others = [known for known in self.constraints.join if known.parts != touch.parts]
        wrong = [known for known in self.constraints.wrong if known.T_i_j is not touch.T_i_j]
        self._decide(replace(self.constraints, join=(*others, touch), wrong=tuple(wrong)))

    def reject(self, join: Join | int) -> None:
        """The two parts do not belong together in this pose, whatever else may be."""
        touch = self._touch(join)
        others = tuple(known for known in self.constraints.join if known.T_i_j is not touch.T_i_j)
        self._decide(replace(self.constraints, join=others, wrong=(*self.constraints.wrong, touch)))

    def lock(self, part: int | str) -> None:
        """The part stays where it is in the assembly."""
        k = self._index(part)
        if not self.assembly.groups or k not in self.assembly.groups[0]:
            raise InputError(f"{self.parts[k].name} has no place in the largest group; lock one of those that have")
        fixed = {**dict(self.constraints.fix), k: Pose.from_matrix(self.assembly.poses[k])}
        self._decide(replace(self.constraints, fix=tuple(fixed.items())))

    def undo(self) -> None:
        """As it was before the last decision, which is one of the above."""
        if not self._decided:
            raise InputError("nothing has been decided since parts last came or went; there is nothing to undo")
        self.constraints = self._decided.pop()

    def add(self, parts: Any) -> None:
        """More parts, in the unit of the first ones. Only pairs with them are compared."""
        more = load_parts(parts)
        taken = {part.name for part in self.parts}
        for part in more:
            if part.name in taken:
                raise InputError(f"there is a part {part.name!r} already; give the new one another name")
        self.parts += more
        self.constraints = replace(self.constraints, names=tuple(part.name for part in self.parts))
        self._decided.clear()

    def remove(self, parts: Sequence[int | str] | int | str) -> None:
        """Without these parts, and without all that was found and decided of them."""
        gone = {self._index(part) for part in ([parts] if isinstance(parts, int | str) else parts)}
        kept = [k for k in range(len(self.parts)) if k not in gone]
        names = {k: n for n, k in enumerate(kept)}
        self.constraints = renamed(self.constraints, names)
        self._memo = self._memo.renamed(names)
        lists: list[list[Any]] = [self.parts, self._still, self._counts, self._described, *self._surfaces.values()]
        for known in lists:
            known[:] = [item for k, item in enumerate(known) if k in names]
        self._learned = {(names[i], names[j]): T for (i, j), T in self._learned.items() if {i, j} <= names.keys()}
        self._kept = {(names[i], names[j]): m for (i, j), m in self._kept.items() if {i, j} <= names.keys()}
        self._decided.clear()
        self._assembly = None

    def save(self, folder: str | Path) -> None:
        """Write the session into a folder, over what was saved there before: see `load`."""
        found = {
            "seed": self.assembler.seed,
            "points": self.assembler.given_points,
            "settings": to_dict(self.assembler.settings),
            "areas": self._areas,
            "counts": self._counts,
            "one_object": self.one_object,
            "constraints": to_json(self.constraints),
            "learned": poses_to_json(self._learned),
            **memo_to_json(self._memo),
        }
        write(expanded(folder), self.parts, self.assembler.weights, found)

    @classmethod
    def load(cls, folder: str | Path, progress: Progress | None = None) -> Session:
        """A session as it was saved. What the network matched, which only pictures show, is not kept."""
        saved, parts = read(folder)
        with sound(expanded(folder) / FILE):
            settings = with_changes(Settings(), saved["settings"])
            assembler = Assembler(saved["weights"], seed=saved["seed"], points=saved["points"], settings=settings)
            session = cls(assembler=assembler, progress=progress, one_object=bool(saved["one_object"]))
            session.parts, session.constraints = parts, load_constraints(saved["constraints"], parts)
            session._areas, session._counts = saved["areas"] and tuple(saved["areas"]), list(saved["counts"])
            session._learned, session._memo = poses_from_json(saved["learned"]), memo_from_json(saved)
        return session

    def _decide(self, constraints: Constraints) -> None:
        self._decided.append(self.constraints)
        self.constraints = constraints

    def _touch(self, join: Join | int) -> Touch:
        """What a join of the assembly, or that of this number, says, with the smaller index first."""
        number = join if isinstance(join, int) else join.number
        found = next((candidate for candidate in self.assembly.joins if candidate.number == number), None)
        if found is None:
            raise InputError(f"no join has the number {number}; give one of `session.assembly.joins`, or its number")
        i, j = found.parts
        return Touch((i, j), found.T_i_j) if i < j else Touch((j, i), found.T_i_j.inverse())

    def _index(self, part: int | str) -> int:
        names = [known.name for known in self.parts]
        if part in names:
            return names.index(str(part))
        if isinstance(part, int) and not isinstance(part, bool) and 0 <= part < len(names):
            return part
        raise InputError(f"there is no part {part!r}; there are {', '.join(names)}")
