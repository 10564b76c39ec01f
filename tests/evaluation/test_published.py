"""The paper's protocol: its figures, its references, its fractures."""

from functools import partial

import numpy as np
import pytest

from cmnet.evaluation.cases import assembly_case
from cmnet.evaluation.methods import assembled, identity
from cmnet.evaluation.oracle import Oracle, mates
from cmnet.evaluation.protocol import measure, predict, score
from cmnet.evaluation.tables import make_rows
from cmnet.geometry.pose import Pose


def judge(objects, method):
    predictions = list(predict(objects, {"m": lambda: method}, make_case=assembly_case))
    return score(objects, predictions, ("m",), make_case=assembly_case)


def test_identity_scores_what_the_paper_prints_for_methods_that_learn_nothing(make_bar) -> None:
    """Where the mean of 1/n is .355 as on its lists: R of about 53.5° and an accuracy of 35.5 %, the anchor's."""
    counts = [*[2] * 114, *[3] * 90, *[4] * 48, *[6] * 45, *[20] * 3]
    assert np.mean([1 / n for n in counts]) == pytest.approx(0.355, abs=0.001)
    scores = judge([make_bar(f"everyday/{k}/x", n, n=6) for k, n in enumerate(counts)], identity)
    row = make_rows(scores)[0]
    assert row.rmse_r_all == pytest.approx(53.5, abs=2)
    assert row.rmse_r == pytest.approx(83, abs=3)
    assert row.pa_crd == pytest.approx(35.5, abs=0.3)
    assert row.pa_crd_earned == pytest.approx(0, abs=0.3)


def test_the_anchor_earns_nothing() -> None:
    rng = np.random.default_rng(0)
    parts = [rng.random((30, 3)) for _ in range(4)]
    truth = np.array([np.eye(4), *(Pose.random(rng, 1).matrix() for _ in range(3))])
    poses = truth.copy()
    poses[2:] = [Pose.random(rng, 1).matrix() for _ in range(2)]
    errors = measure(parts, poses, truth, 0)
    assert (errors.pa_crd, errors.pa_crd_earned) == (50, pytest.approx(100 / 3))
    assert (errors.pa_cd, errors.pa_cd_earned) == (50, pytest.approx(100 / 3))
    back = [[Pose.from_matrix(T).inverse().matrix() for T in some] for some in (poses, truth)]
    turned = measure(parts, np.array(back[0]), np.array(back[1]), 0)
    assert errors.rmse_r_all == pytest.approx(turned.rmse_r * 3 / 4)  # the anchor's zero counts
    assert errors.rmse_t_all == pytest.approx(turned.rmse_t * 3 / 4)


def test_mating_points_are_those_near_another_part() -> None:
    rng = np.random.default_rng(0)
    left, right = rng.random((2, 4000, 3)) * [0.5, 1, 1] + [[[0.0, 0, 0]], [[0.5, 0, 0]]]
    found = mates([left, right, left + 9], 0.05)
    assert {pair for pair, (rows, _) in found.items() if len(rows)} == {(0, 1), (1, 0)}
    rows, nearest = found[0, 1]
    assert (left[rows, 0] > 0.45).all()
    assert (np.linalg.norm(left[rows] - right[nearest], axis=1) < 0.05).all()
    assert len(rows) > 0.9 * (left[:, 0] > 0.48).sum()


def test_crd_of_mating_points_sees_a_hinge_as_small() -> None:
    """A part that turns about its break leaves mating points where they are, and takes all others away."""
    rng = np.random.default_rng(0)
    parts = [rng.random((3000, 3)) * [1, 0.02, 0.1] + [x, 0, 0] for x in (-1, 0)]
    c, s = np.cos(1.0), np.sin(1.0)
    hinge = np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    errors = measure(parts, np.array([np.eye(4), hinge]), np.tile(np.eye(4), (2, 1, 1)), 0)
    assert errors.crd_mating < errors.crd / 5
    apart = measure([parts[0] - 5, parts[1]], np.array([np.eye(4), hinge]), np.tile(np.eye(4), (2, 1, 1)), 0)
    assert apart.crd_mating is None


def test_true_matches_put_together_what_the_best_edges_connect(make_bricks, sample) -> None:
    two, six = judge([sample(make_bricks(n), f"everyday/Bar/{n}/x") for n in (2, 6)], Oracle())
    assert two.pa_crd_earned == 100
    assert 0 < two.geodesic_r < 10  # samples of the two sides differ, so that it is near the truth, but not on it
    assert six.pa_crd == six.placed < 100  # a chain of mutual favourites falls apart


def test_every_figure_has_an_interval_around_it(make_bricks, sample, knowing) -> None:
    scores = []
    for k in range(4):
        parts = make_bricks(3 + k)
        off = {"brick_1": Pose(np.eye(3), np.array([0, 0.2 * k, 0]))}
        obj, case = sample(parts, f"everyday/Bar/{k}/x"), partial(assembly_case, load=lambda name, parts=parts: parts)
        method = assembled(knowing(parts, off=off))
        scores += score(
            [obj], list(predict([obj], {"m": lambda m=method: m}, make_case=case)), ("m",), 0, assembly_case
        )
    row = make_rows(scores)[0]
    assert {"crd", "cd", "rmse_r_all", "rmse_t", "pa_crd_earned", "precision", "whole"} <= row.intervals.keys()
    for name, (low, high) in row.intervals.items():
        assert low - 1e-9 <= getattr(row, name) <= high + 1e-9, name
    assert row.intervals["pa_crd"] == (row.pa_crd_low, row.pa_crd_high)
    assert row.intervals["crd"][0] < row.intervals["crd"][1]
    assert row.intervals["precision"][0] < 100
