"""Several parts in their places, matched as one."""

import numpy as np
import pytest

from breaking import broken_twice, prepared, solid_egg
from cmnet.geometry.pose import Pose
from cmnet.pairing.pair import candidates
from cmnet.pairing.surface.combined import combine
from cmnet.pairing.surface.frames import pose_of_parts

HERE = Pose.identity()


@pytest.fixture(scope="module")
def quarters():
    return prepared(broken_twice(np.random.default_rng(4)))


def test_what_parts_cover_of_each_other_is_gone(quarters):
    whole = combine(quarters, [HERE] * 4)
    assert whole.area == pytest.approx(solid_egg().surface_area() / whole.unit**2, rel=0.08)
    assert whole.area < 0.8 * sum(s.area for s in quarters)
    assert len(whole.creases) < 0.1 * sum(len(s.creases) for s in quarters)  # an egg has no edges


def test_the_union_is_solid_where_its_members_are(quarters):
    whole = combine(quarters, [HERE] * 4)
    volume = (whole.signed < 0).sum() * (whole.box.size * whole.unit) ** 3
    assert volume == pytest.approx(solid_egg().volume(), rel=0.1)


def test_the_last_part_fits_into_the_others_wherever_they_stand(quarters):
    rng = np.random.default_rng(6)
    T = Pose.random(rng, 1.0)  # the group's frame need not be the assembled one
    group = combine(quarters[:3], [T] * 3)
    best = candidates(group, quarters[3])[0]
    assert best.confidence > 0.9
    assert pose_of_parts(group, quarters[3], best.T_a_b).angle_to(T) < 0.5


def test_one_part_alone_is_itself(quarters):
    alone = combine(quarters[:1], [HERE])
    assert alone.area == pytest.approx(quarters[0].area)
    assert len(alone.points) == len(quarters[0].points)
    assert len(alone.creases) == len(quarters[0].creases)
