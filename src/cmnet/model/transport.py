"""Optimal transport with a dustbin (Sarlin et al., 2020): every point matches one point of the other part, or none.

One round in the logarithmic domain makes the scores safe to exponentiate; the others are matrix–vector products. The
gradient is that of the fixed point, by solving its linear system with the same products, so no round is recorded.
"""

from __future__ import annotations

import torch
from torch import Tensor

LARGE = 1e12  # scaling factors beyond it are absorbed into the potentials before float32 overflows


def log_transport(cost: Tensor, dustbin: Tensor, rounds: int) -> Tensor:
    """Logarithm of the soft assignment: rows and columns of points sum to one, the dustbins take the rest.

    cost : (n, m) float, the higher the better; dustbin : () float → (n + 1, m + 1) float
    """
    n, m = cost.shape
    scores = torch.cat([torch.cat([cost, dustbin.expand(n, 1)], 1), dustbin.expand(1, m + 1)], 0)
    return _LogTransport.apply(scores, rounds)


def marginals(n: int, m: int, like: Tensor) -> tuple[Tensor, Tensor]:
    """What rows and columns of the assignment sum to: one a point, the other side's number for a dustbin."""
    rows, columns = like.new_ones(n + 1), like.new_ones(m + 1)
    rows[-1], columns[-1] = m, n
    return rows, columns


def sinkhorn(scores: Tensor, rounds: int) -> Tensor:
    """scores : (n + 1, m + 1) float → scores + u + v whose exponential meets the marginals"""
    rows, columns = marginals(scores.shape[0] - 1, scores.shape[1] - 1, scores)
    tolerance = 1e3 * torch.finfo(scores.dtype).eps
    u = rows.log() - torch.logsumexp(scores, 1)
    log_plan = scores + u[:, None]
    log_plan += columns.log() - torch.logsumexp(log_plan, 0)
    plan = log_plan.exp()
    a, b = torch.ones_like(rows), torch.ones_like(columns)
    for _ in range(1, rounds):
        row_sums = plan @ b
        if ((a * row_sums / rows - 1).abs() < tolerance).all():
            break
        a = rows / row_sums
        b = columns / (plan.T @ a)
        if not (a.amax() < LARGE and b.amax() < LARGE):  # also true for a row that has underflowed to nothing
            log_plan, a, b = _absorb(log_plan, rows, columns)
            plan = log_plan.exp()
    return log_plan + (a.log()[:, None] + b.log())


def _absorb(log_plan: Tensor, rows: Tensor, columns: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Start the scaling anew from one round in the logarithmic domain."""
    log_plan = log_plan + (rows.log() - torch.logsumexp(log_plan, 1))[:, None]
    log_plan = log_plan + (columns.log() - torch.logsumexp(log_plan, 0))
    return log_plan, torch.ones_like(rows), torch.ones_like(columns)


class _LogTransport(torch.autograd.Function):
    """Sinkhorn with the implicit gradient.

    With P = exp(Z), a change dS of the scores moves the potentials by  M (du, dv) = −(rows, columns) of P∘dS,
    M = [[diag P1, P], [Pᵀ, diag Pᵀ1]]. So dL/dS = G − P ∘ (x ⊕ y) with M (x, y) = (rows, columns) of G = dL/dZ.
    """

    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, scores: Tensor, rounds: int) -> Tensor:
        log_plan = sinkhorn(scores, rounds)
        ctx.save_for_backward(log_plan)
        ctx.rounds = rounds  # type: ignore[attr-defined]
        return log_plan

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, *grads: Tensor) -> tuple[Tensor, None]:
        (grad,) = grads
        plan = ctx.saved_tensors[0].exp()  # type: ignore[attr-defined]
        row_sums, column_sums = plan.sum(1), plan.sum(0)
        g_rows, g_columns = grad.sum(1), grad.sum(0)
        y = torch.zeros_like(g_columns)
        for _ in range(ctx.rounds):  # type: ignore[attr-defined]
            x = (g_rows - plan @ y) / row_sums
            last, y = y, (g_columns - plan.T @ x) / column_sums
            if (y - last).abs().amax() <= 1e3 * torch.finfo(y.dtype).eps * y.abs().amax():
                break
        return grad - plan * (x[:, None] + y), None
