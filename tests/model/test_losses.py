"""Each loss: zero where it should be, larger where it is worse, finite with nothing to match."""

import numpy as np
import pytest
import torch
from assertions import bumpy, random_rotation

from cmnet.geometry.pose import Pose
from cmnet.model.losses import (
    break_loss,
    circle_loss,
    combinative_loss,
    matching_loss,
    occupancy_affinity,
    orientation_loss,
    shape_affinity,
)
from cmnet.model.network import CMNet
from cmnet.model.transport import log_transport

F64 = torch.float64
SMALL = {"widths": (4, 6, 8, 10), "features": 12, "descriptor": 16, "attention": 8, "norm": "rms"}


def frames(count, seed=0):
    return torch.stack([random_rotation(seed + i) for i in range(count)])


def test_orientation_loss_is_zero_for_frames_that_turn_with_the_parts():
    F, R = frames(5), random_rotation(9)
    assert orientation_loss(F, F @ R.T, R) < 1e-5
    # Opposite axes in two of three rows: ‖2 a‖² + ‖2 b‖² = 8.
    flipped = F * torch.tensor([1.0, -1.0, -1.0], dtype=F64)[:, None]
    assert torch.isclose(orientation_loss(F, flipped @ R.T, R), torch.tensor(8.0, dtype=F64).sqrt())


def test_affinities_on_hand_made_descriptors():
    e = torch.eye(2, dtype=F64)
    p, q = torch.stack([e[0], 3 * e[0]]), torch.stack([2 * e[0], -e[0], e[1]])
    assert torch.allclose(shape_affinity(p, q)[0], torch.tensor([0.0, 2.0, 2**0.5], dtype=F64), atol=1e-3)
    assert torch.allclose(shape_affinity(p, q)[0], shape_affinity(p, q)[1])
    for kind, orthogonal in (("cosine", 2**0.5), ("l2", 2 - 2**0.5)):
        row = occupancy_affinity(p, q, kind)[0]
        assert torch.allclose(row, torch.tensor([2.0, 0.0, orthogonal], dtype=F64), atol=1e-3)


def test_circle_loss_falls_as_matches_close_and_others_part():
    positive = torch.eye(6, dtype=torch.bool)
    near, far = torch.full((6, 6), 0.05, dtype=F64), torch.full((6, 6), 1.6, dtype=F64)
    perfect = circle_loss(torch.where(positive, near, far), positive, ~positive)
    blurred = circle_loss(torch.full((6, 6), 0.7, dtype=F64), positive, ~positive)
    inverted = circle_loss(torch.where(positive, far, near), positive, ~positive)
    # All within their margins: every exponent is zero, log(1 · 5) is left.
    assert torch.isclose(perfect, torch.nn.functional.softplus(torch.tensor(5.0, dtype=F64).log()) / 24)
    assert perfect < blurred < inverted


def test_circle_loss_is_symmetric():
    x = torch.rand(7, 9, dtype=F64, generator=torch.Generator().manual_seed(0))
    positive, negative = x < 0.3, x > 0.5
    assert torch.isclose(circle_loss(x, positive, negative), circle_loss(x.T, positive.T, negative.T))


@pytest.mark.parametrize("negatives", [True, False])
def test_circle_loss_without_positives_or_negatives_is_finite(negatives):
    x = torch.rand(4, 4, dtype=F64).requires_grad_()
    nothing = torch.zeros(4, 4, dtype=torch.bool)
    assert circle_loss(x, nothing, ~nothing) == 0
    loss = circle_loss(x, torch.eye(4, dtype=torch.bool), ~torch.eye(4, dtype=torch.bool) if negatives else nothing)
    loss.backward()
    assert torch.isfinite(x.grad).all()


def test_matching_loss_prefers_the_true_matches():
    matches = torch.tensor([[0, 1], [1, 0], [2, 2]])
    good = torch.full((5, 4), -4.0, dtype=F64)
    good[matches[:, 0], matches[:, 1]] = 4.0
    dustbin = torch.tensor(0.0, dtype=F64)
    right, wrong = log_transport(good, dustbin, 200), log_transport(good.roll(1, 1), dustbin, 200)
    assert matching_loss(right, matches) < matching_loss(wrong, matches)
    # Hand-made: mean of all 3 matches, the 2 lonely rows, the 1 lonely column.
    terms = [right[0, 1], right[1, 0], right[2, 2], right[3, -1], right[4, -1], right[-1, 3]]
    assert torch.isclose(matching_loss(right, matches), -torch.stack(terms).mean())


def pair(net):
    """Two bumpy parts, the first 60 points of which coincide when assembled."""
    points, normals = bumpy(200, 1)
    T = Pose.random(np.random.default_rng(3), spread=0.5)
    other, other_normals = bumpy(220, 2)
    other[:60], other_normals[:60] = points[:60], -normals[:60]
    q = net.describe(torch.from_numpy(T.apply(other.numpy())), torch.from_numpy(T.rotate(other_normals.numpy())))
    matches = torch.arange(60).repeat(2, 1).T
    return net.describe(points, normals), q, matches, torch.from_numpy(T.matrix())


def total(net, matches=None, seed=0):
    p, q, all_matches, T = pair(net)
    matches = all_matches if matches is None else matches
    return combinative_loss(p, q, net.compare(p, q), matches, T, net.config, torch.Generator().manual_seed(seed))


def test_break_loss_is_the_cross_entropy_of_one_part():
    net = network(break_head=True)
    p, q, matches, T = pair(net)
    truth = torch.arange(200) < 60
    expected = -torch.where(truth, p.breaking, 1 - p.breaking).log().mean()
    loss = break_loss(p, truth)
    assert torch.isclose(loss, expected)
    generator = torch.Generator().manual_seed(0)
    both = [combinative_loss(p, q, net.compare(p, q), matches, T, net.config, generator, x) for x in (loss, None)]
    assert both[1].breaking == 0
    assert torch.isclose(both[0].total - both[1].total, net.config.break_weight * loss)
    assert break_loss(pair(network())[0], truth) == 0


def network(**overrides):
    torch.manual_seed(0)
    return CMNet.from_preset("paper", **SMALL, **overrides).double()


def test_total_is_the_weighted_sum_and_depends_on_the_seed_alone():
    net = network(max_positives=20)
    a, b, c = total(net), total(net), total(net, seed=1)
    assert a.total == b.total
    assert a.shape != c.shape
    assert torch.isclose(a.total, 0.1 * a.orientation + 0.5 * a.shape + 0.5 * a.occupancy + a.matching)


def test_switches_remove_their_loss():
    assert total(network(orientation_loss=False)).orientation == 0
    assert total(network(shape_branch=False)).shape == 0
    assert total(network(occupancy_branch=False)).occupancy == 0
    assert total(network(occupancy_affinity="l2")).occupancy != total(network()).occupancy


def test_a_pair_without_matches_gives_every_parameter_a_gradient():
    net = network()
    losses = total(net, torch.zeros(0, 2, dtype=torch.long))
    losses.total.backward()
    assert losses.shape == losses.occupancy == losses.orientation == 0
    for name, parameter in net.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name
