"""The published solver: best edge of each part, followed from the largest part."""

import numpy as np
import pytest

from cmnet.geometry.pose import Pose
from cmnet.solving.paper import solve_paper
from cmnet.solving.shonan import Edge
from worlds import error, world


def edge(T, i, j, score):
    return Edge(i, j, T[i].inverse() @ T[j], score)


def placed(assembly, parts):
    return {k: Pose.from_matrix(assembly.poses[k]) for k in parts}


def test_every_part_keeps_its_best_edge_only():
    T = world(4)
    scores = {(0, 1): 90.0, (1, 2): 50.0, (0, 2): 40.0, (2, 3): 30.0, (0, 3): 20.0, (1, 3): 10.0}
    edges = [edge(T, i, j, score) for (i, j), score in scores.items()]
    assembly = solve_paper(edges, [1, 2, 5, 1])
    assert {k.parts for k in assembly.joins if k.used} == {(0, 1), (1, 2), (2, 3)}
    assert assembly.groups == [[0, 1, 2, 3]]
    assert np.array_equal(assembly.poses[2], np.eye(4))  # the largest part is the anchor
    assert error(placed(assembly, range(4)), T) < 1e-9
    assert [k.parts for k in assembly.joins] == sorted(scores, key=lambda pair: -scores[pair])


def test_what_is_not_measured_is_not_claimed():
    T = world(2)
    (join,) = solve_paper([edge(T, 0, 1, 90.0)], [1, 1]).joins
    assert (join.confidence, join.contact_area, join.gap_rms, join.penetration) == (None, None, None, None)


def test_one_wrong_best_edge_is_believed():
    """That is what the comparison is about: nothing contradicts it, since nothing else is kept."""
    T = world(3)
    bad = Edge(1, 2, Pose.random(np.random.default_rng(9), spread=1.0), 60.0)
    assembly = solve_paper([edge(T, 0, 1, 90.0), bad, edge(T, 0, 2, 50.0)], [3, 2, 1])
    assert error(placed(assembly, range(3)), T) > 0.1


def test_the_graph_may_fall_apart():
    T = world(5)
    edges = [edge(T, 0, 1, 90.0), edge(T, 2, 3, 80.0), edge(T, 1, 2, 10.0), edge(T, 0, 3, 5.0)]
    assembly = solve_paper(edges, [1, 2, 3, 4, 9])
    assert assembly.groups == [[2, 3], [0, 1]]
    assert assembly.unplaced == [4]  # no edge at all
    assert all(np.array_equal(assembly.poses[k], np.eye(4)) for k in (1, 3, 4))


def test_an_edge_for_either_direction_is_averaged():
    """Both parts prefer each other: by the information as published, the inverse of the mass."""
    turn = Pose(np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]), np.array([1.0, 0, 0]))
    there, back = Edge(0, 1, turn, 50.0), Edge(1, 0, Pose(turn.R, np.array([0.0, -3, 0])).inverse(), 50.0)
    pose = Pose.from_matrix(solve_paper([there, back], [2, 1]).poses[1])
    assert np.allclose(pose.R, turn.R, atol=1e-6)
    assert len([k for k in solve_paper([there, back], [2, 1]).joins if k.used]) == 2


def test_order_of_edges_is_irrelevant():
    rng = np.random.default_rng(0)
    T = world(6)
    edges = [edge(T, i, j, rng.uniform(1, 9)) for i in range(6) for j in range(i + 1, 6)]
    first, second = solve_paper(edges, range(6)), solve_paper(edges[::-1], range(6))
    assert first.groups == second.groups
    assert np.allclose(first.poses, second.poses, atol=1e-9)


@pytest.mark.parametrize("scores", [[], [0.0, 0.0], [np.nan, 1.0], [1.0, 1.0]])
def test_anything_ends_in_an_assembly(scores):
    T = world(3)
    edges = [edge(T, 0, 1 + n, score) for n, score in enumerate(scores)]
    assembly = solve_paper(edges, [1.0, 2.0, 3.0])
    assert sorted([k for group in assembly.groups for k in group] + assembly.unplaced) == [0, 1, 2]
    assert np.isfinite(assembly.poses).all()


def test_three_equal_scores_make_a_loop():
    T = world(3)
    assembly = solve_paper([edge(T, 0, 1, 5.0), edge(T, 1, 2, 5.0), edge(T, 0, 2, 5.0)], [3, 2, 1])
    assert error(placed(assembly, range(3)), T) < 1e-6
