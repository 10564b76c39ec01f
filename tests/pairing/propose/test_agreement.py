"""The compiled loops say what the definition says."""

import numpy as np
import pytest

from cmnet.geometry.pose import Pose
from cmnet.pairing.propose.agreement import crease_agreement, summed_agreement
from cmnet.pairing.propose.creases import poses_of
from cmnet.pairing.surface.creases import complement
from cmnet.pairing.surface.frames import pose_of_surfaces

NEAR = 0.02


def plainly(a, b, T, which):
    """Weight and partner of each crease in one pose, straight from the definition."""
    moved = T.apply(b.creases.points[which]).astype(np.float32)
    partner = a.crease_of[a.box.voxel(moved)].astype(int)
    known = partner < len(a.creases)
    partner = np.where(known, partner, 0)
    squared = ((moved - a.creases.points[partner]) ** 2).sum(axis=1) / NEAR**2
    fit = complement(a.creases.normals[partner], T.rotate(b.creases.normals[which].reshape(-1, 3)).reshape(-1, 2, 3))
    return np.where(known & (squared <= 3) & (fit > 0.88), np.exp(-squared), 0), partner


@pytest.fixture
def poses(bar):
    a, b = bar
    rng = np.random.default_rng(0)
    truth = pose_of_surfaces(a, b, Pose.identity())
    return [truth, *(Pose(truth.R, truth.t + 0.01 * rng.standard_normal(3)) for _ in range(4)), Pose.random(rng, 9.0)]


def test_weights_are_those_of_the_definition(bar, poses):
    a, b = bar
    which = np.arange(0, len(b.creases), 3)
    several = poses_of(poses)
    weight, partner = crease_agreement(a, b, several, which, NEAR)
    for k, T in enumerate(poses):
        expected, at = plainly(a, b, T, which)
        np.testing.assert_allclose(weight[k], expected, atol=1e-3)
        np.testing.assert_array_equal(partner[k][expected > 0], at[expected > 0])
    assert weight[0].sum() > 5
    assert weight[-1].sum() == 0  # far outside the box


def test_sums_are_sums_of_weights(bar, poses):
    a, b = bar
    several = poses_of(poses)
    rows = np.arange(len(poses)) % len(b.around)
    total = summed_agreement(a, b, several, b.around, rows, NEAR)
    each = [crease_agreement(a, b, several[k : k + 1], b.around[row], NEAR)[0].sum() for k, row in enumerate(rows)]
    np.testing.assert_allclose(total, each, atol=1e-5)
