import numpy as np
import pytest

from cmnet.geometry.pose import Pose
from cmnet.pairing.join import Join
from cmnet.report.percent import percent
from cmnet.report.viewer_text import headline, steps
from cmnet.solving.assembly import Assembly


def assembly(groups, unplaced, *joins):
    poses = np.stack([Pose.random(np.random.default_rng(k)).matrix() for k in range(8)])
    for group in groups:
        poses[group[0]] = np.eye(4)
    made = [Join(parts, Pose.identity(), p, 1.0, 0.0, 0.0, used) for parts, p, used in joins]
    return Assembly(poses, groups, unplaced, made)


NAMES = [f"piece_{k}" for k in range(8)]


def test_parts_come_along_the_surest_joins_and_are_as_sure_as_the_weakest_link():
    made = assembly(
        [[1, 0, 2]], [3], ((0, 1), 0.7, True), ((1, 2), 0.9, True), ((0, 2), 0.8, True), ((0, 3), 1.0, False)
    )
    order = steps(made)
    assert [step.part for step in order] == [1, 2, 0]
    assert [step.join for step in order] == [None, 1, 2]
    assert [step.sure for step in order] == [None, 0.9, 0.8]


def test_where_nobody_knows_how_sure_a_join_is_the_page_says_so():
    made = assembly([[1, 0, 2]], [], ((0, 1), None, True), ((1, 2), 0.9, True))
    assert [(step.join, step.sure) for step in steps(made)] == [(None, None), (1, 0.9), (0, None)]
    assert headline(made, NAMES[:3]) == "All 3 parts placed in one group; how sure that is, is unknown."


def test_parts_without_a_join_still_come():
    assert [(step.part, step.join) for step in steps(assembly([[0, 1]], []))] == [(0, None), (1, None)]


def test_headlines():
    one = assembly([[0, 1, 2]], [3], ((0, 1), 0.99, True), ((1, 2), 0.93, True))
    assert headline(one, NAMES[:4]) == (
        "3 of 4 parts placed in one group; the weakest join that holds it together is 93 % sure; "
        "piece_3 fits nowhere we are sure of."
    )
    assert headline(assembly([[0, 1]], [], ((0, 1), 0.999, True)), NAMES[:2]) == (
        "Both parts placed in one group; the join that holds them together is over 99 % sure."
    )
    two = assembly([[0, 1], [2, 3]], [4, 5], ((0, 1), 0.8, True), ((2, 3), 0.7, True))
    assert headline(two, NAMES[:6]) == (
        "4 of 6 parts placed in 2 groups; the weakest join that holds them together is 70 % sure; "
        "piece_4 and piece_5 fit nowhere we are sure of."
    )
    nothing = headline(assembly([], list(range(8))), NAMES)
    assert nothing == "None of the 8 parts could be placed; 8 parts fit nowhere we are sure of."


@pytest.mark.parametrize(
    ("p", "text"), [(0.0, "under 1 %"), (0.5, "50 %"), (0.986, "99 %"), (1.0, "over 99 %"), (None, "unknown")]
)
def test_nothing_is_certain(p, text):
    assert percent(p) == text
