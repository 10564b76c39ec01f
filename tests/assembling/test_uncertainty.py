"""How exactly parts lie against the one that stays."""

import numpy as np
import pytest
from manifold3d import Manifold

from breaking import prepared, rough_half_space, to_part
from cmnet.assembling.uncertainty import with_uncertainties
from cmnet.geometry.pose import Pose
from cmnet.pairing.join import Join
from cmnet.pairing.judge.evidence import verify
from cmnet.pairing.judge.uncertainty import uncertainty_of
from cmnet.pairing.surface.frames import pose_of_surfaces
from cmnet.solving.assembly import Assembly


@pytest.fixture(scope="module")
def row():
    """The surfaces of a bar in four parts, one after the other, in their places."""
    rng, left, parts = np.random.default_rng(3), Manifold.cube([0.4, 0.3, 2.0], True), []
    for height in (-0.4, 0.0, 0.4):
        knife = rough_half_space(rng).translate([0.0, 0.0, height])
        parts.append(left ^ knife)
        left = left - knife
    return prepared([to_part(f"part {k}", part) for k, part in enumerate([*parts, left])])


def placed(row, T=None, group=(0, 1, 2, 3), joins=None, **told):
    T = T or [Pose.identity()] * len(row)
    touching = [(i, i + 1) for i in range(3) if {i, i + 1} <= set(group)]
    joins = joins or [Join(pair, T[0], 0.9 - 0.1 * pair[0], 1.0, 0.0, 0.0, used=True) for pair in touching]
    poses = np.array([pose.matrix() for pose in T])
    out = [k for k in range(len(row)) if k not in group]
    return with_uncertainties(Assembly(poses, [list(group)], out, list(joins)), row, **told)


def between(row, i, j):
    T = pose_of_surfaces(row[i], row[j], Pose.identity())
    return uncertainty_of(row[i], row[j], T, verify(row[i], row[j], T))


def test_it_grows_along_a_chain(row):
    assembly = placed(row)
    steps = [between(row, k, k + 1).covariance for k in range(3)]  # parts in their places have the same coordinates
    for k in range(4):
        np.testing.assert_allclose(assembly.covariances[k], sum(steps[:k], np.zeros((6, 6))), rtol=1e-5, atol=1e-15)
    lengths = [known.length for known in assembly.uncertainties]
    assert lengths[0] == 0 < lengths[1] < lengths[2] < lengths[3]


def test_who_stays_is_told_and_both_ends_hold_the_middle(row):
    one, both = placed(row, fixed=[3]), placed(row, fixed=[0, 3])
    assert one.uncertainties[3].length == 0 < one.uncertainties[0].length
    assert [known.degrees == 0 for known in both.uncertainties] == [True, False, False, True]
    assert both.uncertainties[1].length < one.uncertainties[1].length
    assert both.uncertainties[2].length < placed(row).uncertainties[2].length


def test_where_the_group_stands_does_not_matter(row):
    away = Pose.random(np.random.default_rng(4), 100.0)
    here, there = placed(row, fixed=[0]), placed(row, [away] * 4, fixed=[0])
    A = away.adjoint()
    for k in range(4):
        assert there.uncertainties[k].length == pytest.approx(here.uncertainties[k].length, rel=1e-3)
        expected = A @ here.covariances[k] @ A.T
        np.testing.assert_allclose(there.covariances[k], expected, rtol=1e-3, atol=1e-6 * np.abs(expected).max())


def test_nobody_knows_of_parts_that_are_not_placed_or_that_nothing_holds(row):
    assembly = placed(row, group=(0, 1, 3))
    assert [known is None for known in assembly.uncertainties] == [False, False, True, True]
    assert np.isnan(assembly.covariances[2:]).all()
    assert np.isfinite(assembly.covariances[:2]).all()


def test_a_join_of_another_look_holds_what_this_one_does_not_see(row):
    near = between(row, 0, 1)
    join = Join((0, 3), Pose.identity(), 0.9, 1.0, 0.0, 0.0, used=True, uncertainty=near)
    assembly = placed(row, group=(0, 3), joins=[join])
    np.testing.assert_allclose(assembly.covariances[3], near.covariance, rtol=1e-6, atol=1e-15)


def test_an_assembly_of_parts_says_it(row):
    assert np.isnan(Assembly(np.tile(np.eye(4), (2, 1, 1)), [], [0, 1], []).covariances).all()
