import numpy as np
import pytest
import torch
from assertions import bumpy

from cmnet.geometry.pose import Pose
from cmnet.model.network import CMNet, Matches
from cmnet.training.batches import ExerciseTensors, FragmentTensors, PairTensors
from cmnet.training.figures import Figures, average_precision


def test_average_precision_by_hand():
    truth = torch.tensor([True, False, True, False])
    assert average_precision(torch.tensor([0.9, 0.1, 0.8, 0.2]), truth) == 1
    assert average_precision(torch.tensor([0.9, 0.8, 0.7, 0.1]), truth) == pytest.approx((1 + 2 / 3) / 2)
    assert average_precision(torch.tensor([0.1, 0.9, 0.2, 0.8]), truth) == pytest.approx((1 / 3 + 2 / 4) / 2)


def test_true_matches_get_full_marks_and_wrong_ones_none(monkeypatch):
    """The network's matches replaced by those of a copy of the part, judged by its true place and by another."""
    torch.manual_seed(0)
    small = {"widths": (2, 3, 4, 5), "features": 6, "descriptor": 8, "attention": 4}
    net = CMNet.from_preset("cmnet-base", **small).eval()
    points, normals = bumpy(200, 1, torch.float32)
    T = Pose.random(np.random.default_rng(0), spread=1.0)
    T_q_p = torch.from_numpy(T.matrix()).float()
    moved = points @ T_q_p[:3, :3].T + T_q_p[:3, 3]
    breaking = net.describe(points, normals).breaking > 0.5
    breaking[0] = True
    parts = [FragmentTensors(x, normals, breaking) for x in (points, moved)]
    attention = torch.ones(8), torch.ones(8)
    matches = Matches(torch.arange(200).repeat(2, 1).T, torch.ones(200), torch.zeros(201, 201), attention)
    monkeypatch.setattr(net, "match", lambda p, q: matches)
    other = T_q_p @ torch.diag(torch.tensor([1.0, -1.0, -1.0, 1.0]))
    found = {}
    for name, truth in (("right", T_q_p), ("wrong", other)):
        figures = Figures()
        figures.add(net, ExerciseTensors(0, 0, parts, [PairTensors(0, 1, truth, matches.indices)]))
        found[name] = figures.summary()
    assert found["right"]["within_5"] == found["right"]["within_10"] == found["right"]["inliers"] == 100
    assert found["right"]["geodesic"] < 0.1
    assert found["wrong"]["inliers"] < 10
    assert found["wrong"]["within_10"] == 0
    assert 0 < found["right"]["break_precision"] <= 100
