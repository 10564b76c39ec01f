"""The network on parts: parts → points → descriptors → matches. A `Session` makes an assembly of what it suggests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import torch

from cmnet.assembling.work import WithoutNoise
from cmnet.errors import InputError
from cmnet.geometry.focus import focused
from cmnet.geometry.pose import Pose
from cmnet.geometry.sampling import allocate, allocate_as_published
from cmnet.matched import PairMatches, correspondences, scored, with_matches
from cmnet.model.descriptors import Descriptors
from cmnet.model.network import CMNet, Matches
from cmnet.model.weights import DEFAULT, NO_WEIGHTS
from cmnet.pairing.propose.matches import poses_from_matches
from cmnet.parts.health import require_parts
from cmnet.parts.load import load_parts
from cmnet.parts.part import Part
from cmnet.parts.points import Points, sample_part, unit_length
from cmnet.processes import Executor, cores, each
from cmnet.settings import Settings
from cmnet.solving.assembly import Assembly
from cmnet.solving.constraints import Constraints, Known, load_constraints, of_one_object
from cmnet.solving.paper import solve_paper
from cmnet.solving.shonan import Edge

SOLVERS = ("robust", "paper")
SUGGESTED = 6  # poses of a pair that the network suggests, or the coarse surfaces
Progress = Callable[[str, int, int], None]  # (stage, done, in all)
Pair = tuple[int, int]
Suggested = dict[Pair, list[Pose]]
Kept = dict[Pair, PairMatches]


def silent(stage: str, done: int, total: int) -> None:
    """Progress that nobody wants to see."""


def assemble(
    parts: Any,
    *,
    weights: str | Path | CMNet = DEFAULT,
    solver: str = "robust",
    constraints: Known | None = None,
    one_object: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
) -> Assembly:
    """Put parts together: surfaces that meet, break edges that close, nothing inside anything else.

    parts       : a folder, file paths, trimesh objects, (n, 3) arrays or Parts, each in any pose, all in one unit
    weights     : a name or a path, a CMNet, or "none": the surfaces alone
    constraints : what is known beforehand, as Constraints, as a JSON file, or as a mapping laid out like one
    one_object  : all parts are of one object, so that a part goes where it most likely belongs, however unsure
    progress    : called with the stage, how much of it is done, and how much there is
    """
    return Assembler(weights, solver, seed=seed).assemble(parts, progress, constraints, one_object)


class Assembler:
    """Describes parts, matches them two at a time, and puts any number of them together.

    weights : name of shipped ones, path of a safetensors file, a CMNet, or "none": geometry only, which is enough to
              `assemble`, but not to `describe`
    solver  : "robust" uses all joins that the surfaces bear out; "paper" is the published one, by the network alone
    points  : total over all parts, split by area; None: what the weights were trained with
    device  : where the network runs; None: where it is
    workers : processes that share the work on surfaces; None: one for each core
    executor : takes that work instead: anything with the `submit` of `concurrent.futures`; None: those processes
    settings : how closely parts are looked at, and what is enough
    """

    def __init__(
        self,
        weights: str | Path | CMNet = DEFAULT,
        solver: str = "robust",
        points: int | None = None,
        device: str | torch.device | None = None,
        seed: int = 0,
        workers: int | None = None,
        executor: Executor | None = None,
        settings: Settings = Settings(),
    ) -> None:
        self._net: CMNet | None = None
        if isinstance(weights, CMNet):
            self._net = weights
        elif weights != NO_WEIGHTS:
            self._net = CMNet.from_pretrained(weights)
        self.weights = weights
        if self._net is not None and device is not None:
            self._net = self._net.on(device)
        if solver not in SOLVERS:
            raise InputError(f"no solver is called {solver!r}; choose one of {', '.join(SOLVERS)}")
        if solver == "paper" and settings != Settings():
            raise InputError("the published solver knows no settings; leave them out, or use the robust one")
        if not isinstance(seed, int | np.integer) or seed < 0:
            raise InputError(f"a seed is a whole number of at least 0, not {seed!r}")
        if self._net is None and solver == "paper":
            raise InputError("the published solver and matches need a network; give weights, or use the robust solver")
        self.given_points, self.solver, self.seed = points, solver, seed
        self.workers, self.executor, self.settings = cores() if workers is None else workers, executor, settings

    @property
    def has_network(self) -> bool:
        return self._net is not None

    @property
    def net(self) -> CMNet:
        if self._net is None:
            raise InputError("this needs a network, but the weights are 'none'; give a .safetensors file")
        return self._net

    @property
    def points(self) -> int:
        return self.net.config.points if self.given_points is None else self.given_points

    def assemble(
        self,
        parts: Any,
        progress: Progress | None = None,
        constraints: Known | None = None,
        one_object: bool = False,
    ) -> Assembly:
        """Put the parts together: a folder, file paths, trimesh objects, (n, 3) arrays or Parts."""
        loaded = load_parts(parts)
        require_parts(loaded)
        return self.assemble_loaded(loaded, progress, constraints, one_object)

    def assemble_loaded(
        self,
        loaded: Sequence[Part],
        progress: Progress | None = None,
        constraints: Known | None = None,
        one_object: bool = False,
    ) -> Assembly:
        """`assemble` of two parts or more as `load_parts` returns them, which are not checked once more."""
        known = self._known(constraints, one_object, loaded)
        if self.solver == "paper":
            return self._published(loaded, progress or silent)
        from cmnet.session import Session

        return Session(loaded, constraints=known, assembler=self, progress=progress).propose()

    def _published(self, parts: Sequence[Part], tell: Progress) -> Assembly:
        """By the published solver: one edge a pair, the weighted SVD of its matches, and the mass of all of them."""
        parts, kept = self.still(parts, unit_length(parts), tell), Kept()
        described, pairs = self._described(parts, tell), list(combinations(range(len(parts)), 2))
        edges = [
            Edge(*pair, self.net.pose(d_j, d_i, matches), matches.mass)
            for pair, d_j, d_i, matches in self._matched(described, pairs, tell, kept)
        ]
        return with_matches(solve_paper(edges, [part.area for part in parts]), kept)

    def _known(self, constraints: Known | None, one_object: bool, parts: Sequence[Part]) -> Constraints | None:
        if self.solver == "paper" and constraints is not None:
            raise InputError("the published solver knows no constraints; leave them out, or use the robust one")
        if self.solver == "paper" and one_object:
            raise InputError("the published solver always takes all parts for one object; there is no need to say so")
        known = None if constraints is None else load_constraints(constraints, parts)
        return of_one_object([part.name for part in parts], known) if one_object else known

    def still(self, parts: Sequence[Part], unit: float, tell: Progress) -> list[Part]:
        """The parts; clouds with their noise averaged away. unit : length of one network unit"""
        if all(part.faces is not None for part in parts):
            return list(parts)
        return self.each("clouds", WithoutNoise(dict(enumerate(parts)), unit), range(len(parts)), tell)

    def each(self, stage: str, work: Callable[[Any], Any], items: Sequence[Any], tell: Progress) -> list[Any]:
        """What `work` makes of the items, in their order: on all cores, or wherever the executor takes it."""
        results: dict[Any, Any] = {}
        for item, result in each(work, items, self.workers, self.executor):
            results[item] = result
            tell(stage, len(results), len(items))
        return [results[item] for item in items]

    def suggestions(self, described: Sequence[Descriptors], pairs: Sequence[Pair]) -> Suggested:
        """T_i_j of the pairs of described parts, as the matches of the network suggest it, the likeliest first."""
        return self.suggested(described, pairs, silent, Kept())

    def suggested(
        self, described: Sequence[Descriptors], pairs: Sequence[Pair], tell: Progress, kept: Kept
    ) -> Suggested:
        """The same; what the network matched is `kept`."""
        return {
            pair: poses_from_matches(correspondences(d_j, d_i, matches), SUGGESTED, self.settings.matching)
            for pair, d_j, d_i, matches in self._matched(described, pairs, tell, kept)
        }

    def _matched(
        self, described: Sequence[Descriptors], pairs: Sequence[Pair], tell: Progress, kept: Kept
    ) -> Iterator[tuple[Pair, Descriptors, Descriptors, Matches]]:
        """Every pair (i, j), the descriptions of j and i, and their matches; to be seen later, these are `kept`."""
        for k, (i, j) in enumerate(pairs):
            matches = self.match(described[j], described[i])
            with torch.inference_mode():
                kept[i, j] = scored(self.net, described[j], described[i], matches, len(pairs)).turned()
            yield (i, j), described[j], described[i], matches
            tell("matches", k + 1, len(pairs))

    def _described(self, parts: Sequence[Part], tell: Progress) -> list[Descriptors]:
        return self.described(parts, self.shares(parts), unit_length(parts), tell)

    def described(self, parts: Sequence[Part], counts: Sequence[int], unit: float, tell: Progress) -> list[Descriptors]:
        """One description per part, of so many samples each. unit : length of one network unit"""
        described: list[Descriptors] = []
        for part, count in zip(parts, counts, strict=True):
            described.append(self.describe_points(sample_part(part, count, self.seed), unit))
            tell("descriptors", len(described), len(parts))
        return described

    def shares(self, parts: Sequence[Part], area: float | None = None) -> list[int]:
        """How many samples the network gets of each part, by its area; area : of all, if these are but some."""
        config, areas = self.net.config, np.array([part.area for part in parts])
        total = config.samples(self.points)
        if area is not None:
            total = round(total * float(areas.sum()) / area)
        split = allocate_as_published if self.solver == "paper" else allocate
        return [int(n) for n in split(areas, total, config.min_points)]

    def describe(self, parts: Sequence[Part]) -> list[Descriptors]:
        """One description per part, computed once per part. The parts share one scale, derived from them alone."""
        if not parts:
            raise InputError("there are no parts to describe; give at least one")
        return self._described(parts, silent)

    @torch.inference_mode()
    def describe_points(self, points: Points, unit: float) -> Descriptors:
        """The description of one part that is already sampled."""
        config = self.net.config
        unit = unit if config.scale == "area" else 1.0
        seen = focused(points.xyz, points.normals, config.seen(len(points)), config.focus)
        xyz, normals = (torch.from_numpy(array[seen]).to(self.net.device) for array in (points.xyz, points.normals))
        return self.net.describe(xyz, normals, unit)

    @torch.inference_mode()
    def match(self, d_a: Descriptors, d_b: Descriptors) -> Matches:
        """The strongest soft matches of two described parts."""
        return self.net.match(d_a, d_b)

    @torch.inference_mode()
    def pose(self, points_p: Points, points_q: Points, unit: float) -> Pose:
        """T_q_p of two sampled parts, by the paper's weighted SVD."""
        return self.net.pose(self.describe_points(points_p, unit), self.describe_points(points_q, unit))
