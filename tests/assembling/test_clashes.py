"""What parts that run into each other say against a pose, and how that is told."""

import numpy as np
import pytest

import cmnet
from breaking import broken, solid_bar
from cmnet.geometry.pose import Pose
from cmnet.geometry.sampling import sample_faces
from cmnet.pairing.join import Join
from cmnet.pairing.surface.surface import prepare, unit_of
from cmnet.parts.part import Part
from states import clashes, solved, state_of


@pytest.fixture(scope="module")
def bar():
    return broken(solid_bar(), np.random.default_rng(1))


def as_clouds(parts, noise, count=8000, seed=0):
    rng = np.random.default_rng(seed)
    drawn = [sample_faces(part.triangles, count, rng) for part in parts]
    return [
        Part(part.name, xyz + noise * rng.standard_normal(xyz.shape), normals=n) for part, (xyz, n) in zip(parts, drawn)
    ]


def pushed(parts, depth):
    """T_0_1 with part 1 pushed so far into part 0."""
    towards = parts[0].vertices.mean(axis=0) - parts[1].vertices.mean(axis=0)
    return Pose(np.eye(3), depth * towards / np.linalg.norm(towards))


@pytest.mark.parametrize("noise", [0.0, 0.002])
def test_clouds_in_their_places_do_not_run_into_each_other(bar, noise):
    clouds = as_clouds(bar, noise)
    surfaces = [prepare(cloud, unit_of(clouds)) for cloud in clouds]
    against = clashes(surfaces)
    assert against(0, 1, Pose.identity()) == 0
    assert against(0, 1, pushed(bar, 0.2)) > 20


def test_a_deeper_overlap_says_more(bar):
    surfaces = [prepare(part, unit_of(bar)) for part in bar]
    said = [clashes(surfaces)(0, 1, pushed(bar, depth)) for depth in (0.0, 0.02, 0.05, 0.2)]
    assert said[0] == 0
    assert said == sorted(said)
    assert said[-1] > said[1]


def test_a_join_that_is_sure_enough_outweighs_a_slight_overlap(bar):
    surfaces = [prepare(part, unit_of(bar)) for part in bar]
    depth = next(d for d in np.linspace(0, 0.2, 100) if clashes(surfaces)(0, 1, pushed(bar, d)) > 1)
    against = clashes(surfaces)(0, 1, pushed(bar, depth))
    likely, sure = (Join((0, 1), pushed(bar, depth), p, 0.1, 0.0, 0.0) for p in (0.6, 1 / (1 + np.exp(-against - 1))))
    assert against > np.log(0.6 / 0.4)
    assert not solved(state_of(surfaces, [likely])).groups
    assert solved(state_of(surfaces, [sure])).groups == [[0, 1]]


def test_what_is_refused_is_said_with_part_place_and_depth(bar):
    surfaces = [prepare(part, unit_of(bar)) for part in bar]
    join = Join((0, 1), pushed(bar, 0.2), 0.9, 0.1, 0.0, 0.0)
    assembly = solved(state_of(surfaces, [join]))
    (refused,) = assembly.refused
    assert refused.parts == refused.inside == (0, 1)
    assert 0.5 * 0.2 < refused.depth < 1.5 * 0.2
    low, high = bar[0].vertices.min(axis=0), bar[0].vertices.max(axis=0)
    assert ((refused.place > low) & (refused.place < high)).all()
    assert "part 0 and part 1 are kept apart" in assembly.notes[0]
    assert "90%" in assembly.notes[0]


def test_nothing_is_refused_where_nothing_overlaps(bar):
    surfaces = [prepare(part, unit_of(bar)) for part in bar]
    join = Join((0, 1), Pose.identity(), 0.6, 0.1, 0.0, 0.0)
    assembly = solved(state_of(surfaces, [join]), accept=0.8)
    assert (assembly.groups, assembly.refused) == ([], [])


def test_noisy_clouds_come_together(bar):
    clouds = as_clouds(bar, 0.002)
    T = Pose.random(np.random.default_rng(3), spread=1.0)
    assembly = cmnet.assemble([clouds[0], clouds[1].moved(T)])
    assert assembly.groups == [[0, 1]]
    places = [Pose.from_matrix(pose) for pose in assembly.poses]
    assert (places[0].inverse() @ places[1] @ T).angle_to(Pose.identity()) < 2
