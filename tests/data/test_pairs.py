import numpy as np
import pytest

from cmnet.data.objects import FolderObjects, SampledObject, sample_object
from cmnet.data.pairs import PairDataset, draw_pair, true_matches
from cmnet.errors import InputError
from cmnet.parts.points import Points

from .conftest import box


@pytest.fixture
def bar(bars):
    return sample_object("bar", bars, 2500)


def equal(a, b):
    arrays = ("points_p", "normals_p", "points_q", "normals_q", "matches")
    return a.name == b.name and all(np.array_equal(getattr(a, k), getattr(b, k)) for k in arrays)


@pytest.mark.parametrize("scale", ["area", "given"])
@pytest.mark.parametrize("normals", [True, False])
def test_the_true_pose_brings_the_matches_together(bar, scale, normals):
    pair = draw_pair(bar, np.random.default_rng(0), positive_radius=0.05, normals=normals, scale=scale)
    i, j = pair.matches.T
    assert len(i) > 50
    gaps = np.linalg.norm(pair.T_q_p.apply(pair.points_p)[i] - pair.points_q[j], axis=1)
    assert gaps.max() < 0.05 + 1e-5
    if normals:
        assert np.einsum("kc,kc->k", pair.T_q_p.rotate(pair.normals_p)[i], pair.normals_q[j]).max() < -0.5
    assert pair.points_p.dtype == pair.normals_q.dtype == np.float32
    assert pair.matches.dtype == np.int64
    assert np.abs(pair.points_p.mean(axis=0)).max() < 1e-5


def test_the_unit_makes_the_scale_of_the_files_irrelevant(bars):
    small, large = (
        sample_object("bar", [box(p.name, f * p.vertices.min(0), f * p.vertices.max(0)) for p in bars], 1500)
        for f in (1.0, 1000.0)
    )
    a, b = (draw_pair(obj, np.random.default_rng(0)) for obj in (small, large))
    assert np.allclose(a.points_p, b.points_p, atol=1e-6)
    assert np.allclose(a.T_q_p.matrix(), b.T_q_p.matrix())
    assert b.unit == pytest.approx(1000 * a.unit)
    given = draw_pair(small, np.random.default_rng(0), scale="given")
    assert given.unit == 1
    assert np.allclose(given.points_p, a.points_p * a.unit, atol=1e-6)


def test_the_target_is_what_the_source_touches_most(bars):
    wide = [*bars, box("d", (0.5, 0, 1), (2, 1, 1.5))]  # b touches d over 1.5, a and c over 1
    obj = sample_object("bar", wide, 4000)
    names = {draw_pair(obj, np.random.default_rng(s)).name for s in range(40)}
    assert names == {"bar:0-1", "bar:1-3", "bar:2-1", "bar:3-1"}
    assert {draw_pair(obj, np.random.default_rng(s), "most-touching").name for s in range(5)} == {"bar:3-1"}


def test_a_part_that_touches_nothing_is_never_the_source(bars):
    obj = sample_object("bar", [bars[0], bars[1], box("far", (9, 9, 9), (10, 10, 10))], 1500)
    assert {draw_pair(obj, np.random.default_rng(s)).name for s in range(20)} == {"bar:0-1", "bar:1-0"}


@pytest.mark.parametrize("source", ["random", "most-touching"])
def test_parts_far_apart_give_a_pair_without_matches(source, bars):
    obj = sample_object("bar", [bars[0], box("far", (9, 9, 9), (10, 10, 10))], 1000)
    pair = draw_pair(obj, np.random.default_rng(0), source)
    assert pair.matches.shape == (0, 2)
    assert pair.pieces == 2


def test_one_part_is_no_pair():
    points = Points(np.eye(3), np.eye(3), 1.0)
    with pytest.raises(InputError, match="alone has 1 part"):
        draw_pair(SampledObject("alone", (points,), np.zeros((1, 1)), 1.0), np.random.default_rng(0))


def test_matches_by_hand():
    up, down = np.array([0, 0, 1.0]), np.array([0, 0, -1.0])
    p = Points(np.array([[0, 0, 0], [1.0, 0, 0]]), np.stack([up, up]), 1.0)
    q = Points(np.array([[0.05, 0, 0], [0, 0, 0.09], [0, 0.05, 0], [1, 0, 0]]), np.stack([down, down, up, down]), 1.0)
    assert true_matches(p, q, 0.1, normals=False).tolist() == [[0, 0], [0, 1], [0, 2], [1, 3]]
    assert true_matches(p, q, 0.1).tolist() == [[0, 0], [1, 3]]  # 1 lies too high, 2 faces the same way


@pytest.fixture
def source(bar_root, tmp_path):
    return FolderObjects(bar_root, pieces=(2, 3), total_points=700, cache=tmp_path / "cache")


def test_an_item_depends_on_seed_and_number_alone(source):
    stream = PairDataset(source, seed=3)
    first = [stream[i] for i in range(10)]
    assert all(equal(stream[i], first[i]) for i in (7, 2, 9))
    again = PairDataset(source, seed=3)
    assert equal(again[9], first[9])
    assert not equal(PairDataset(source, seed=4)[9], first[9])


def test_every_pass_of_the_stream_visits_every_object_in_a_new_order(source):
    stream = PairDataset(source, seed=0)
    assert len(stream) == 4
    passes = [[stream[4 * e + k].name.split(":")[0] for k in range(4)] for e in range(6)]
    assert {tuple(sorted(p)) for p in passes} == {tuple(f"bars/{k}/fractured_0" for k in range(4))}
    assert len({tuple(p) for p in passes}) > 2


def test_the_fixed_set_is_one_most_touching_pair_an_object(source):
    fixed = PairDataset(source, seed=0, mode="fixed")
    assert [p.name.split(":")[0] for p in fixed] == [f"bars/{k}/fractured_0" for k in range(4)]
    assert [p.name.split(":")[1] for p in fixed][1:] == ["0-1"] * 3
    assert equal(fixed[2], PairDataset(source, seed=0, mode="fixed")[2])
    with pytest.raises(IndexError):
        fixed[4]
    with pytest.raises(IndexError):
        fixed[-1]
