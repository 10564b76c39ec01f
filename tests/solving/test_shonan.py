"""Averaging over loops: exact where the joins are, right where most are, an answer in any case."""

import logging
import sys

import numpy as np
import pytest

from cmnet.geometry.pose import Pose
from cmnet.solving import shonan as module
from cmnet.solving.shonan import Edge, follow, shonan
from worlds import error, jolt, world

pytest.importorskip("gtsam")


def graph(count, rng, noise=0.0, outliers=0.0, share=0.6, spread=0.5):
    """Edges of a random connected graph; outliers only among those that close loops."""
    T = [Pose.random(rng, spread=spread) for _ in range(count)]
    edges = []
    for i in range(count):
        for j in range(i + 1, count):
            chain = j == i + 1
            if chain or rng.random() < share:
                off = Pose.random(rng, spread=spread) if not chain and rng.random() < outliers else jolt(rng, noise)
                edges.append(Edge(i, j, T[i].inverse() @ T[j] @ off, rng.uniform(0.3, 1.0)))
    return T, edges


def solved(edges, count, **options):
    return shonan(follow(edges)[0], edges, np.zeros((count, 3)), **options)


@pytest.mark.parametrize("count", [3, 5, 12])
def test_loops_without_noise_give_the_truth(count):
    rng = np.random.default_rng(count)
    T, edges = graph(count, rng)
    start = {k: Pose.random(rng, spread=1.0) for k in range(count)}  # wherever it starts
    assert error(shonan(start, edges, np.zeros((count, 3))), T) < 1e-6


def test_noise_is_evened_out():
    rng = np.random.default_rng(1)
    chained, averaged = [], []
    for _ in range(5):
        T, edges = graph(8, rng, noise=0.01)
        chain = follow([edge for edge in edges if edge.j == edge.i + 1])[0]
        chained.append(error(chain, T))
        averaged.append(error(solved(edges, 8), T))
    assert np.mean(averaged) < 0.7 * np.mean(chained)


def test_outliers_lose_their_weight():
    rng = np.random.default_rng(2)
    errors = []
    for _ in range(8):
        T, edges = graph(8, rng, noise=0.005, outliers=0.25, share=1.0)
        errors.append(error(solved(edges, 8), T))
    assert max(errors) < 0.05


def test_a_tree_is_followed_exactly():
    rng = np.random.default_rng(3)
    _, edges = graph(6, rng, noise=0.1, share=0.0)
    found = solved(edges, 6)
    for i, j, T_i_j, _ in edges:
        assert np.allclose((found[i].inverse() @ found[j]).matrix(), T_i_j.matrix(), atol=1e-12)


def test_order_of_edges_and_names_of_parts_are_irrelevant():
    rng = np.random.default_rng(4)
    _, edges = graph(7, rng, noise=0.02)
    name = rng.permutation(7)
    again = [Edge(int(name[i]), int(name[j]), T, w) for i, j, T, w in (edges[k] for k in rng.permutation(len(edges)))]
    here, there = solved(edges, 7), solved(again, 7)
    assert error({k: there[int(name[k])] for k in range(7)}, here) < 1e-6
    assert all(np.array_equal(here[k].matrix(), solved(edges, 7)[k].matrix()) for k in here)


def test_the_first_part_stays_and_held_ones_do():
    rng = np.random.default_rng(5)
    T, edges = graph(5, rng, noise=0.02)
    start = {k: T[k] @ jolt(rng, 0.05) for k in range(5)}
    free, held = shonan(start, edges, np.zeros((5, 3))), shonan(start, edges, np.zeros((5, 3)), held=[2, 4])
    assert np.allclose(free[0].matrix(), start[0].matrix(), atol=1e-12)
    assert all(np.array_equal(held[k].matrix(), start[k].matrix()) for k in (2, 4))
    assert error(held, T) < 0.2


def test_where_the_parts_have_their_origin_is_irrelevant():
    rng = np.random.default_rng(6)
    _, edges = graph(6, rng, noise=0.02)
    far = {k: Pose(np.eye(3), 1000 * rng.standard_normal(3)) for k in range(6)}  # x_given = far x_centred
    moved = [Edge(i, j, far[i] @ T_i_j @ far[j].inverse(), w) for i, j, T_i_j, w in edges]
    here = solved(edges, 6)
    there = shonan(follow(moved)[0], moved, np.array([far[k].t for k in range(6)]))
    assert error({k: there[k] @ far[k] for k in range(6)}, here) < 1e-6


@pytest.mark.parametrize(
    "edges",
    [
        [],
        [Edge(0, 1, Pose.identity(), 1.0)],
        [Edge(0, 1, Pose.identity(), 1.0)] * 3,
        [Edge(0, 1, Pose.identity(), 1.0), Edge(2, 3, Pose.identity(), 1.0)],
        [Edge(0, 1, T, 1.0) for T in world(4)],
        [Edge(0, 1, Pose.identity(), 1.0), Edge(0, 1, Pose(np.diag([1.0, -1.0, -1.0]), np.zeros(3)), 1.0)],
        [Edge(i, j, world(1, 5 * i + j)[0], 0.5) for i in range(4) for j in range(i + 1, 4)],
        [Edge(0, 1, Pose.identity(), 0.0), Edge(1, 2, Pose.identity(), np.nan)],
        [Edge(0, 0, Pose.identity(), 1.0), Edge(0, 1, Pose(np.full((3, 3), np.nan), np.zeros(3)), 1.0)],
        [Edge(0, 1, Pose.identity(), 1e-300), Edge(1, 2, Pose.identity(), 1.0), Edge(0, 2, Pose.identity(), 1.0)],
    ],
    ids=["none", "one", "equal", "apart", "contradicting", "opposite", "all wrong", "weightless", "unsound", "tiny"],
)
def test_anything_ends_in_poses(edges, capfd):
    start = dict(enumerate(world(4)))
    for some in (start, {k: start[k] for k in (0, 1)}, {0: start[0]}):
        inside = [edge for edge in edges if edge.i in some and edge.j in some]
        found = shonan(some, inside, np.zeros((4, 3)))
        assert found.keys() == some.keys()
        for T in found.values():
            assert np.isfinite(T.t).all()
            assert np.allclose(T.R @ T.R.T, np.eye(3), atol=1e-9)
    assert capfd.readouterr() == ("", "")


def test_without_gtsam_the_guess_stays_and_that_is_said_once(monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "gtsam", None)
    module._gtsam.cache_clear()
    try:
        _, edges = graph(4, np.random.default_rng(0))
        start = {k: Pose.random(np.random.default_rng(k)) for k in range(4)}
        with caplog.at_level(logging.WARNING, logger="cmnet"):
            for _ in range(3):
                assert shonan(start, edges, np.zeros((4, 3)))[3] is not None
        assert len(caplog.records) == 1
        assert error(shonan(start, edges, np.zeros((4, 3))), start) < 1e-12
    finally:
        module._gtsam.cache_clear()
