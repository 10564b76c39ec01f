"""The whole way: take apart, ask an assembler, judge."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cmnet.evaluation.cases import assembly_case
from cmnet.evaluation.methods import assembled, chance
from cmnet.evaluation.predictions import Settings, read_predictions, write_predictions
from cmnet.evaluation.protocol import complete, predict, score
from cmnet.evaluation.tables import make_rows
from cmnet.geometry.pose import Pose

NAME = "everyday/Bar/a/fractured_0"


def judge(obj, parts, method, seed=0):
    case = partial(assembly_case, load=lambda name: parts)
    predictions = list(predict([obj], {"m": lambda: method}, seed, make_case=case))
    (result,) = score([obj], predictions, ("m",), seed, assembly_case)
    return result


def shift(*t):
    return Pose(np.eye(3), np.array(t, dtype=float))


def test_a_perfect_assembly(make_bricks, sample, knowing) -> None:
    parts = make_bricks(5)
    s = judge(sample(parts), parts, assembled(knowing(parts)))
    assert max(s.crd, s.cd, s.rmse_r, s.rmse_t, s.geodesic_r) < 1e-9
    assert s.pa_crd == s.pa_cd == s.placed == s.within_5 == 100
    assert (s.pieces, s.unplaced, s.joins, s.joins_right) == (5, 0, 4, 4)


def test_the_assembler_sees_all_parts_moved_and_shuffled(make_bricks, sample, knowing) -> None:
    parts = make_bricks(6)
    seen = []

    class Looking(knowing):
        def assemble(self, parts, **told):
            seen.extend(parts)
            return super().assemble(parts)

    judge(sample(parts), parts, assembled(Looking(parts)))
    assert sorted(part.name for part in seen) == [part.name for part in parts]
    assert [part.name for part in seen] != [part.name for part in parts]
    for part in seen:
        assert np.linalg.norm(part.vertices.mean(axis=0)) > 1e-3  # not even their centres tell anything


def test_the_world_frame_of_the_assembly_is_irrelevant(make_bricks, sample, knowing) -> None:
    parts = make_bricks(4)
    off = {"brick_0": shift(0, 0.2, 0)}
    plain = judge(sample(parts), parts, assembled(knowing(parts, off=off)))

    class Elsewhere(knowing):
        def assemble(self, parts, **told):
            assembly = super().assemble(parts)
            T = Pose.random(np.random.default_rng(1), 3)
            return replace(assembly, poses=np.array([T.matrix() @ pose for pose in assembly.poses]))

    moved = judge(sample(parts), parts, assembled(Elsewhere(parts, off=off)))
    assert vars(replace(moved, seconds=0)) == pytest.approx(vars(replace(plain, seconds=0)))


def test_order_and_pose_in_which_the_parts_enter_do_not_matter(make_bricks, sample, knowing) -> None:
    """Other seeds shuffle and move otherwise; only the Euler error depends on the frame of the anchor."""
    parts = make_bricks(4)
    off = {"brick_0": Pose(Rotation.from_rotvec([0.3, 0, 0]).as_matrix(), np.array([0, 0.2, 0]))}
    results = [vars(judge(sample(parts), parts, assembled(knowing(parts, off=off)), seed)) for seed in range(3)]
    for result in results:
        result.update(rmse_r=0, rmse_r_all=0, seconds=0)
    assert results[0] == pytest.approx(results[1])
    assert results[0] == pytest.approx(results[2])


def test_a_misplaced_part_costs_its_share(make_bricks, sample, knowing) -> None:
    parts = make_bricks(4)
    s = judge(sample(parts), parts, assembled(knowing(parts, off={"brick_1": shift(0, 0.2, 0)})))
    assert s.pa_crd == 75
    assert s.placed == 100
    assert s.crd == pytest.approx(100 * 0.2 / 4, rel=0.3)  # of about as many points as the others
    assert s.rmse_t == pytest.approx(100 * 0.2 / np.sqrt(3) / 3)
    assert s.joins_right < s.joins == 3


def test_parts_outside_the_anchors_group_are_judged_on_the_middle_of_it(make_bricks, sample, knowing) -> None:
    parts = make_bricks(4)
    groups = [["brick_0", "brick_1"], ["brick_2", "brick_3"]]
    s = judge(sample(parts), parts, assembled(knowing(parts, groups=groups)))
    assert (s.unplaced, s.placed, s.pa_crd) == (2, 50, 50)
    assert (s.joins, s.joins_right) == (2, 2)  # joins of other groups count, too
    assert 0 < s.crd < 100


def test_nothing_placed_is_as_bad_as_guessing(make_bricks, sample, knowing) -> None:
    parts = make_bricks(5)
    nothing = judge(sample(parts), parts, assembled(knowing(parts, groups=[])))
    assert (nothing.placed, nothing.pa_crd, nothing.joins) == (20, 20, 0)  # the anchor is given
    guessed = [judge(sample(parts), parts, chance(seed)) for seed in range(8)]
    assert {s.placed for s in guessed} == {100}
    assert np.mean([s.pa_crd for s in guessed]) < 40


def test_complete_lays_means_on_the_mean_of_what_is_placed() -> None:
    rng = np.random.default_rng(0)
    parts = [rng.random((n, 3)) for n in (10, 20, 30)]
    poses = np.array([np.eye(4), Pose.random(rng, 1).matrix(), np.full((4, 4), np.nan)])
    placed = np.array([True, True, False])
    done = complete(parts, poses, placed)
    np.testing.assert_array_equal(done[:2], poses[:2])
    middle = np.concatenate([Pose.from_matrix(T).apply(x) for T, x in zip(poses[:2], parts)]).mean(axis=0)
    np.testing.assert_allclose(Pose.from_matrix(done[2]).apply(parts[2]).mean(axis=0), middle)
    np.testing.assert_array_equal(done[2, :3, :3], np.eye(3))


def test_joins_survive_the_file(tmp_path, make_bricks, sample, knowing) -> None:
    parts = make_bricks(4)
    obj, settings = sample(parts), Settings("somewhere", task="assembly", solver="robust")
    method = assembled(knowing(parts, off={"brick_0": shift(0, 0.2, 0)}))
    case = partial(assembly_case, load=lambda name: parts)
    predictions = list(predict([obj], {"m": lambda: method}, make_case=case))
    write_predictions(tmp_path / "p.jsonl", settings, predictions)
    again = read_predictions(tmp_path / "p.jsonl", settings)
    assert score([obj], again, ("m",), 0, assembly_case) == score([obj], predictions, ("m",), 0, assembly_case)


def test_rows_pool_joins_and_count_whole_objects(make_bricks, sample, knowing) -> None:
    good, bad = make_bricks(3), make_bricks(5)
    scores = [
        judge(sample(good, "s/a/f"), good, assembled(knowing(good))),
        judge(sample(bad, "s/b/f"), bad, assembled(knowing(bad, off={"brick_4": shift(0, 0.5, 0)}))),
    ]
    row = make_rows(scores)[0]
    assert row.joins == 2 + 4
    assert row.precision == pytest.approx(100 * sum(s.joins_right for s in scores) / 6)
    assert row.whole == 50
    assert row.pa_crd_low <= row.pa_crd <= row.pa_crd_high
