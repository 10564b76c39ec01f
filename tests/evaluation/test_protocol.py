import logging
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cmnet.errors import InputError
from cmnet.evaluation.answers import Answer
from cmnet.evaluation.methods import chance, method_makers, pairwise
from cmnet.evaluation.protocol import measure, predict, score
from cmnet.geometry.pose import Pose


def judge(objects, method, seed=0):
    predictions = list(predict(objects, {"m": lambda: method}, seed))
    return score(objects, predictions, ("m",), seed)


def test_a_perfect_prediction(bars, make_oracle) -> None:
    scores = judge(bars, make_oracle(bars))
    assert [s.pieces for s in scores] == [3, 2, 2, 5]  # in the order of paths
    for s in scores:
        assert max(s.crd, s.cd, s.rmse_r, s.rmse_t, s.geodesic_r) < 1e-9
        assert s.pa_crd == s.pa_cd == 100
        assert s.unplaced == 0


def test_a_known_turn_and_shift_of_the_moved_part(bars, make_oracle) -> None:
    turn = Rotation.from_rotvec([0, 0, np.radians(20)]).as_matrix()
    for s in judge(bars, make_oracle(bars, Pose(turn, np.zeros(3)))):
        assert s.geodesic_r == pytest.approx(20)
        assert s.rmse_t < 1e-9  # parts enter centred, so turning one about its mean is no translation
    for s in judge(bars, make_oracle(bars, Pose(np.eye(3), np.array([0.0, 0.12, 0.16])))):
        assert s.crd == pytest.approx(100 * 0.2 / 2)  # both parts have as many points, the anchor's are right
        assert s.rmse_t == pytest.approx(100 * 0.2 / np.sqrt(3))
        assert s.geodesic_r < 1e-9
        assert s.pa_crd == 50


def test_measure_takes_any_number_of_parts() -> None:
    rng = np.random.default_rng(0)
    parts = [rng.random((n, 3)) for n in (10, 20, 30)]
    truth = np.array([np.eye(4), Pose.random(rng, 1).matrix(), Pose.random(rng, 1).matrix()])
    assert measure(parts, truth, truth, 0).pa_crd == 100
    poses = truth.copy()
    poses[2, :3, 3] += [0.3, 0, 0]
    errors = measure(parts, poses, truth, 0)
    assert errors.crd == pytest.approx(100 * 0.3 * 30 / 60)
    assert errors.rmse_t == pytest.approx(100 * 0.3 / np.sqrt(3) / 2)
    assert errors.pa_crd == pytest.approx(200 / 3)


def test_the_frame_of_the_anchor_matters_to_the_euler_error_only() -> None:
    rng = np.random.default_rng(1)
    parts = [rng.random((20, 3)) for _ in range(2)]
    poses, truth = (np.array([np.eye(4), Pose.random(rng, 0.1).matrix()]) for _ in range(2))
    here, there = vars(measure(parts, poses, truth, 0)), vars(_in_another_frame(parts, poses, truth, rng))
    for name in ("rmse_r", "rmse_r_all", "rmse_t_all"):  # as published, of T_part_anchor
        assert here.pop(name) != pytest.approx(there.pop(name), rel=1e-3)
    assert here == pytest.approx(there)


def _in_another_frame(parts, poses, truth, rng):
    T = Pose.random(rng, 1)
    return measure([T.apply(parts[0]), parts[1]], *(np.array([p[0], T.matrix() @ p[1]]) for p in (poses, truth)), 0)


def test_a_turned_thin_part_passes_pa_cd_but_not_pa_crd() -> None:
    rng = np.random.default_rng(0)
    disc = rng.standard_normal((400, 3)) * [0.3, 0.3, 0.001]
    turned = np.array([np.eye(4), np.diag([-1.0, -1, 1, 1])])
    errors = measure([disc, disc], turned, np.tile(np.eye(4), (2, 1, 1)), 0)
    assert (errors.pa_cd, errors.pa_crd) == (100, 50)


def test_the_order_of_the_objects_is_irrelevant(bars) -> None:
    def timeless(scores):
        return [replace(s, seconds=0) for s in scores]

    assert timeless(judge(bars, chance(0))) == timeless(judge(bars[::-1], chance(0)))


def test_chance_on_many_objects(make_bar) -> None:
    scores = judge([make_bar(f"everyday/{k}", n=8) for k in range(600)], chance(0))
    assert np.mean([s.geodesic_r for s in scores]) == pytest.approx(126.5, abs=3.5)
    assert np.mean([s.rmse_r for s in scores]) == pytest.approx(86.2, abs=3.5)


def test_chance_lays_the_mean_on_a_point_of_the_anchor(make_bar) -> None:
    (prediction,) = predict([make_bar()], {"chance": lambda: chance(0)})
    (seen,) = _puzzles([make_bar()])
    moved = Pose.from_matrix(prediction.poses[1 - prediction.anchor]).apply(seen.points[1 - seen.anchor].xyz.mean(0))
    assert np.linalg.norm(seen.points[seen.anchor].xyz - moved, axis=1).min() < 1e-12


def _puzzles(objects):
    seen = []
    list(predict(objects, {"m": lambda: lambda puzzle: seen.append(puzzle) or Answer(np.tile(np.eye(4), (2, 1, 1)))}))
    return seen


def test_pairwise_moves_the_smaller_part_to_the_anchor(make_bar) -> None:
    T = Pose.random(np.random.default_rng(0), 1.0)
    areas = []
    method = pairwise(lambda p, q, unit: areas.append((p.area, q.area, unit)) or T)
    (prediction,) = predict([make_bar()], {"m": lambda: method})
    assert areas == [(pytest.approx(1 / 3), pytest.approx(2 / 3), 1.0)]
    np.testing.assert_array_equal(prediction.poses[0], T.matrix())


def test_a_part_without_an_answer_counts_against_the_method(make_bar) -> None:
    nowhere = pairwise(lambda p, q, unit: Pose(np.full((3, 3), np.nan), np.zeros(3)))
    (s,) = judge([make_bar()], nowhere)
    assert s.unplaced == 1
    assert s.pa_crd == 50
    assert np.isfinite(s.crd)


def test_what_was_done_is_not_done_again_and_loads_nothing(bars) -> None:
    def never():
        raise AssertionError

    first = list(predict(bars, {"chance": lambda: chance(0)}))
    done = {(p.name, p.method) for p in first}
    assert not list(predict(bars, {"chance": never}, done=done))


def test_a_missing_prediction_is_an_error_not_a_smaller_mean(bars) -> None:
    predictions = list(predict(bars[:2], {"chance": lambda: chance(0)}))
    with pytest.raises(InputError, match="no prediction"):
        score(bars, predictions, ("chance",))


def test_predictions_of_changed_data_are_refused(bars, make_bar) -> None:
    predictions = list(predict(bars, {"chance": lambda: chance(0)}))
    changed = [make_bar(b.name, len(b.points), n=41) for b in bars]
    with pytest.raises(InputError, match="not the object it was"):
        score(changed, predictions, ("chance",))


def test_fractures_whose_parts_do_not_touch_are_left_out_with_a_word(bars, caplog) -> None:
    apart = replace(bars[2], contact=np.zeros((3, 3)))
    with caplog.at_level(logging.WARNING, "cmnet"):
        scores = judge([bars[0], apart], chance(0))
    assert len(scores) == 1
    assert apart.name in caplog.text


def test_an_unusual_size_is_mentioned(bars, caplog) -> None:
    big = replace(bars[0], points=tuple(replace(c, xyz=100 * c.xyz) for c in bars[0].points))
    with caplog.at_level(logging.WARNING, "cmnet"):
        judge([big], chance(0))
    assert "size" in caplog.text


def test_unknown_methods_are_named_with_the_choice() -> None:
    with pytest.raises(InputError, match="cmnet, chance"):
        method_makers("magic", "none")
    assert list(method_makers("cmnet", "none")) == ["cmnet", "chance"]
    assert list(method_makers("chance", "none")) == ["chance"]
    assert list(method_makers("cmnet", "none", protocol="paper")) == ["cmnet", "identity", "chance", "oracle"]
    assert list(method_makers("oracle", "none")) == ["oracle", "chance"]
