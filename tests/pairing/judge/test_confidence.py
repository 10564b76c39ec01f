"""What is seen of a pose, weighed by name."""

from dataclasses import replace

import numpy as np
import pytest

from breaking import fitted
from cmnet.geometry.pose import Pose
from cmnet.judgement import GEOMETRY, NAMES, Judgement
from cmnet.pairing.judge.confidence import (
    features,
    features_belonging,
    features_twice,
    logit,
    logit_twice,
    where_it_belongs,
)
from cmnet.pairing.judge.evidence import verify
from cmnet.pairing.surface.combined import combine
from cmnet.pairing.surface.frames import pose_of_surfaces


@pytest.fixture(scope="module")
def said(egg):
    return replace(verify(*egg, pose_of_surfaces(*egg, Pose.identity())), broken=0.9)


def test_what_is_seen_has_the_names_of_the_tables(said):
    assert tuple(features(said)) == NAMES["one_look"]
    assert tuple(features(replace(said, broken=None))) == tuple(GEOMETRY.one_look)
    assert tuple(features_twice(said, said, 10.0, fitted())) == NAMES["two_looks"]
    assert tuple(features_belonging(1.0)) == NAMES["belonging"]


def test_the_log_odds_are_the_sum_of_products_by_name(said):
    seen = features(said)
    assert logit(said, fitted()) == pytest.approx(sum(seen[k] * v for k, v in fitted().one_look.items()))
    assert logit(said, GEOMETRY) == pytest.approx(sum(seen[k] * v for k, v in GEOMETRY.one_look.items()))


def test_the_order_of_a_table_changes_not_even_the_last_bit(said):
    tables = {kind: dict(reversed(getattr(fitted(), kind).items())) for kind in NAMES}
    turned = Judgement(**tables)
    assert logit(said, turned) == logit(said, fitted())
    assert logit_twice(said, said, 10.0, turned) == logit_twice(said, said, 10.0, fitted())
    assert where_it_belongs([-1.0, 2.0], turned.belonging) == where_it_belongs([-1.0, 2.0], fitted().belonging)


def test_without_tables_of_the_network_geometry_judges_whatever_is_said_of_breaks(said):
    unsaid = replace(said, broken=None)
    assert logit(said, GEOMETRY) == logit(unsaid, GEOMETRY) == logit(unsaid, fitted()) != logit(said, fitted())
    assert logit_twice(said, unsaid, 10.0, GEOMETRY) == logit_twice(said, said, 10.0, GEOMETRY) == logit(said, GEOMETRY)


def test_a_group_is_judged_as_its_parts_are(halves, egg):
    places = [Pose.identity(), Pose.identity()]
    assert combine(halves, places).judgement is fitted()
    assert combine(egg, places).judgement is GEOMETRY
    unfitted = combine([replace(part, judgement=GEOMETRY) for part in halves], places)
    assert unfitted.judgement is GEOMETRY
    np.testing.assert_array_equal(unfitted.broken, combine(halves, places).broken)
