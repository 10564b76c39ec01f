import numpy as np
from scipy.spatial.distance import pdist

from cmnet.data.streams import stream
from cmnet.evaluation.cases import make_case, most_touching, pair_case
from cmnet.geometry.pose import Pose


def test_the_pair_that_touches_most() -> None:
    contact = np.zeros((4, 4))
    contact[1, 3] = contact[3, 1] = 2
    contact[0, 1] = contact[1, 0] = 1
    assert most_touching(contact) == (1, 3)
    assert most_touching(np.triu(contact)) == (1, 3)


def test_two_parts_are_a_pair_even_without_measured_contact() -> None:
    assert most_touching(np.zeros((2, 2))) == (0, 1)
    assert most_touching(np.zeros((3, 3))) is None
    assert most_touching(np.zeros((1, 1))) is None


def test_the_truth_puts_the_moved_parts_together_again(make_bar) -> None:
    obj = make_bar(pieces=5)
    case = make_case(obj, range(5), seed=1)
    placed = [Pose.from_matrix(T).apply(points.xyz) for T, points in zip(case.truth, case.puzzle.points)]
    assembled = [points.xyz for points in obj.points]
    np.testing.assert_allclose(pdist(np.concatenate(placed)), pdist(np.concatenate(assembled)), atol=1e-12)


def _rotation(a, b):
    U, _, Vt = np.linalg.svd((b - b.mean(0)).T @ (a - a.mean(0)))
    return U @ np.diag([1, 1, np.linalg.det(U @ Vt)]) @ Vt


def test_parts_enter_centred_with_their_normals_turned_along(make_bar) -> None:
    obj = make_bar()
    case = pair_case(obj, seed=0)
    for before, after in zip(obj.points, case.puzzle.points):
        np.testing.assert_allclose(after.xyz.mean(0), 0, atol=1e-12)
        R = _rotation(before.xyz, after.xyz)
        np.testing.assert_allclose(after.normals, before.normals @ R.T, atol=1e-12)
        assert np.linalg.norm(R - np.eye(3)) > 0.1


def test_the_anchor_is_the_larger_part(make_bar) -> None:
    case = pair_case(make_bar(pieces=4), seed=0)
    assert case.parts == (2, 3)
    assert case.puzzle.anchor == 1
    np.testing.assert_array_equal(case.truth[1], np.eye(4))


def test_entries_depend_on_name_and_seed_only(make_bar) -> None:
    a, again = pair_case(make_bar("x/a"), 3), pair_case(make_bar("x/a"), 3)
    np.testing.assert_array_equal(a.truth, again.truth)
    assert not np.allclose(a.truth, pair_case(make_bar("x/b"), 3).truth)
    assert not np.allclose(a.truth, pair_case(make_bar("x/a"), 4).truth)


def test_streams_of_different_purpose_differ() -> None:
    assert stream(0, "entry 0", "a").random() != stream(0, "chance", "a").random()
