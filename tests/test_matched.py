import numpy as np
import pytest
import torch

import cmnet
import cmnet.matched
from cmnet.geometry.pose import Pose
from cmnet.matched import PairMatches, scored, with_matches
from cmnet.pairing.join import Join
from cmnet.solving.assembly import Assembly

SMALL = {"widths": (4, 6, 8, 10), "features": 12, "descriptor": 16, "attention": 8}


def assembler(**settings):
    torch.manual_seed(0)
    return cmnet.Assembler(cmnet.CMNet.from_preset("cmnet-base", **SMALL, **settings).double().eval(), points=800)


@pytest.fixture(scope="module")
def parts():
    from cmnet.data.toy import toy_object

    return toy_object(1, np.random.default_rng(0))


@torch.inference_mode()
def test_scores_are_the_two_sides_of_the_cost(parts):
    network = assembler()
    p, q = network.describe(parts)
    matches = network.match(p, q)
    found, compared = scored(network.net, p, q, matches), network.net.compare(p, q)
    i, j = matches.indices.T
    for score, side_p, side_q, sign in (
        (found.shape, compared.shape_p, compared.shape_q, 1),
        (found.occupancy, compared.occupancy_p, compared.occupancy_q, -1),
    ):
        cosine = torch.nn.functional.cosine_similarity(side_p[i], side_q[j])
        assert np.allclose(score, (sign * cosine).clamp(min=0).numpy())
    assert np.array_equal(found.points_i, p.points[i].numpy())
    assert np.array_equal(found.points_j, q.points[j].numpy())
    assert (np.diff(found.weights) <= 0).all()


def test_a_network_without_a_branch_has_no_score_of_it(parts):
    network = assembler(occupancy_branch=False)
    p, q = network.describe(parts)
    found = scored(network.net, p, q, network.match(p, q))
    assert found.occupancy is None
    assert found.shape is not None


def test_many_pairs_share_the_room(parts, monkeypatch):
    network = assembler()
    p, q = network.describe(parts)
    monkeypatch.setattr(cmnet.matched, "KEPT", 100)
    assert len(scored(network.net, p, q, network.match(p, q), pairs=10).weights) == 10


def test_pairs_without_a_join_are_dropped():
    some = PairMatches(np.zeros((1, 3)), np.ones((1, 3)), np.ones(1))
    join = Join((2, 0), Pose.identity(), 0.5, 1.0, 0.0, 0.0)
    assembly = Assembly(np.tile(np.eye(4), (3, 1, 1)), [], [0, 1, 2], [join])
    assert with_matches(assembly, {(0, 1): some, (0, 2): some}).matches == {(0, 2): some}
    assert with_matches(assembly, {}).matches == {}
    assert np.array_equal(some.turned().points_i, some.points_j)


def test_an_assembly_carries_what_was_matched_once(parts):
    network, calls = assembler(), []
    network.net.attention.register_forward_hook(lambda *call: calls.append(call))
    network.solver = "paper"
    assembly = network.assemble(parts)
    assert len(calls) == 1
    (found,) = assembly.matches.values()
    assert len(found.weights) == network.net.config.top_k
    for points, part in ((found.points_i, parts[0]), (found.points_j, parts[1])):
        assert (points >= part.vertices.min(axis=0) - 1e-9).all()
        assert (points <= part.vertices.max(axis=0) + 1e-9).all()
