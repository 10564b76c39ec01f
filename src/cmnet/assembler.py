"""The corridor on one screen: parts → points → descriptors → matches → poses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from cmnet.errors import InputError
from cmnet.geometry.pose import Pose
from cmnet.model.descriptors import Descriptors
from cmnet.model.network import CMNet, Matches
from cmnet.parts.part import Part
from cmnet.parts.points import Points, sample_parts, unit_length


class Assembler:
    """Describes parts and matches them, two at a time.

    weights : path of a safetensors file, or a CMNet
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
        self.net = weights if isinstance(weights, CMNet) else CMNet.from_pretrained(weights)
        if device is not None:
            self.net = self.net.to(device)
        self.points = self.net.config.points if points is None else points
        self.seed = seed

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
