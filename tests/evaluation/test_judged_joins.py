from functools import partial

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cmnet.evaluation.cases import assembly_case
from cmnet.evaluation.judged_joins import SHIFT, TURN, judge_joins
from cmnet.geometry.pose import Pose
from cmnet.pairing.join import Join


@pytest.fixture
def case(make_bricks, sample):
    return assembly_case(sample(make_bricks(4)), 0)


def truth(case, i, j):
    return Pose.from_matrix(case.truth[i]).inverse() @ Pose.from_matrix(case.truth[j])


def pairs(case):
    p = len(case.parts)
    return [(i, j) for i in range(p) for j in range(p) if i != j]


join = partial(Join, confidence=0.5, contact_area=0, gap_rms=0, penetration=0)


def test_true_joins_are_right_either_way_round(case) -> None:
    for judged in judge_joins(case, [join(ij, truth(case, *ij)) for ij in pairs(case)]):
        assert judged.right
        assert judged.turn < 1e-9
        assert judged.shift < 1e-9


@pytest.mark.parametrize(("share", "right"), [(0.95, True), (1.05, False)])
def test_the_limits_of_shift_and_turn(case, share, right) -> None:
    shift = Pose(np.eye(3), np.array([0, 0, share * SHIFT * case.size]))
    turn = Pose(Rotation.from_rotvec([np.radians(share * TURN), 0, 0]).as_matrix(), np.zeros(3))
    areas = [points.area for points in case.puzzle.points]
    for i, j in pairs(case):
        moved = judge_joins(case, [join((i, j), truth(case, i, j) @ shift)])[0]
        # A part that enters turned about its own centre moves only if it is the one that is held.
        turned = judge_joins(case, [join((i, j), truth(case, i, j) @ turn)])[0]
        assert moved.shift == pytest.approx(share * SHIFT)
        assert moved.right == right
        assert turned.turn == pytest.approx(share * TURN)
        if areas[j] < areas[i]:
            assert turned.shift < 1e-9
            assert turned.right == right


def test_a_join_and_its_inverse_are_judged_alike(case) -> None:
    rng = np.random.default_rng(0)
    for i, j in pairs(case):
        T = truth(case, i, j) @ Pose.random(rng, 0.1)
        a, b = judge_joins(case, [join((i, j), T), join((j, i), T.inverse())])
        assert (a.turn, a.shift) == pytest.approx((b.turn, b.shift))


def test_joins_name_the_parts_of_the_fracture(case) -> None:
    (judged,) = judge_joins(case, [join((0, 2), truth(case, 0, 2), used=True)])
    assert judged.parts == (case.parts[0], case.parts[2])
    assert judged.used
