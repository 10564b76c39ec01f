import numpy as np
import pytest
import torch

import cmnet
from cmnet.errors import InputError
from cmnet.geometry.pose import Pose
from cmnet.parts.points import sample_parts, unit_length

SMALL = {"widths": (4, 6, 8, 10), "features": 12, "descriptor": 16, "attention": 8}


@pytest.fixture
def parts():
    from cmnet.data.toy import toy_object

    return toy_object(1, np.random.default_rng(0))


@pytest.fixture
def assembler():
    torch.manual_seed(0)
    net = cmnet.CMNet.from_preset("cmnet-base", **SMALL).double().eval()
    return cmnet.Assembler(net, points=800, seed=3)


def test_descriptors_and_matches_have_the_contracted_shapes(assembler, parts):
    a, b = assembler.describe(parts)
    n, m = len(a.points), len(b.points)
    assert 700 < n + m <= 800
    assert a.normals.shape == (n, 3)
    assert a.frames.shape == (n, 3, 3)
    assert a.shape.shape == a.occupancy.shape == (n, 16)
    matches = assembler.match(a, b)
    assert matches.indices.shape == (128, 2)
    assert matches.weights.shape == (128,)
    assert matches.log_assignment.shape == (n + 1, m + 1)


def test_each_part_is_described_once_and_alone(assembler, parts, monkeypatch):
    calls = []
    describe = assembler.net.describe
    monkeypatch.setattr(assembler.net, "describe", lambda *args: calls.append(1) or describe(*args))
    third = parts[0].moved(Pose.random(np.random.default_rng(0)))
    described = assembler.describe([*parts, third])
    assert len(calls) == 3
    for d_a in described:
        for d_b in described:
            assembler.match(d_a, d_b)
    assert len(calls) == 3


def test_order_pose_and_scale_of_the_parts_do_not_matter(assembler, parts):
    a, b = assembler.describe(parts)
    rng = np.random.default_rng(1)
    A, B = Pose.random(rng, 1.0), Pose.random(rng, 1.0)
    moved = [parts[1].moved(B), parts[0].moved(A)]
    scaled = [cmnet.Part(p.name, 1000 * p.vertices, p.faces) for p in moved]
    d_b, d_a = assembler.describe(scaled)
    assert d_a.unit == pytest.approx(1000 * a.unit)
    assert np.allclose(d_a.points.numpy(), 1000 * A.apply(a.points.numpy()), atol=1e-6)
    assert torch.allclose(d_a.shape, a.shape, atol=1e-5)
    assert torch.allclose(d_b.occupancy, b.occupancy, atol=1e-5)


def test_pose_is_that_of_the_matches(assembler, parts):
    sampled = sample_parts(parts, 800, 3)
    T = assembler.pose(*sampled, unit_length(sampled))
    assert np.isclose(np.linalg.det(T.R), 1)


def test_no_parts_no_weights(assembler):
    with pytest.raises(InputError, match="at least one"):
        assembler.describe([])
    with pytest.raises(InputError, match="no weights at"):
        cmnet.Assembler("nothing.safetensors")
