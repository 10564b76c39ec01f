import numpy as np
import pytest

from cmnet.data.objects import SampledObject, sample_object
from cmnet.data.pairs import choose_pairs, true_matches
from cmnet.errors import InputError
from cmnet.parts.points import Points

from .conftest import box


def one(obj, seed, choice="random"):
    [pair] = choose_pairs(obj, np.random.default_rng(seed), choice)
    return pair


@pytest.fixture
def wide(bars):
    """b touches d over 1.5, a and c over 1; a and d touch along an edge only, a and c not at all."""
    return sample_object("bar", [*bars, box("d", (0.5, 0, 1), (2, 1, 1.5))], 4000)


def test_the_target_is_what_the_source_touches_most(wide):
    assert {one(wide, s) for s in range(40)} == {(0, 1), (1, 3), (2, 1), (3, 1)}
    assert {one(wide, s, "most-touching") for s in range(5)} == {(3, 1)}


def test_further_pairs_are_different_and_touch_unless_asked_otherwise(wide):
    drawn = [choose_pairs(wide, np.random.default_rng(s), count=6) for s in range(20)]
    for pairs in drawn:
        assert len({frozenset(pair) for pair in pairs}) == len(pairs)
        assert all(wide.contact[pair] > 0 for pair in pairs)
    assert {frozenset(pair) for pairs in drawn for pair in pairs} >= {frozenset((1, k)) for k in (0, 2, 3)}


def test_pairs_apart_do_not_touch(wide):
    for s in range(20):
        first, *further = choose_pairs(wide, np.random.default_rng(s), count=4, apart=1.0)
        assert wide.contact[first] > 0
        assert further
        assert all(wide.contact[pair] == 0 and pair[0] != pair[1] for pair in further)


def test_a_part_that_touches_nothing_is_never_the_source(bars):
    obj = sample_object("bar", [bars[0], bars[1], box("far", (9, 9, 9), (10, 10, 10))], 1500)
    assert {one(obj, s) for s in range(20)} == {(0, 1), (1, 0)}


def test_one_part_is_no_pair():
    points = Points(np.eye(3), np.eye(3), 1.0)
    with pytest.raises(InputError, match="alone has 1 part"):
        choose_pairs(SampledObject("alone", (points,), np.zeros((1, 1)), 1.0), np.random.default_rng(0))


def test_matches_by_hand():
    up, down = np.array([0, 0, 1.0]), np.array([0, 0, -1.0])
    p = Points(np.array([[0, 0, 0], [1.0, 0, 0]]), np.stack([up, up]), 1.0)
    q = Points(np.array([[0.05, 0, 0], [0, 0, 0.09], [0, 0.05, 0], [1, 0, 0]]), np.stack([down, down, up, down]), 1.0)
    assert true_matches(p, q, 0.1, normals=False).tolist() == [[0, 0], [0, 1], [0, 2], [1, 3]]
    assert true_matches(p, q, 0.1).tolist() == [[0, 0], [1, 3]]  # 1 lies too high, 2 faces the same way
