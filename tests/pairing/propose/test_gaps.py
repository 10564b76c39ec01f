"""A part goes where a group has left its breaks open, and is surer of it if it is known to belong there."""

from dataclasses import replace

import numpy as np

from breaking import fitted
from cmnet.geometry.pose import Pose
from cmnet.pairing.judge.confidence import shares, where_it_belongs
from cmnet.pairing.propose.breaks import lying_on, on_breaks
from cmnet.pairing.propose.creases import poses_of
from cmnet.pairing.propose.gaps import propose_in_holes


def test_breaks_lie_on_breaks_in_the_first_pose_and_it_is_the_true_one(halves, truth):
    a, b = halves
    found = propose_in_holes(a, b)
    assert 0 < len(found) <= a.scale.budget.holes.kept
    assert found[0].angle_to(truth) < 3
    np.testing.assert_array_equal(found[0].R, propose_in_holes(a, b)[0].R)


def test_what_is_proposed_turns_with_the_part(halves, motion):
    """The surface in another frame: the same place."""
    a, b = halves
    R = Pose(motion.R, np.zeros(3))
    turned = replace(b, points=R.apply(b.points), normals=R.rotate(b.normals), probes=R.apply(b.probes))
    here, there = propose_in_holes(a, b)[0], propose_in_holes(a, turned)[0] @ R
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
    assert propose_in_holes(*bar) == []
    assert propose_in_holes(a, replace(b, broken=np.zeros_like(b.broken))) == []
    assert propose_in_holes(replace(a, broken=np.zeros_like(a.broken)), b) == []


def test_the_order_of_the_two_parts_does_not_matter(halves):
    """The smaller part is sought in the holes of the larger one."""
    a, b = halves
    for one, other in zip(propose_in_holes(a, b), propose_in_holes(b, a), strict=True):
        np.testing.assert_allclose(other.inverse().matrix(), one.matrix(), atol=1e-9)


def test_to_be_known_to_belong_makes_the_unsure_surer_and_changes_no_order():
    scores = [-6.0, -3.0, -1.5]
    before, after = shares(np.array(scores)), where_it_belongs(scores, fitted().belonging)
    assert before.max() < 0.5
    assert max(after) > before.max()
    assert sum(after) <= 1
    np.testing.assert_array_equal(np.argsort(before), np.argsort(after))
    assert where_it_belongs([], fitted().belonging) == []
