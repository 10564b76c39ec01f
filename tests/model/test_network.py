"""Equivariance, invariance, symmetry: the laws the network must obey whatever its weights."""

from dataclasses import replace

import pytest
import torch
from assertions import DTYPES, assert_close_for_most, assert_rotations, bumpy, random_rotation

from cmnet.model.config import preset
from cmnet.model.network import CMNet, top_entries

SMALL = {"widths": (4, 6, 8, 10), "features": 12, "descriptor": 16, "attention": 8, "top_k": 32}
VARIANTS = [
    {"norm": "rms", "graph": "coordinates", "normals": True},
    {"norm": "rms", "graph": "coordinates", "normals": True, "positions": False},
    {"norm": "rms", "graph": "features", "normals": False},
    {"norm": "instance", "graph": "coordinates", "normals": False},
    {"norm": "instance", "graph": "features", "normals": True},
]
# Instance norm divides by vector lengths, however small: single precision is for rms, see the test below it.
CASES = [(variant, torch.float64) for variant in VARIANTS] + [
    (v, torch.float32) for v in VARIANTS if v["norm"] == "rms"
]


def make(dtype=torch.float64, seed=0, **overrides) -> CMNet:
    torch.manual_seed(seed)
    return CMNet.from_preset("paper", **{**SMALL, **overrides}).to(dtype).eval()


@pytest.mark.parametrize(("variant", "dtype"), CASES, ids=str)
def test_backbone_turns_with_the_part(variant, dtype):
    net = make(dtype, **variant)
    points, normals = bumpy(300, 1, dtype)
    R = random_rotation(2, dtype)
    normals = normals if net.config.normals else None
    turned = net.backbone(points @ R.T, None if normals is None else normals @ R.T)
    assert_close_for_most(turned, R @ net.backbone(points, normals))


def test_paper_preset_turns_with_the_part_in_single_precision():
    torch.manual_seed(0)
    net = CMNet.from_preset("paper").eval()
    points, _ = bumpy(500, 1, torch.float32)
    R = random_rotation(2, torch.float32)
    with torch.no_grad():
        turned, expected = net.backbone(points @ R.T), R @ net.backbone(points)
    error = (turned - expected).abs().flatten(1).amax(1) / expected.abs().mean()
    assert error.median() < 0.1


@pytest.mark.parametrize(("variant", "dtype"), CASES, ids=str)
def test_descriptors_do_not_depend_on_pose_unit_or_order(variant, dtype):
    net = make(dtype, break_head=True, **variant)
    points, normals = bumpy(300, 3, dtype)
    R, order = random_rotation(4, dtype), torch.randperm(300, generator=torch.Generator().manual_seed(5))
    with torch.no_grad():
        given = net.describe(points, normals)
        moved = net.describe(1000 * points[order] @ R.T + 7, normals[order] @ R.T, unit=1000.0)
    assert_close_for_most(moved.shape, given.shape[order])
    assert_close_for_most(moved.occupancy, given.occupancy[order])
    assert_close_for_most(moved.frames, given.frames[order] @ R.T)
    assert_rotations(given.frames)
    assert_rotations(moved.frames)
    assert_close_for_most(moved.breaking[:, None], given.breaking[order][:, None])
    assert ((given.breaking > 0) & (given.breaking < 1)).all()


@pytest.mark.parametrize(
    ("positions", "equivariant", "moves"), [(True, True, True), (False, True, False), (False, False, False)]
)
def test_without_positions_only_neighbours_are_seen(positions, equivariant, moves):
    net = make(normals=True, norm="rms", positions=positions, equivariant=equivariant)
    points, normals = bumpy(100, 1)
    index = torch.randint(100, (100, 8), generator=torch.Generator().manual_seed(2))

    def first(points):
        return net.backbone.first.edges(net.backbone._inputs(points, normals), index)

    assert torch.allclose(first(points), first(points + 3), atol=1e-9) is not moves


def test_plain_backbone_is_not_equivariant():
    """The ablation really takes equivariance away."""
    net = make(equivariant=False)
    points, normals = bumpy(300, 1)
    R = random_rotation(2)
    with torch.no_grad():
        given, turned = net.describe(points, normals), net.describe(points @ R.T, normals @ R.T)
    assert_rotations(given.frames)
    assert (given.shape - turned.shape).abs().mean() > 0.05


def test_branches_can_be_switched_off():
    p, q = bumpy(200, 1), bumpy(220, 2)
    for off in ("shape_branch", "occupancy_branch"):
        full, cut = make(), make(**{off: False})
        cut.load_state_dict(full.state_dict(), strict=False)
        with torch.no_grad():
            d = [net.compare(net.describe(*p), net.describe(*q)).log_assignment for net in (full, cut)]
        assert not any(name.startswith(off.split("_")[0] + "_head") for name in cut.state_dict())
        assert (d[0] - d[1]).abs().max() > 1e-3


def test_the_gate_keeps_points_out_that_are_not_held_for_break():
    """Half of the points are said to be skin: their share of the assignment goes to the dustbin."""
    net = make(break_head=True, break_gate=True)
    with torch.no_grad():
        p, q = (net.describe(*bumpy(n, n)) for n in (200, 220))
        skin = torch.arange(200) < 100
        p = replace(p, breaking=torch.where(skin, 1e-6, 1.0).double())
        gated = net.compare(p, q).log_assignment.exp()[:-1, :-1].sum(1)
        ungated = make(break_head=True).compare(p, q).log_assignment.exp()[:-1, :-1].sum(1)
    assert gated[skin].max() < 0.01
    assert gated[~skin].min() > 0.1
    assert ungated[skin].min() > 0.1


def test_the_gate_teaches_the_break_head_nothing():
    net = make(break_head=True, break_gate=True)
    p, q = (net.describe(*bumpy(n, n)) for n in (100, 120))
    net.compare(p, q).log_assignment[0, 0].backward()
    assert all(parameter.grad is None for parameter in net.break_head.parameters())
    assert net.shape_head.layers[0].weight.grad is not None


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_both_orders_of_a_pair_agree(dtype):
    net = make(dtype, norm="rms")
    p, q = bumpy(200, 1, dtype), bumpy(330, 2, dtype)
    with torch.no_grad():
        a, b = net.describe(*p), net.describe(*q)
        ab, ba = net.match(a, b), net.match(b, a)
        T_b_a, T_a_b = net.pose(a, b, ab), net.pose(b, a, ba)
    tolerance = 1e-3 if dtype == torch.float32 else 1e-6
    assert (ab.log_assignment - ba.log_assignment.T).abs().max() < tolerance
    assert T_b_a.angle_to(T_a_b.inverse()) < 0.1


def test_pose_follows_the_parts():
    """Moving P by A and Q by B turns T_q_p into B T_q_p A⁻¹."""
    import numpy as np

    from cmnet.geometry.pose import Pose

    net = make(norm="rms")
    p, q = bumpy(200, 1), bumpy(220, 2)
    A, B = (Pose.random(np.random.default_rng(s), spread=1.0) for s in (1, 2))

    def moved(part, T):
        return tuple(torch.from_numpy(x) for x in (T.apply(part[0].numpy()), T.rotate(part[1].numpy())))

    with torch.no_grad():
        T = net.pose(net.describe(*p), net.describe(*q))
        T_moved = net.pose(net.describe(*moved(p, A)), net.describe(*moved(q, B)))
    assert np.allclose(T_moved.matrix(), (B @ T @ A.inverse()).matrix(), atol=1e-6)


def test_gradients_reach_every_parameter():
    net = make(norm="rms").train()
    a, b = net.describe(*bumpy(200, 1)), net.describe(*bumpy(220, 2))
    net.compare(a, b).log_assignment[:-1, :-1].diagonal().sum().backward()
    for name, parameter in net.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name


def test_chunked_inference_equals_training_forward():
    for variant in VARIANTS:
        net = make(**variant)
        points, normals = bumpy(700, 1)
        with torch.no_grad():
            chunked = net.describe(points, normals)
        whole = net.describe(points, normals)
        assert torch.allclose(chunked.shape, whole.shape, atol=1e-9)


def test_paper_preset_has_the_published_number_of_parameters():
    net = CMNet.from_preset("paper", norm="instance")
    assert sum(p.numel() for p in net.parameters()) == 2_935_403
    assert preset("paper").points == 5000


def test_top_entries_are_the_largest():
    x = torch.randn(50, 30, generator=torch.Generator().manual_seed(0))
    for k in (1, 7, 40, 60, 1500, 2000):
        indices, values = top_entries(x, k)
        expected = x.flatten().sort(descending=True).values[:k]
        assert torch.equal(values, expected)
        assert torch.equal(x[indices[:, 0], indices[:, 1]], values)


def test_tiny_part_is_refused_with_a_reason():
    from cmnet.errors import InputError

    with pytest.raises(InputError, match="at least 16 points"):
        make().describe(*bumpy(10, 0))


def test_smallest_part_works():
    for variant in VARIANTS:
        d = make(**variant).describe(*bumpy(16, 0))
        assert torch.isfinite(d.shape).all()


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_fast_path_equals_the_plain_one(variant):
    import plain

    net = make(**variant)
    p, q = bumpy(250, 1), bumpy(300, 2)
    with torch.no_grad():
        fast = net.compare(net.describe(*p), net.describe(*q)).log_assignment
        slow = plain.assignment(net, p, q)
    assert torch.allclose(fast, slow, atol=1e-4), (fast - slow).abs().max()
