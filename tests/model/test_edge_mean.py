import pytest
import torch

from cmnet.model import edge_mean
from cmnet.model.edge_mean import TINY, bent_mean

SLOPE = 0.2


def inputs(n=12, k=5, c=3, seed=0):
    g = torch.Generator().manual_seed(seed)
    centre, neighbour = (torch.randn(n, 3, 2 * c, generator=g, dtype=torch.float64).requires_grad_() for _ in range(2))
    index = torch.randint(0, n, (n, k), generator=g)
    sign = torch.where(torch.arange(c) % 2 == 0, 1.0, -1.0).double()
    return centre, neighbour, index, sign


def by_definition(centre, neighbour, index, sign):
    edge = centre[:, None] + neighbour[index]
    p, d = edge.chunk(2, dim=-1)
    dot = (p * d).sum(2, keepdim=True)
    bent = p - (1 - SLOPE) * sign * (sign * dot).clamp(max=0) / ((d * d).sum(2, keepdim=True) + TINY) * d
    return bent.mean(1), (p * p).sum((0, 1, 2))


@pytest.mark.parametrize("block", [1, 40, 1 << 17])
def test_it_is_what_it_says_whatever_the_size_of_a_block(monkeypatch, block):
    monkeypatch.setattr(edge_mean, "BLOCK", block)
    given = inputs()
    for found, expected in zip(bent_mean(*given, SLOPE), by_definition(*given), strict=True):
        assert torch.allclose(found, expected)


@pytest.mark.parametrize("block", [1, 1 << 17])
def test_its_gradient_is_the_derivative(monkeypatch, block):
    monkeypatch.setattr(edge_mean, "BLOCK", block)
    centre, neighbour, index, sign = inputs(n=6, k=3)
    assert torch.autograd.gradcheck(lambda a, b: bent_mean(a, b, index, sign, SLOPE), (centre, neighbour))
