"""Optimal transport with a dustbin (Sarlin et al., 2020): every point matches one point of the other part, or none.

The scores are exponentiated once, their rows shifted so that nothing overflows, and again only where the potentials
have drifted far; every round is then two matrix–vector products. After a few of them each round oversteps by a factor
chosen from how fast those converged (successive over-relaxation, Lehmann et al. 2021: half the rounds or fewer on hard
scores). The gradient is that of the fixed point, by solving its linear system with the same products, so no round is
recorded.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

DRIFT = 25.0  # potentials may move so far before the plan is exponentiated anew: what underflowed stays negligible
PLAIN = 6  # rounds before overstepping


def log_transport(cost: Tensor, dustbin: Tensor, rounds: int) -> Tensor:
    """Logarithm of the soft assignment: rows and columns of points sum to one, the dustbins take the rest.

    cost : (n, m) float, the higher the better; dustbin : () float → (n + 1, m + 1) float
    """
    return _LogTransport.apply(cost, dustbin, rounds)


def marginals(n: int, m: int, like: Tensor) -> tuple[Tensor, Tensor]:
    """What rows and columns of the assignment sum to: one a point, the other side's number for a dustbin."""
    rows, columns = like.new_ones(n + 1), like.new_ones(m + 1)
    rows[-1], columns[-1] = m, n
    return rows, columns


def sinkhorn(scores: Tensor, rounds: int) -> Tensor:
    """scores : (n + 1, m + 1) float → scores + u + v whose exponential meets the marginals, if `rounds` allow it"""
    rows, columns = marginals(scores.shape[0] - 1, scores.shape[1] - 1, scores)
    tolerance = 4e3 * torch.finfo(scores.dtype).eps
    log_plan = scores - scores.amax(1, keepdim=True)  # dustbins keep every row and column above zero
    plan, a, b = _exp(log_plan, torch.empty_like(scores)), torch.ones_like(rows), torch.ones_like(columns)
    step, last = 1.0, torch.inf
    for done in range(rounds):
        excess = a * (plan @ b) / rows
        error = (excess - 1).abs()
        if error.amax() < tolerance:
            break
        if done == PLAIN:
            step = _overstep(float(error.amax()) / last)
        last = float(error.amax())
        if done >= rounds - 2:  # out of rounds: end with plain ones, which leave the columns exact
            step = 1.0
        a = a * excess**-step
        b = b * (b * (plan.T @ a) / columns) ** -step
        log_a, log_b = a.log(), b.log()
        if not torch.maximum(log_a.abs().amax(), log_b.abs().amax()) < DRIFT:
            log_plan.add_(log_a[:, None]).add_(log_b)
            plan, a, b = _exp(log_plan, plan), torch.ones_like(rows), torch.ones_like(columns)
    return log_plan.add_(a.log()[:, None]).add_(b.log())


def _exp(log_plan: Tensor, out: Tensor) -> Tensor:
    """Without denormal numbers, on which processors are slow; what is raised to e⁻⁸⁰ stays negligible."""
    return torch.clamp(log_plan, min=-80, out=out).exp_()


def _overstep(rate: float) -> float:
    """The best over-relaxation where plain rounds shrink the error by `rate` each (Young's formula)."""
    rate = min(max(rate, 0.0), 0.98)
    return float(2 / (1 + (1 - rate) ** 0.5))


class _LogTransport(torch.autograd.Function):
    """Sinkhorn with the implicit gradient.

    With P = exp(Z), a change dS of the scores moves the potentials by  M (du, dv) = −(rows, columns) of P∘dS,
    M = [[diag P1, P], [Pᵀ, diag Pᵀ1]]. So dL/dS = G − P ∘ (x ⊕ y) with M (x, y) = (rows, columns) of G = dL/dZ.
    """

    @staticmethod
    def forward(ctx: Any, cost: Tensor, dustbin: Tensor, rounds: int) -> Tensor:
        n, m = cost.shape
        scores = dustbin.repeat(n + 1, m + 1)
        scores[:-1, :-1] = cost
        log_plan = sinkhorn(scores, rounds)
        ctx.save_for_backward(log_plan)
        ctx.rounds = rounds
        return log_plan

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        (grad,) = grads
        plan = ctx.saved_tensors[0].exp()
        row_sums, column_sums = plan.sum(1), plan.sum(0)
        g_rows, g_columns = grad.sum(1), grad.sum(0)
        y = torch.zeros_like(g_columns)
        for _ in range(ctx.rounds):
            x = (g_rows - plan @ y) / row_sums
            last, y = y, (g_columns - plan.T @ x) / column_sums
            if (y - last).abs().amax() <= 1e3 * torch.finfo(y.dtype).eps * y.abs().amax():
                break
        grad = grad - plan * (x[:, None] + y)
        return grad[:-1, :-1], grad[-1].sum() + grad[:-1, -1].sum(), None
