from dataclasses import replace

import numpy as np
import pytest

from cmnet.data.augment import Augmentation
from cmnet.data.exercises import Drawing, ExerciseDataset, Ordered, Shuffled, draw_exercise
from cmnet.data.objects import FolderObjects, sample_object

from .conftest import box

WORSE = Augmentation(noise=0.002, tilt=0.1, thinning=0.6, chips=1.0)


@pytest.fixture
def bar(bars):
    return sample_object("bar", bars, 2500)


def draw(obj, seed=0, **settings):
    return draw_exercise(obj, np.random.default_rng(seed), Drawing(**settings))


def equal(a, b):
    same = a.name == b.name and len(a.fragments) == len(b.fragments) and len(a.pairs) == len(b.pairs)
    same = same and all(np.array_equal(x.points, y.points) for x, y in zip(a.fragments, b.fragments, strict=True))
    return same and all(np.array_equal(x.matches, y.matches) for x, y in zip(a.pairs, b.pairs, strict=True))


@pytest.mark.parametrize("scale", ["area", "given"])
@pytest.mark.parametrize("normals", [True, False])
@pytest.mark.parametrize("worse", [Augmentation(), replace(WORSE, noise=0)])
def test_the_true_pose_brings_the_matches_together(bar, scale, normals, worse):
    settings = {"positive_radius": 0.05, "normals": normals, "scale": scale, "augmentation": worse, "pairs": 4}
    exercise = draw(bar, **settings)
    assert len(exercise.pairs) == 2
    assert len(exercise.fragments) == 3
    for pair in exercise.pairs:
        p, q = exercise.fragments[pair.p], exercise.fragments[pair.q]
        i, j = pair.matches.T
        assert len(i) > 20
        gaps = np.linalg.norm(pair.T_q_p.apply(p.points)[i] - q.points[j], axis=1)
        assert gaps.max() < 0.05 + 1e-5
        if normals and worse.tilt == 0:
            assert np.einsum("kc,kc->k", pair.T_q_p.rotate(p.normals)[i], q.normals[j]).max() < -0.5
        assert p.points.dtype == q.normals.dtype == np.float32
        assert pair.matches.dtype == np.int64
        assert np.abs(p.points.mean(axis=0)).max() < 1e-5


def test_a_break_is_where_any_part_touches_not_only_the_other_of_the_pair(bar):
    """The middle of three bars breaks at both ends, whichever of its neighbours it is paired with."""
    exercise = draw(bar, positive_radius=0.05)
    [pair] = exercise.pairs
    middle = exercise.fragments[pair.p if exercise.name.startswith("bar:1") else pair.q]
    ends = np.zeros(len(middle.points), dtype=bool)
    ends[pair.matches[:, 0 if exercise.name.startswith("bar:1") else 1]] = True
    assert middle.breaking[ends].all()
    assert 1.6 * ends.sum() < middle.breaking.sum() < 2.6 * ends.sum()
    assert 0.15 < middle.breaking.mean() < 0.35  # two of the 8 unit squares of its surface


def test_pairs_apart_have_no_match(bar):
    exercises = [draw(bar, seed, pairs=3, apart=1.0) for seed in range(5)]
    assert all(len(exercise.pairs[1].matches) == 0 for exercise in exercises)
    assert all(len(exercise.pairs[0].matches) > 0 for exercise in exercises)


def test_the_unit_makes_the_scale_of_the_files_irrelevant(bars):
    small, large = (
        sample_object("bar", [box(p.name, f * p.vertices.min(0), f * p.vertices.max(0)) for p in bars], 1500)
        for f in (1.0, 1000.0)
    )
    a, b, given = draw(small), draw(large), draw(small, scale="given")
    assert np.allclose(a.fragments[0].points, b.fragments[0].points, atol=1e-6)
    assert np.allclose(a.pairs[0].T_q_p.matrix(), b.pairs[0].T_q_p.matrix())
    assert b.unit == pytest.approx(1000 * a.unit)
    assert given.unit == 1
    assert np.allclose(given.fragments[0].points, a.fragments[0].points * a.unit, atol=1e-6)


@pytest.mark.parametrize("choice", ["random", "most-touching"])
def test_parts_far_apart_give_a_pair_without_matches(choice, bars):
    obj = sample_object("bar", [bars[0], box("far", (9, 9, 9), (10, 10, 10))], 1000)
    exercise = draw(obj, choice=choice, pairs=3)
    assert exercise.pairs[0].matches.shape == (0, 2)
    assert exercise.pieces == 2
    assert not any(fragment.breaking.any() for fragment in exercise.fragments)


def test_a_pair_that_touches_between_the_samples_teaches_nothing(bar):
    """No sample of two touching parts lies within so small a radius; that they have no match would be a lie."""
    exercise = draw(bar, positive_radius=1e-9, pairs=4, apart=0.5)
    assert len(exercise.pairs) == 1
    assert set(exercise.name.split(":")[1].split(",")) & {"0-2", "2-0"}


@pytest.fixture
def source(bar_root, tmp_path):
    return FolderObjects(bar_root, pieces=(2, 3), total_points=700, cache=tmp_path / "cache")


def test_an_item_depends_on_seed_and_number_alone(source):
    drawing = Drawing(pairs=3, augmentation=WORSE)

    def stream(seed):
        return ExerciseDataset(Shuffled(source, seed), seed, drawing)

    first = [stream(3)[i] for i in range(10)]
    assert all(equal(stream(3)[i], first[i]) for i in (7, 2, 9))
    assert not equal(stream(4)[9], first[9])


def test_every_pass_of_the_stream_visits_every_object_in_a_new_order(source):
    stream = Shuffled(source, seed=0)
    passes = [[stream[4 * e + k].name for k in range(4)] for e in range(6)]
    assert {tuple(sorted(p)) for p in passes} == {tuple(f"bars/{k}/fractured_0" for k in range(4))}
    assert len({tuple(p) for p in passes}) > 2


def test_objects_in_order_are_finite(source):
    fixed = ExerciseDataset(Ordered(source), 0, Drawing(choice="most-touching"))
    assert [p.name.split(":")[0] for p in fixed] == [f"bars/{k}/fractured_0" for k in range(4)]
    assert [p.name.split(":")[1] for p in fixed][1:] == ["0-1"] * 3
    for wrong in (4, -1):
        with pytest.raises(IndexError):
            fixed[wrong]


def test_a_lookalike_adds_a_pair_without_matches_and_changes_nothing_else(bar, bars):
    settings = {"positive_radius": 0.05, "pairs": 4, "apart": 0.5}
    plain, more = draw(bar, **settings), draw(replace(bar, lookalike=sample_object("bar", bars, 2500, 1)), **settings)
    *others, stranger = more.pairs
    assert equal(plain, replace(more, fragments=more.fragments[:-1], pairs=tuple(others)))
    assert stranger.q == len(more.fragments) - 1
    assert stranger.p < stranger.q
    assert len(stranger.matches) == 0
    assert more.fragments[-1].breaking.any()  # it was broken off something, if not off this


def test_networks_are_judged_without_lookalikes(bar):
    assert equal(draw(bar, choice="most-touching"), draw(replace(bar, lookalike=bar), choice="most-touching"))
