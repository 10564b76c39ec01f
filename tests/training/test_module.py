from itertools import pairwise

import pytest
import torch
from assertions import bumpy

from cmnet.model.config import preset
from cmnet.training.batches import Consecutive, Dealt, ExerciseTensors, FragmentTensors, PairTensors
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


def test_the_average_follows_the_weights_at_its_own_pace():
    small = preset("paper", widths=(2, 3, 4, 5), features=6, descriptor=8, attention=4)
    plain, slow = CMNetModule(small, TrainConfig()), CMNetModule(small, TrainConfig(average=0.9))
    first = slow.average.dustbin.item()
    for module in (plain, slow):
        with torch.no_grad():
            module.net.dustbin += 1
        module.follow(step=1000)
    assert torch.equal(plain.average.dustbin, plain.net.dustbin)
    assert slow.average.dustbin.item() == pytest.approx(first + 0.1)
    for _ in range(200):
        slow.follow(step=1000)
    assert slow.average.dustbin.item() == pytest.approx(first + 1)
    assert not any(parameter.requires_grad for parameter in slow.average.parameters())


def test_parts_shared_by_pairs_give_the_losses_of_the_pairs_alone():
    config = preset("cmnet-base", widths=(2, 3, 4, 5), features=6, descriptor=8, attention=4, max_positives=10_000)
    module = CMNetModule(config, TrainConfig())
    fragments = [FragmentTensors(*bumpy(n, n, torch.float32), torch.arange(n) % 3 == 0) for n in (120, 150, 130)]
    matches = torch.arange(40).repeat(2, 1).T
    pairs = [PairTensors(p, q, torch.eye(4), matches) for p, q in ((0, 1), (2, 1))]
    together = module.exercise_losses(ExerciseTensors(0, 0, fragments, pairs))
    alone = [module.exercise_losses(ExerciseTensors(0, 0, fragments, [pair])) for pair in pairs]
    for name in ("total", "orientation", "shape", "occupancy", "matching", "breaking"):
        expected = torch.stack([getattr(losses, name) for losses in alone]).mean()
        assert torch.isclose(getattr(together, name), expected, rtol=1e-4), name
    together.total.backward()
    assert all(parameter.grad is not None for parameter in module.net.parameters())


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
