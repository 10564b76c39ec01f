"""The corridor on one screen: parts → points → descriptors → matches; parts → surfaces → joins → assembly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import torch

from cmnet.errors import InputError
from cmnet.geometry.pose import Pose
from cmnet.model.descriptors import Descriptors
from cmnet.model.network import CMNet, Matches
from cmnet.pairing.joins import Join, joins
from cmnet.pairing.surface import Surface, prepare, unit_of
from cmnet.parts.health import require_parts
from cmnet.parts.load import load_parts
from cmnet.parts.part import Part
from cmnet.parts.points import Points, sample_parts, unit_length
from cmnet.solving.assembly import Assembly
from cmnet.solving.robust import solve

NO_WEIGHTS = "none"
Progress = Callable[[str, int, int], None]  # (stage, done, in all)


def assemble(parts: Any, seed: int = 0, progress: Progress | None = None) -> Assembly:
    """Put parts together by geometry alone: break edges that close, surfaces that meet, nothing inside anything else.

    parts    : a folder, file paths, trimesh objects, (n, 3) arrays or Parts, each in any pose, all in one unit
    progress : called with the stage, how much of it is done, and how much there is
    """
    return Assembler(NO_WEIGHTS, seed=seed).assemble(parts, progress)


class Assembler:
    """Describes parts and matches them, two at a time; puts any number of them together by geometry.

    weights : path of a safetensors file, a CMNet, or "none" (geometry only: `assemble` works, descriptions do not)
    points  : total over all parts, split by area; None: what the weights were trained with
    device  : where the network runs; None: where it is
    """

    def __init__(
        self,
        weights: str | Path | CMNet,
        points: int | None = None,
        device: str | torch.device | None = None,
        seed: int = 0,
    ) -> None:
        self._net: CMNet | None = None
        if isinstance(weights, CMNet):
            self._net = weights
        elif weights != NO_WEIGHTS:
            self._net = CMNet.from_pretrained(weights)
        if self._net is not None and device is not None:
            self._net = self._net.to(device)
        self._points = points
        self.seed = seed

    @property
    def net(self) -> CMNet:
        if self._net is None:
            raise InputError("this needs a network, but the weights are 'none'; give a .safetensors file")
        return self._net

    @property
    def points(self) -> int:
        return self.net.config.points if self._points is None else self._points

    def assemble(self, parts: Any, progress: Progress | None = None) -> Assembly:
        """Put the parts together by geometry: a folder, file paths, trimesh objects, (n, 3) arrays or Parts."""
        tell = progress or (lambda stage, done, total: None)
        loaded = load_parts(parts)
        require_parts(loaded)
        surfaces = self._surfaces(loaded, tell)
        return solve(surfaces, self._joins(surfaces, tell))

    def _surfaces(self, parts: Sequence[Part], tell: Progress) -> list[Surface]:
        unit, surfaces = unit_of(parts), []
        for k, part in enumerate(parts):
            tell("surfaces", k, len(parts))
            surfaces.append(prepare(part, unit, self.seed))
        return surfaces

    def _joins(self, surfaces: Sequence[Surface], tell: Progress) -> list[Join]:
        pairs, found = list(combinations(range(len(surfaces)), 2)), []
        for k, (i, j) in enumerate(pairs):
            tell("joins", k, len(pairs))
            found += joins(surfaces[i], surfaces[j], (i, j))
        return found

    def describe(self, parts: Sequence[Part]) -> list[Descriptors]:
        """One description per part, computed once per part. The parts share one scale, derived from them alone."""
        if not parts:
            raise InputError("there are no parts to describe; give at least one")
        sampled = sample_parts(parts, self.points, self.seed, self.net.config.min_points)
        unit = unit_length(sampled) if self.net.config.scale == "area" else 1.0
        return [self.describe_points(points, unit) for points in sampled]

    @torch.inference_mode()
    def describe_points(self, points: Points, unit: float) -> Descriptors:
        """The description of one part that is already sampled."""
        xyz, normals = (torch.from_numpy(array).to(self.net.device) for array in (points.xyz, points.normals))
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
