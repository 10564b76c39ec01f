"""The training objectives (paper §3.1, supplement B.5). Each is a function of tensors; `combinative_loss` is their sum.

A pair of parts without a single positive match is an ordinary pair here: the first three losses are zero for it, and
the matching loss asks for everything to go to the dustbins.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy, normalize, softplus

from cmnet.model.config import CMNetConfig
from cmnet.model.descriptors import Descriptors
from cmnet.model.network import Comparison


@dataclass(frozen=True)
class Losses:
    """Scalars; `total` is the weighted sum that is trained on."""

    total: Tensor
    orientation: Tensor
    shape: Tensor
    occupancy: Tensor
    matching: Tensor
    breaking: Tensor


def orientation_loss(frames_p: Tensor, frames_q: Tensor, R_q_p: Tensor) -> Tensor:
    """Eq. 1: mean ‖F_p R_q_pᵀ − F_q‖_F over matching points. frames : (k, 3, 3), R_q_p : (3, 3) → ()"""
    if len(frames_p) == 0:
        return frames_p.new_zeros(())
    difference = frames_p @ R_q_p.T - frames_q
    return ((difference * difference).sum((1, 2)) + 1e-12).sqrt().mean()


def shape_affinity(p: Tensor, q: Tensor) -> Tensor:
    """Distance of the normalised descriptors, in [0, 2]. (k, d), (l, d) → (k, l)"""
    return _distances(normalize(p, dim=1), normalize(q, dim=1))


def occupancy_affinity(p: Tensor, q: Tensor, kind: str = "cosine") -> Tensor:
    """How alike two occupancies are, in [0, 2]: 0 where they are opposite. (k, d), (l, d) → (k, l)

    cosine: ‖p̂ + q̂‖ = sqrt(2 + 2 cos).  l2: 2 − ‖p̂ − q̂‖, the ablation of Table 3a with the same aim.
    """
    p, q = normalize(p, dim=1), normalize(q, dim=1)
    return _distances(p, -q) if kind == "cosine" else 2 - _distances(p, q)


def _distances(p: Tensor, q: Tensor) -> Tensor:
    """Of unit vectors, differentiable where they coincide."""
    return (2 - 2 * p @ q.T).clamp(min=1e-8).sqrt()


def circle_loss(
    affinity: Tensor,
    positive: Tensor,
    negative: Tensor,
    positive_margin: float = 0.1,
    negative_margin: float = 1.4,
    scale: float = 24.0,
) -> Tensor:
    """Eqs. 2 and 3: positives below one margin, negatives above the other; mean of rows and columns.

    affinity : (k, l) float, small for a match; positive, negative : (k, l) bool → ()
    """
    if not positive.any():
        return affinity.new_zeros(())
    pull, push = affinity - positive_margin, negative_margin - affinity
    pulls = (scale * pull.detach().clamp(min=0) * pull).masked_fill(~positive, -torch.inf)
    pushes = (scale * push.detach().clamp(min=0) * push).masked_fill(~negative, -torch.inf)
    rows, columns = (
        softplus(_log_sum(pulls, axis, positive) + _log_sum(pushes, axis, negative))[positive.any(axis)].mean()
        for axis in (1, 0)
    )
    return (rows + columns) / (2 * scale)


def _log_sum(x: Tensor, axis: int, mask: Tensor) -> Tensor:
    """log Σ exp over the masked entries; where there are none, very small but with a finite gradient."""
    empty = ~mask.any(axis, keepdim=True)
    return torch.logsumexp(x.masked_fill(empty, -1e4), axis)


def matching_loss(log_assignment: Tensor, matches: Tensor) -> Tensor:
    """Mean negative log-likelihood of all true matches, and of the dustbin for every point without one.

    log_assignment : (n + 1, m + 1) float, matches : (k, 2) int → ()
    """
    n, m = log_assignment.shape[0] - 1, log_assignment.shape[1] - 1
    i, j = matches.unbind(1)
    alone_p, alone_q = matches.new_ones(n, dtype=torch.bool), matches.new_ones(m, dtype=torch.bool)
    alone_p[i] = False
    alone_q[j] = False
    terms = [log_assignment[i, j], log_assignment[:-1, -1][alone_p], log_assignment[-1, :-1][alone_q]]
    return -torch.cat(terms).mean()


def break_loss(p: Descriptors, breaking: Tensor) -> Tensor:
    """Mean cross-entropy of the break head of one part; zero without one. breaking : (n,) bool, the truth → ()"""
    if p.breaking is None:
        return p.shape.new_zeros(())
    return binary_cross_entropy(p.breaking, breaking.to(p.breaking))


def combinative_loss(
    p: Descriptors,
    q: Descriptors,
    comparison: Comparison,
    matches: Tensor,
    T_q_p: Tensor,
    config: CMNetConfig,
    generator: torch.Generator,
    breaking: Tensor | None = None,
) -> Losses:
    """The weighted sum of §3.2 (e) for one pair.

    matches : (k, 2) int, all positive correspondences; T_q_p : (4, 4) float, the true pose;
    generator : draws the correspondences of the circle losses; breaking : () float, the parts' mean break loss
    """
    R_q_p, t_q_p = T_q_p[:3, :3], T_q_p[:3, 3]
    drawn = matches[torch.randperm(len(matches), generator=generator)[: config.max_positives].to(matches.device)]
    i, j = drawn.unbind(1)
    gap = torch.cdist(p.points[i] @ R_q_p.T + t_q_p, q.points[j]) / p.unit
    m = len(q.points)
    positive = torch.isin(i[:, None] * m + j, matches[:, 0] * m + matches[:, 1])
    negative = gap > config.radii()[1]

    def circle(affinity: Tensor) -> Tensor:
        margins = (config.positive_margin, config.negative_margin, config.circle_scale)
        return circle_loss(affinity, positive, negative, *margins)

    zero = comparison.log_assignment.new_zeros(())
    shape, occupancy, orientation = zero, zero, zero
    if config.shape_branch:
        shape = circle(shape_affinity(comparison.shape_p[i], comparison.shape_q[j]))
    if config.occupancy_branch:
        o_p, o_q = comparison.occupancy_p[i], comparison.occupancy_q[j]
        occupancy = circle(occupancy_affinity(o_p, o_q, config.occupancy_affinity))
    if config.orientation_loss:
        all_i, all_j = matches.unbind(1)
        orientation = orientation_loss(p.frames[all_i], q.frames[all_j], R_q_p)
    matching = matching_loss(comparison.log_assignment, matches)
    weights = (config.orientation_weight, config.shape_weight, config.occupancy_weight)
    total = weights[0] * orientation + weights[1] * shape + weights[2] * occupancy + matching
    breaking = zero if breaking is None else breaking
    return Losses(total + config.break_weight * breaking, orientation, shape, occupancy, matching, breaking)
