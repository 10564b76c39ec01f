"""CMNet: describe a part, compare two (paper §3.2). Reads in the paper's order: (a), (b), (c), (d)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from cmnet.errors import InputError
from cmnet.geometry.pose import Pose
from cmnet.geometry.procrustes import robust_procrustes
from cmnet.judgement import Judgement
from cmnet.model.backbone import Backbone
from cmnet.model.config import CMNetConfig, preset
from cmnet.model.descriptors import BreakHead, ChannelAttention, Descriptors, Head, gram_schmidt
from cmnet.model.transport import log_transport

LEAST_BREAK = 1e-4  # probability of a break below which a point is no less a match


@dataclass(frozen=True)
class Comparison:
    """Two parts P and Q side by side: attended descriptors and the soft assignment between them.

    shape_p, occupancy_p : (n, d) float; shape_q, occupancy_q : (m, d) float
    log_assignment       : (n + 1, m + 1) float, the last row and column are the dustbins
    attention            : (d,) float each, the weights of the channels of shape and of occupancy
    """

    shape_p: Tensor
    shape_q: Tensor
    occupancy_p: Tensor
    occupancy_q: Tensor
    log_assignment: Tensor
    attention: tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Matches:
    """The strongest soft matches of two parts, strongest first.

    indices        : (k, 2) int, a point of the first part and one of the second
    weights        : (k,) float in (0, 1]
    log_assignment : (n + 1, m + 1) float
    attention      : (d,) float each, as of the comparison
    """

    indices: Tensor
    weights: Tensor
    log_assignment: Tensor
    attention: tuple[Tensor, Tensor]

    @property
    def mass(self) -> float:
        """Σ exp(Z) over all pairs of points, kept or not; the dustbins are left out."""
        return float(self.log_assignment[:-1, :-1].exp().sum(dtype=torch.float64))


class CMNet(nn.Module):
    """Combinative matching: equal shape, opposite occupancy, in learned local frames.

    `describe` sees one part, `compare`, `match` and `pose` two. Devices and dtypes are those of the inputs.
    """

    def __init__(self, config: CMNetConfig) -> None:
        super().__init__()
        self.config = config
        inputs = 3 * config.features
        self.backbone = Backbone(config)
        self.orientation = nn.Linear(*((config.features, 2) if config.equivariant else (inputs, 6)), bias=False)
        self.shape_head = Head(inputs, config.descriptor, "leaky") if config.shape_branch else None
        self.occupancy_head = Head(inputs, config.descriptor, "tanh") if config.occupancy_branch else None
        self.attention = ChannelAttention(inputs, config.attention, config.descriptor)
        self.break_head = BreakHead(inputs, config.attention) if config.break_head else None
        self.dustbin = nn.Parameter(torch.tensor(1.0))
        self.judgement: Judgement | None = None  # fitted with these weights, and stored with them

    @classmethod
    def from_preset(cls, name: str = "cmnet-base", **overrides: Any) -> CMNet:
        """An untrained network; any field of its config can be overridden."""
        return cls(preset(name, **overrides))

    @classmethod
    def from_pretrained(cls, name_or_path: str | Path) -> CMNet:
        """Trained weights, by the name of shipped ones or the path of a safetensors file. Strict."""
        from cmnet.model.weights import load_network

        return load_network(name_or_path)

    def save(self, path: str | Path, half: bool = False, **notes: Any) -> None:
        """Write weights, config and judgement as one safetensors file; notes (JSON values) are kept beside them."""
        from cmnet.model.weights import save_network

        save_network(self, path, notes, half)

    def on(self, device: str | torch.device) -> CMNet:
        """The network itself, moved to a device; an InputError where there is no such device."""
        try:
            return self.to(device)
        except (RuntimeError, AssertionError) as error:  # the first where a device is unknown, the second without CUDA
            reason = str(error).splitlines()[0]
            raise InputError(f"the network cannot run on {str(device)!r} ({reason}); leave the device out") from error

    @property
    def dtype(self) -> torch.dtype:
        return self.dustbin.dtype

    @property
    def device(self) -> torch.device:
        return self.dustbin.device

    def describe(self, points: Tensor, normals: Tensor, unit: float = 1.0) -> Descriptors:
        """(a) features and frames, (b) shape and (c) occupancy descriptors of one part.

        points, normals : (n, 3) float in given coordinates; unit : length of a network unit in them
        """
        # Centred before it is rounded: scans may lie far from their origin.
        xyz = ((points - points.mean(0)) / unit).to(self.device, self.dtype)
        features = self.backbone(xyz, normals.to(self.device, self.dtype) if self.config.normals else None)
        frames, invariant = self._orient(features)
        none = invariant.new_zeros(len(invariant), self.config.descriptor)
        return Descriptors(
            points=points,
            normals=normals,
            frames=frames,
            shape=none if self.shape_head is None else self.shape_head(invariant),
            occupancy=none if self.occupancy_head is None else self.occupancy_head(invariant),
            mean=invariant.mean(0),
            maximum=invariant.amax(0),
            unit=unit,
            breaking=None if self.break_head is None else self.break_head(invariant),
        )

    def _orient(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Frames F_d (n, 3, 3) and invariant features F_inv = F_d · F_eqv (n, 3D)."""
        if not self.config.equivariant:
            plain = features.squeeze(1)
            return gram_schmidt(self.orientation(plain).view(-1, 2, 3)), plain
        frames = gram_schmidt(self.orientation(features).transpose(1, 2))
        return frames, (frames @ features).flatten(1)

    def compare(self, p: Descriptors, q: Descriptors) -> Comparison:
        """(d) attention, combinative cost C = (F_s F_sᵀ − F_o F_oᵀ) / Z, transport."""
        attention = weigh_shape, weigh_occupancy = self.attention(p, q)
        shape_p, shape_q = p.shape * weigh_shape, q.shape * weigh_shape
        occupancy_p, occupancy_q = p.occupancy * weigh_occupancy, q.occupancy * weigh_occupancy
        left, right = torch.cat([shape_p, -occupancy_p], 1), torch.cat([shape_q, occupancy_q], 1)
        cost = (left / self.config.descriptor**0.5) @ right.T  # Eq. 4
        if self.config.break_gate:
            cost = cost + log_gate(p)[:, None] + log_gate(q)
        assignment = log_transport(cost, self.dustbin, self.config.transport_rounds)
        return Comparison(shape_p, shape_q, occupancy_p, occupancy_q, assignment, attention)

    def match(self, p: Descriptors, q: Descriptors) -> Matches:
        """The top-k soft matches."""
        compared = self.compare(p, q)
        indices, log_weights = top_entries(compared.log_assignment[:-1, :-1], self.config.top_k)
        return Matches(indices, log_weights.exp(), compared.log_assignment, compared.attention)

    def pose(self, p: Descriptors, q: Descriptors, matches: Matches | None = None) -> Pose:
        """T_q_p in given coordinates: weighted SVD of the matches with inlier rounds (Eq. 5)."""
        matches = self.match(p, q) if matches is None else matches
        i, j = matches.indices.cpu().unbind(1)
        source, target = p.points.cpu().double()[i].numpy(), q.points.cpu().double()[j].numpy()
        weights = matches.weights.detach().cpu().double().numpy()
        radius = self.config.inlier_radius * p.unit
        return robust_procrustes(source, target, weights, radius, self.config.inlier_rounds)


def log_gate(p: Descriptors) -> Tensor:
    """(n,) float ≤ 0: how far a point may match at all. The break head learns from its own labels alone."""
    assert p.breaking is not None
    return p.breaking.detach().clamp(min=LEAST_BREAK).log()


def top_entries(matrix: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k largest entries, largest first. matrix : (n, m) → indices (k, 2) int, values (k,); fewer where n·m < k"""
    n, m = matrix.shape
    # The k largest entries lie in the k rows with the largest maxima: sort those alone.
    rows = matrix.amax(1).topk(min(k, n)).indices.sort().values
    values, flat = matrix[rows].flatten().topk(min(k, n * m, len(rows) * m))
    return torch.stack([rows[flat // m], flat % m], dim=1), values
