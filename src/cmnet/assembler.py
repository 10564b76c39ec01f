"""The corridor on one screen: parts → points → descriptors → matches; parts → surfaces → joins → assembly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import torch

from cmnet.assembling.loop import finished, run
from cmnet.assembling.passes import plan
from cmnet.assembling.state import SHIFT, State, centres_of
from cmnet.errors import InputError
from cmnet.geometry.focus import focused
from cmnet.geometry.pose import Pose
from cmnet.matched import PairMatches, breaks_of, correspondences, scored, with_matches
from cmnet.model.descriptors import Descriptors
from cmnet.model.network import CMNet, Matches
from cmnet.model.weights import DEFAULT, NO_WEIGHTS
from cmnet.pairing.propose.matches import poses_from_matches
from cmnet.pairing.surface.breaks import Breaks
from cmnet.pairing.surface.surface import Surface, prepare, unit_of
from cmnet.parts.health import require_parts
from cmnet.parts.load import load_parts
from cmnet.parts.part import Part
from cmnet.parts.points import Points, sample_parts, unit_length, without_noise
from cmnet.processes import cores, forked
from cmnet.settings import COARSE, FINE, FIRST, Scale
from cmnet.solving.assembly import Assembly
from cmnet.solving.constraints import Constraints, Known, load_constraints, of_one_object
from cmnet.solving.paper import solve_paper
from cmnet.solving.shonan import Edge
from cmnet.solving.terms import terms

SOLVERS = ("robust", "paper")
SUGGESTED = 6  # poses of a pair that the network suggests, or the coarse surfaces
Progress = Callable[[str, int, int], None]  # (stage, done, in all)
Pair = tuple[int, int]
Suggested = dict[Pair, list[Pose]]
Kept = dict[Pair, PairMatches]


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
    """

    def __init__(
        self,
        weights: str | Path | CMNet = DEFAULT,
        solver: str = "robust",
        points: int | None = None,
        device: str | torch.device | None = None,
        seed: int = 0,
        workers: int | None = None,
    ) -> None:
        self._net: CMNet | None = None
        if isinstance(weights, CMNet):
            self._net = weights
        elif weights != NO_WEIGHTS:
            self._net = CMNet.from_pretrained(weights)
        if self._net is not None and device is not None:
            self._net = self._net.on(device)
        if solver not in SOLVERS:
            raise InputError(f"no solver is called {solver!r}; choose one of {', '.join(SOLVERS)}")
        if not isinstance(seed, int | np.integer) or seed < 0:
            raise InputError(f"a seed is a whole number of at least 0, not {seed!r}")
        if self._net is None and solver == "paper":
            raise InputError("the published solver and matches need a network; give weights, or use the robust solver")
        self._points, self.solver, self.seed = points, solver, seed
        self.workers = cores() if workers is None else workers

    @property
    def net(self) -> CMNet:
        if self._net is None:
            raise InputError("this needs a network, but the weights are 'none'; give a .safetensors file")
        return self._net

    @property
    def points(self) -> int:
        return self.net.config.points if self._points is None else self._points

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
        tell = progress or (lambda stage, done, total: None)
        known = self._known(constraints, one_object, loaded)
        if any(part.faces is None for part in loaded):
            unit = unit_length(loaded)
            loaded = self._each("clouds", lambda k: without_noise(loaded[k], unit), len(loaded), tell)
        pairs = list(combinations(range(len(loaded)), 2))
        kept: Kept = {}
        described = self._described(loaded, tell) if self._net else []
        if self.solver == "paper":
            edges = self._published_edges(described, pairs, tell, kept)
            return with_matches(solve_paper(edges, [part.area for part in loaded]), kept)
        learned = self._suggestions(described, pairs, tell, kept) if described else {}
        breaks = [breaks_of(d) for d in described] or [None] * len(loaded)
        scales = {"first": FIRST, "coarse": COARSE, "fine": FINE}
        surfaces = cache(lambda name: self._surfaces(loaded, scales[name], tell, breaks))
        unit, centres = surfaces("first")[0].unit, centres_of(surfaces("first"))
        state = State(
            surfaces,
            terms(known, centres, SHIFT * unit),
            learned,
            each=lambda stage, work, items: self._each(stage, work, items, tell),
        )
        assembly = finished(run(plan(), state), [part.name for part in loaded])
        return with_matches(assembly, kept)

    def _known(self, constraints: Known | None, one_object: bool, parts: Sequence[Part]) -> Constraints | None:
        if self.solver == "paper" and constraints is not None:
            raise InputError("the published solver knows no constraints; leave them out, or use the robust one")
        if self.solver == "paper" and one_object:
            raise InputError("the published solver always takes all parts for one object; there is no need to say so")
        known = None if constraints is None else load_constraints(constraints, parts)
        return of_one_object([part.name for part in parts], known) if one_object else known

    def _surfaces(
        self, parts: Sequence[Part], look: Scale, tell: Progress, breaks: Sequence[Breaks | None]
    ) -> list[Surface]:
        unit = unit_of(parts)
        return self._each("surfaces", lambda k: prepare(parts[k], unit, look, self.seed, breaks[k]), len(parts), tell)

    def _each(self, stage: str, work: Callable[[int], Any], count: int, tell: Progress) -> list[Any]:
        """What `work` makes of 0 … count − 1, on all cores."""
        results: dict[int, Any] = {}
        for k, result in forked(work, range(count), self.workers):
            results[k] = result
            tell(stage, len(results), count)
        return [results[k] for k in range(count)]

    def suggestions(self, described: Sequence[Descriptors], pairs: Sequence[Pair]) -> Suggested:
        """T_i_j of the pairs of described parts, as the matches of the network suggest it, the likeliest first."""
        return self._suggestions(described, pairs, lambda stage, done, total: None, {})

    def _suggestions(
        self, described: Sequence[Descriptors], pairs: Sequence[Pair], tell: Progress, kept: Kept
    ) -> Suggested:
        """T_i_j of every pair, as the matches of the network suggest it."""
        return {
            pair: poses_from_matches(correspondences(d_j, d_i, matches), SUGGESTED)
            for pair, d_j, d_i, matches in self._matched(described, pairs, tell, kept)
        }

    def _published_edges(
        self, described: Sequence[Descriptors], pairs: Sequence[Pair], tell: Progress, kept: Kept
    ) -> list[Edge]:
        """One a pair: the weighted SVD of its matches, and their mass."""
        return [
            Edge(*pair, self.net.pose(d_j, d_i, matches), float(matches.weights.sum()))
            for pair, d_j, d_i, matches in self._matched(described, pairs, tell, kept)
        ]

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
        sampled, unit = self._sampled(parts)
        described = []
        for points in sampled:
            described.append(self.describe_points(points, unit))
            tell("descriptors", len(described), len(parts))
        return described

    def describe(self, parts: Sequence[Part]) -> list[Descriptors]:
        """One description per part, computed once per part. The parts share one scale, derived from them alone."""
        if not parts:
            raise InputError("there are no parts to describe; give at least one")
        return self._described(parts, lambda stage, done, total: None)

    def _sampled(self, parts: Sequence[Part]) -> tuple[list[Points], float]:
        config = self.net.config
        sampled = sample_parts(parts, config.samples(self.points), self.seed, config.min_points)
        return sampled, unit_length(sampled) if config.scale == "area" else 1.0

    @torch.inference_mode()
    def describe_points(self, points: Points, unit: float) -> Descriptors:
        """The description of one part that is already sampled."""
        config = self.net.config
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
        unit = unit if self.net.config.scale == "area" else 1.0
        return self.net.pose(self.describe_points(points_p, unit), self.describe_points(points_q, unit))
