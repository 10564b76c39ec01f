"""Marginals, symmetry, gradients, extreme scores."""

import pytest
import torch
from assertions import DTYPES

from cmnet.model.transport import log_transport, marginals, sinkhorn


def cost(n, m, dtype=torch.float64, spread=2.0, seed=0):
    return spread * torch.randn(n, m, generator=torch.Generator().manual_seed(seed), dtype=dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("n", "m"), [(1, 1), (5, 9), (80, 300), (400, 256)])
def test_meets_its_marginals(n, m, dtype):
    plan = log_transport(cost(n, m, dtype), torch.tensor(1.0, dtype=dtype), 1000).exp()
    rows, columns = marginals(n, m, plan)
    assert (plan.sum(1) / rows - 1).abs().max() < 1e-3
    assert (plan.sum(0) / columns - 1).abs().max() < 1e-3
    assert (plan >= 0).all()
    assert plan[:-1, :-1].max() <= 1 + 1e-3


@pytest.mark.parametrize("spread", [0.5, 3.0, 10.0])
def test_reaches_the_limit_of_the_papers_rounds_in_fewer(spread):
    """Fifty overstepping rounds come at least as close to the fixed point as a hundred plain ones."""
    c, dustbin = cost(60, 90, spread=spread), torch.tensor(1.0, dtype=torch.float64)
    scores = torch.cat([torch.cat([c, dustbin.expand(60, 1)], 1), dustbin.expand(1, 91)], 0)
    rows, columns = marginals(60, 90, c)
    u, v = torch.zeros_like(rows), torch.zeros_like(columns)
    plain = {}
    for done in range(1, 3001):
        u = rows.log() - torch.logsumexp(scores + v, 1)
        v = columns.log() - torch.logsumexp(scores + u[:, None], 0)
        plain[done] = scores + u[:, None] + v if done in (100, 3000) else None
    ours = sinkhorn(scores, 50)
    limit = plain[3000].exp()
    assert (ours.exp() - limit).abs().max() <= (plain[100].exp() - limit).abs().max() + 1e-9


def test_transposing_the_cost_transposes_the_plan():
    c, dustbin = cost(40, 70), torch.tensor(0.3, dtype=torch.float64)
    assert torch.allclose(log_transport(c, dustbin, 2000), log_transport(c.T, dustbin, 2000).T, atol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("spread", [50.0, 300.0])
def test_extreme_scores_stay_finite(dtype, spread):
    c = cost(50, 60, dtype, spread)
    c[0] = -20 * spread
    plan = log_transport(c, torch.tensor(1.0, dtype=dtype), 300)
    assert torch.isfinite(plan).all()
    assert (plan.exp().sum(0)[:-1] - 1).abs().max() < 1e-2


def test_gradient_of_the_fixed_point():
    c = cost(6, 8, spread=1.0).requires_grad_()
    dustbin = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda c, d: log_transport(c, d, 3000), (c, dustbin), atol=1e-6)


def test_clear_matches_are_found():
    c = torch.full((20, 25), -5.0, dtype=torch.float64)
    c[torch.arange(10), torch.arange(10)] = 8.0
    plan = log_transport(c, torch.tensor(1.0, dtype=torch.float64), 200).exp()
    assert (plan[:10, :10].diagonal() > 0.9).all()
    assert (plan[10:20, -1] > 0.9).all()
