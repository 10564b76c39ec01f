from itertools import pairwise

import pytest
import torch

from cmnet.model.config import preset
from cmnet.training.batches import Consecutive, Dealt
from cmnet.training.config import TrainConfig
from cmnet.training.module import CMNetModule, rate_factor


def test_rate_rises_falls_and_never_vanishes():
    config = TrainConfig(steps=1000, warmup=100)
    factors = [rate_factor(step, config) for step in range(1001)]
    assert factors[0] == pytest.approx(0.01)
    assert factors[99] == 1
    assert factors[100] == pytest.approx(1)
    assert factors[-1] == pytest.approx(0.01)
    assert all(a >= b for a, b in pairwise(factors[100:]))


def test_ranks_share_the_numbers_and_a_later_start_skips_the_first():
    alone = [i for batch in Consecutive(6, size=2) for i in batch]
    assert alone == list(range(12))
    ranks = [list(Consecutive(3, size=2, rank=r, ranks=2)) for r in (0, 1)]
    assert sorted(i for rank in ranks for batch in rank for i in batch) == alone
    assert list(Consecutive(6, size=2, start=4)) == [[8, 9], [10, 11]]
    assert len(Consecutive(6, size=2, start=4)) == 6
    assert sorted(i for r in (0, 1) for [i] in Dealt(5, r, 2)) == list(range(5))


def test_first_weights_depend_on_the_seed_alone_and_leave_other_draws_alone():
    small = preset("paper", widths=(2, 3, 4, 5), features=6, descriptor=8, attention=4)
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    a, b, c = (CMNetModule(small, TrainConfig(seed=s)).net.state_dict() for s in (0, 0, 1))
    assert torch.rand(1) == expected
    assert all(torch.equal(a[name], b[name]) for name in a)
    assert not torch.equal(a["backbone.first.linear.weight"], c["backbone.first.linear.weight"])


def test_a_gradient_that_is_not_finite_changes_nothing():
    module = CMNetModule(preset("paper", widths=(2, 3, 4, 5), features=6, descriptor=8, attention=4), TrainConfig())
    module.log = lambda *args, **kwargs: None
    optimizer = module.configure_optimizers()["optimizer"]
    before = {name: value.clone() for name, value in module.net.state_dict().items()}
    for parameter in module.net.parameters():
        parameter.grad = torch.full_like(parameter, torch.nan)
    module.configure_gradient_clipping(optimizer)
    optimizer.step()
    assert all(torch.equal(before[name], value) for name, value in module.net.state_dict().items())
