"""What is left over is sought with patience: by all that suggests a pose, and settled in two ways."""

from dataclasses import replace

import numpy as np

from cmnet.geometry.pose import Pose
from cmnet.pairing import two_looks
from cmnet.pairing.pair import Candidate
from cmnet.pairing.two_looks import examine_twice, seek
from cmnet.settings import COARSE


def moved(T, surface):
    """Units by which a pose moves the middle of a part."""
    middle = surface.T_part_surface.t
    return np.linalg.norm(T.apply(middle) - middle) / surface.unit


def test_the_place_is_found_and_believed(halves):
    budget = replace(COARSE.budget, holes=replace(COARSE.budget.holes, kept=4))  # to save time
    close = tuple(replace(part, scale=replace(COARSE, budget=budget)) for part in halves)
    found = seek(close, tuple(halves))
    assert moved(found[0].T_i_j, halves[1]) < 0.003
    assert found[0].confidence > 0.9
    assert sum(pose.confidence for pose in found) <= 1


def test_patience_never_makes_a_pose_less_sure(halves):
    seen, rng = tuple(halves), np.random.default_rng(0)
    for _ in range(4):
        T = Pose(np.eye(3), 0.02 * halves[0].unit * rng.normal(size=3))
        (hasty,), (patient,) = (examine_twice(seen, seen, [T], patient) for patient in (False, True))
        assert patient.logit >= hasty.logit


def test_whatever_suggests_a_pose_is_asked_and_all_of_it_is_examined(halves, monkeypatch):
    """Each by the look that it was found in: holes and candidates by both, reliefs closely."""
    close, far = tuple(halves), tuple(replace(part, unit=2 * part.unit) for part in halves)
    seen = {id(close[0]): 1, id(far[0]): 2}
    shift = lambda a, x: Pose(np.eye(3), np.array([x, 0.0, 0.0]) * seen[id(a)])  # noqa: E731
    holes = lambda a, b: [shift(a, 5)]  # noqa: E731
    shown = lambda a, b, learned: [Candidate(T, None, 0.0) for T in [*learned, shift(a, 3)]]  # noqa: E731
    monkeypatch.setattr(two_looks, "propose_in_holes", holes)
    monkeypatch.setattr(two_looks, "candidates", shown)
    monkeypatch.setattr(two_looks, "of_like_relief", lambda a, b: [shift(a, 4)])
    monkeypatch.setattr(two_looks, "pose_of_parts", lambda a, b, T: T)
    monkeypatch.setattr(two_looks, "pose_of_surfaces", lambda a, b, T: T)
    monkeypatch.setattr(two_looks, "examine_twice", lambda *args, patient: (*args, patient))
    assert seek(close, far, [shift(close[0], 9)])[:2] == (close, far)
    *_, poses, patient = seek(close, far, [shift(close[0], 9)])
    assert patient
    assert sorted(T.t[0] for T in poses) == [3, 4, 5, 6, 9, 9, 9, 10]
