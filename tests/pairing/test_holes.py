"""A part goes where a group has left its breaks open, and is surer of it if it is known to belong there."""

from dataclasses import replace

import numpy as np
import pytest

from cmnet.geometry.pose import Pose
from cmnet.pairing.candidates import candidates
from cmnet.pairing.confidence import confidences, where_it_belongs
from cmnet.pairing.holes import belonging, propose_in_holes
from cmnet.pairing.hypotheses import poses_of
from cmnet.pairing.touching import lying_on, on_breaks
from cmnet.pairing.verify import verify


def test_breaks_lie_on_breaks_in_the_first_pose_and_it_is_the_true_one(halves, truth):
    a, b = halves
    found = propose_in_holes(a, b, 8)
    assert 0 < len(found) <= 8
    assert found[0].angle_to(truth) < 3
    np.testing.assert_array_equal(found[0].R, propose_in_holes(a, b, 8)[0].R)


def test_what_is_proposed_turns_with_the_part(halves, motion):
    """The surface in another frame: the same place."""
    a, b = halves
    R = Pose(motion.R, np.zeros(3))
    turned = replace(b, points=R.apply(b.points), normals=R.rotate(b.normals), probes=R.apply(b.probes))
    here, there = propose_in_holes(a, b, 1)[0], propose_in_holes(a, turned, 1)[0] @ R
    assert here.angle_to(there) < 3
    np.testing.assert_allclose(here.t, there.t, atol=0.02)


def test_only_what_is_open_counts(halves, truth):
    """Of a's samples those count that lie on its breaks: none, and nothing lies on any."""
    a, b = halves
    poses, samples = poses_of([truth]), on_breaks(b, 300)
    everything, nothing = np.ones(len(a.dense), dtype=np.float32), np.zeros(len(a.dense), dtype=np.float32)
    whole = lying_on(a, poses, samples, 0.01, everything)
    assert whole > 0
    assert lying_on(a, poses, samples, 0.01, nothing) == 0
    np.testing.assert_allclose(lying_on(a, poses, samples, 0.01, 0.5 * everything), 0.5 * whole, rtol=1e-5)


def test_where_nobody_says_what_is_broken_or_nothing_is_there_are_no_holes(bar, halves):
    a, b = halves
    assert propose_in_holes(*bar, 8) == []
    assert propose_in_holes(a, replace(b, broken=np.zeros_like(b.broken)), 8) == []
    assert propose_in_holes(replace(a, broken=np.zeros_like(a.broken)), b, 8) == []


def test_two_that_belong_together_find_each_other_in_either_order(halves, truth):
    a, b = halves
    found, swapped = belonging(a, b), belonging(b, a)
    assert found[0].T_a_b.angle_to(truth) < 1
    assert swapped[0].T_a_b.angle_to(truth.inverse()) < 1
    assert [c.confidence for c in found] == pytest.approx([c.confidence for c in swapped], abs=1e-3)
    assert found[0].confidence > 0.9
    assert sum(c.confidence for c in found) <= 1


def test_to_be_known_to_belong_makes_the_unsure_surer_and_changes_no_order(halves, truth):
    a, b = halves
    worn = replace(verify(a, b, truth), rim=0.0, relief=0.0, grip=0.0)
    evidence = [replace(worn, closure=closure) for closure in (0.0, 0.1, 0.2)]
    before, after = confidences(evidence), where_it_belongs(evidence)
    assert before.max() < 0.5
    assert after.max() > before.max()
    np.testing.assert_array_equal(np.argsort(before), np.argsort(after))


def test_without_the_network_nothing_is_known_of_what_belongs(bar):
    evidence = [c.evidence for c in candidates(*bar)]
    np.testing.assert_array_equal(where_it_belongs(evidence), confidences(evidence))
