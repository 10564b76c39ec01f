"""Refinement finds back to the true place; evidence tells it from wrong ones."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from cmnet.geometry.pose import Pose
from cmnet.geometry.trees import nearest_few
from cmnet.judgement import GEOMETRY
from cmnet.pairing.align.icp import refine
from cmnet.pairing.judge.confidence import confidences, logit
from cmnet.pairing.judge.evidence import _extents, _look_around, _side, verify
from cmnet.pairing.surface.frames import pose_of_surfaces
from cmnet.pairing.surface.surface import prepare, unit_of

PAIRS = ["bar", "bowl"]


def disturbed(T, degrees, shift, seed=0):
    """T after a small turn about its own centre and a small shift."""
    rng = np.random.default_rng(seed)
    axis, direction = rng.standard_normal((2, 3))
    x, y, z = np.radians(degrees) * axis / np.linalg.norm(axis)
    small = np.linalg.qr(np.eye(3) + np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]))[0]
    small = small * np.sign(np.diag(small))
    return Pose(small @ T.R, T.t + shift * direction / np.linalg.norm(direction))


@pytest.fixture
def pair(request):
    a, b = request.getfixturevalue(request.param)
    return a, b, pose_of_surfaces(a, b, Pose.identity())


@pytest.mark.parametrize("pair", PAIRS, indirect=True)
@pytest.mark.parametrize("seed", range(3))
def test_refinement_finds_back(pair, seed):
    a, b, truth = pair
    found = refine(a, b, refine(a, b, disturbed(truth, 3.0, 0.005, seed), a.scale.budget.rough))
    assert found.angle_to(truth) < 0.1
    assert np.linalg.norm(found.t - truth.t) < 0.001


@pytest.mark.parametrize("pair", PAIRS, indirect=True)
def test_the_true_place_shows_a_closed_rim_and_no_penetration(pair):
    a, b, truth = pair
    evidence = verify(a, b, truth)
    assert evidence.closure > 0.8
    assert evidence.gap < 0.001
    assert evidence.depth < 0.01
    assert evidence.inside < 0.001
    assert evidence.hold > 1e-3


@pytest.mark.parametrize("pair", PAIRS, indirect=True)
def test_evidence_is_the_same_from_either_side(pair):
    a, b, truth = pair
    one, other = verify(a, b, truth), verify(b, a, truth.inverse())
    for name in ("rim", "closure", "contact", "gap", "near", "inside", "depth"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("pair", PAIRS, indirect=True)
def test_wrong_places_are_less_likely(pair):
    a, b, truth = pair
    right = logit(verify(a, b, truth), GEOMETRY)
    for k in range(4):
        assert logit(verify(a, b, disturbed(truth, 15, 0.05, k)), GEOMETRY) < right - 2


def test_pushed_into_each_other_parts_penetrate(bar):
    a, b = bar
    truth = pose_of_surfaces(a, b, Pose.identity())
    towards = truth.t / np.linalg.norm(truth.t)
    evidence = verify(a, b, Pose(truth.R, truth.t - 0.05 * towards))
    assert evidence.inside > 0.01
    assert 0.02 < evidence.depth < 0.08


def test_what_lies_beyond_the_voxels_reach_is_not_inside(bar_parts):
    """Parts that are large in units have large voxels, of which those far from the surface know nothing."""
    a, b = (prepare(part, unit_of(bar_parts) / 6) for part in bar_parts)
    assert a.box.size > 0.03
    side = _side(a, b, pose_of_surfaces(a, b, Pose.identity()))
    assert side.touching.any()
    assert len(side.depths) < 0.05 * side.touching.sum()


def test_far_apart_nothing_touches(bar):
    a, b = bar
    evidence = verify(a, b, Pose(np.eye(3), np.array([10.0, 0, 0])))
    assert (evidence.rim, evidence.contact, evidence.inside, evidence.closure, evidence.relief) == (0, 0, 0, 0, 0)


def test_relief_and_width_are_of_the_contact_wherever_it_lies():
    rng = np.random.default_rng(2)
    sheet = rng.uniform(-0.5, 0.5, (4000, 3)) * [6.0, 3.0, 0.0]
    wavy = sheet + [0.0, 0.0, 0.1] * np.sin(9 * sheet[:, :1])
    flat, relief = (_extents(Pose.random(rng, 2.0).apply(points)) for points in (sheet, wavy))
    assert flat == pytest.approx((0.0, 3 / np.sqrt(12), 6 / np.sqrt(12)), rel=0.03, abs=1e-6)
    assert relief[0] == pytest.approx(0.1 / np.sqrt(2), rel=0.03)
    assert relief[1:] == pytest.approx(flat[1:], rel=0.01)
    assert _extents(sheet[:5]) == (0, 0, 0)


def test_what_samples_meet_is_what_the_definition_says():
    rng = np.random.default_rng(5)
    points, x = rng.uniform(0, 0.03, (60, 3)), rng.uniform(0, 0.03, (40, 3))
    normals, n = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in rng.standard_normal((2, 60, 3)))
    distance, index = nearest_few(cKDTree(points), x, 5, 0.012)
    partner, near = np.empty(40, dtype=np.int64), np.empty(40, dtype=bool)
    height, depth = np.empty(40), np.empty(40)
    _look_around(x, n[:40], distance, index, points, normals, -0.6, 0.003, 0.01, 0.025, partner, near, height, depth)
    assert 3 < (partner >= 0).sum() < 37
    assert not np.isfinite(distance).all()
    for i in range(40):
        around = index[i][np.isfinite(distance[i])]
        up = np.einsum("kc,kc->k", x[i] - points[around], normals[around])
        facing = normals[around] @ n[i] < -0.6
        far = np.linalg.norm(x[i] - points[around], axis=1)
        touching = around[facing & (far < 0.01) & (np.abs(up) < 0.003)]
        assert partner[i] == (touching[0] if len(touching) else -1)
        assert near[i] == (facing & (far < 0.025)).any()
        assert depth[i] == pytest.approx(min(-up) if len(up) and (up < 0).all() else 0.0)


def test_confidences_are_shared_among_equals(bowl):
    a, b = bowl
    evidence = verify(a, b, pose_of_surfaces(a, b, Pose.identity()))
    alone, twice = (confidences(shown, GEOMETRY) for shown in ([evidence], [evidence] * 2))
    assert alone[0] > 0.9
    assert twice[0] == pytest.approx(twice[1])
    assert twice.sum() < 1
    assert len(confidences([], GEOMETRY)) == 0
