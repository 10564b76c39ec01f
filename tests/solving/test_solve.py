"""Fragments in, assembly out, by geometry alone."""

import numpy as np
import pytest

import cmnet
from breaking import broken as broken_in_two
from breaking import solid_bar
from cmnet.data.fracture import fracture
from cmnet.data.shapes import make_shape
from cmnet.errors import InputError
from cmnet.geometry.pose import Pose
from cmnet.pairing.join import Join
from cmnet.pairing.surface.surface import prepare, unit_of
from cmnet.settings import COARSE, FIRST
from cmnet.solving.constraints import FORMAT, load_constraints
from states import clashes, solved, state_of


@pytest.fixture(scope="module")
def broken():
    """The parts of a broken vase, each moved at random, and T_moved_true of each."""
    rng = np.random.default_rng(1)
    parts = fracture(make_shape("vase", rng), 3, rng, "weakest", min_volume=0.1).parts
    T = [Pose.random(rng, spread=1.0) for _ in parts]
    return [part.moved(T_k) for part, T_k in zip(parts, T, strict=True)], T


@pytest.fixture(scope="module")
def told():
    """What was told of the progress of the assembly."""
    return []


@pytest.fixture(scope="module")
def assembly(broken, told):
    return cmnet.assemble(broken[0], progress=lambda stage, done, total: told.append((stage, done, total)))


def errors(assembly, parts, T):
    """Of every part, how far its vertices lie from their true places, seen from the first group's largest part."""
    anchor = next(k for k in assembly.groups[0] if np.array_equal(assembly.poses[k], np.eye(4)))
    true = [T[anchor] @ T_k.inverse() for T_k in T]
    moved = [Pose.from_matrix(pose) for pose in assembly.poses]
    return [
        np.linalg.norm(a.apply(p.vertices) - b.apply(p.vertices), axis=1).mean() for a, b, p in zip(moved, true, parts)
    ]


def test_a_broken_vase_is_put_together(broken, assembly):
    assert assembly.groups == [[0, 1, 2]]
    assert assembly.unplaced == []
    assert max(errors(assembly, *broken)) < 0.01
    used = [join for join in assembly.joins if join.used]
    assert len(used) >= 2
    assert all(0 <= join.confidence <= 1 for join in assembly.joins)


def test_order_pose_and_unit_of_the_parts_change_nothing(broken, assembly):
    parts, T = broken
    rng = np.random.default_rng(5)
    more = [Pose.random(rng, spread=1.0) for _ in parts]
    order = [2, 0, 1]
    again = [parts[k].moved(more[k]) for k in order]
    scaled = [cmnet.Part(part.name, 1000 * part.vertices, part.faces) for part in again]
    other = cmnet.assemble(scaled)
    assert other.groups == [[0, 1, 2]]
    unit = [cmnet.Part(part.name, part.vertices / 1000, part.faces) for part in scaled]
    poses = other.poses.copy()
    poses[:, :3, 3] /= 1000
    other = cmnet.Assembly(poses, other.groups, other.unplaced, other.joins)
    here, there = errors(assembly, parts, T), errors(other, unit, [more[k] @ T[k] for k in order])
    assert max(abs(here[k] - e) for k, e in zip(order, there)) < 1e-3


def test_a_foreign_piece_stays_out(broken):
    parts = broken[0][:2]
    rng = np.random.default_rng(7)
    stranger = fracture(make_shape("stone", rng), 2, rng, "weakest", min_volume=0.2).parts[1]
    assembly = cmnet.assemble([*parts, stranger])
    assert assembly.groups == [[0, 1]]
    assert assembly.unplaced == [2]


def test_two_scans_of_one_part_do_not_lie_in_the_same_place(broken):
    parts, T = broken
    unit = unit_of(parts)
    surfaces = [prepare(part, unit) for part in (parts[0], parts[0], parts[1])]
    against = clashes(surfaces)
    assert against(0, 1, Pose.identity()) > 30
    assert against(0, 2, T[0] @ T[1].inverse()) == 0


def test_joins_of_a_coarser_look_may_be_a_little_inexact():
    """Two parts pushed into each other by a little are apart as far as a coarse look can tell; by more they are not."""
    parts = broken_in_two(solid_bar(), np.random.default_rng(1))
    unit = unit_of(parts)
    surfaces, coarse = ([prepare(part, unit, look) for part in parts] for look in (FIRST, COARSE))
    towards = parts[0].vertices.mean(axis=0) - parts[1].vertices.mean(axis=0)
    towards = unit * towards / np.linalg.norm(towards)

    def placed(depth, *scales):
        join = Join((0, 1), Pose(np.eye(3), depth * towards), 0.99, 0.1, 0.0, 0.0)
        return len(solved(state_of(surfaces, [join], coarse=coarse), scales=scales).groups) == 1

    assert [placed(depth, "first") for depth in (0.0, 0.01, 0.1)] == [True, False, False]
    assert [placed(depth, "coarse", "first") for depth in (0.0, 0.01, 0.1)] == [True, True, False]
    poses = [Pose(np.eye(3), depth * towards) for depth in (0.0, 0.01, 0.1)]
    for scales in ([coarse], [coarse, surfaces], [surfaces, coarse]):  # that one of them sees the parts apart is enough
        assert [clashes(*scales)(0, 1, pose) == 0 for pose in poses] == [
            True,
            True,
            False,
        ]


def test_one_part_is_refused(broken):
    with pytest.raises(InputError):
        cmnet.assemble(broken[0][:1])


def test_progress_is_told(assembly, told):
    names = [stage for stage, _, _ in told]
    assert list(dict.fromkeys(names))[:4] == ["descriptors", "matches", "surfaces", "joins"]
    assert all(1 <= done <= total for _, done, total in told)


def test_constraints_are_obeyed_on_surfaces(broken, assembly):
    parts, T = broken
    unit = unit_of(parts)
    surfaces = [prepare(part, unit) for part in parts]
    names = [part.name for part in parts]
    keys = {"fix": [{"part": 1, "pose": T[1].inverse().matrix().tolist()}], "different": [[0, 2]]}
    known = load_constraints({"format": FORMAT, **keys}, names)
    split = solved(state_of(surfaces, assembly.joins, known))
    assert not any({0, 2} <= set(group) for group in split.groups)
    assert np.allclose(split.poses[1], T[1].inverse().matrix())
    assert split.notes == []
    assert solved(state_of(surfaces, assembly.joins)).groups == [[0, 1, 2]]
