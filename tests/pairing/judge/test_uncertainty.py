"""± says how far a pose may be off."""

from dataclasses import replace

import numpy as np
import pytest
from manifold3d import Manifold
from scipy.spatial.transform import Rotation

from breaking import prepared, to_part
from cmnet.geometry.cells import Cells
from cmnet.geometry.pose import Pose
from cmnet.pairing.align.icp import refine
from cmnet.pairing.judge.evidence import verify
from cmnet.pairing.judge.uncertainty import Uncertainty, uncertainty_of
from cmnet.pairing.pair import joins
from cmnet.pairing.surface.frames import pose_of_surfaces

NOISE = 3e-4  # units


def claimed(a, b, T_a_b=None):
    T = pose_of_surfaces(a, b, Pose.identity()) if T_a_b is None else T_a_b
    return uncertainty_of(a, b, T, verify(a, b, T))


def noisy(surface, rng, noise=NOISE):
    """The surface, each of its samples off on its own; without creases."""
    dense = surface.dense + noise * rng.standard_normal((len(surface.dense), 1)) * surface.dense_normals
    creases = surface.creases[np.zeros(0, dtype=np.int64)]
    cells = {"dense_cells": Cells.of(dense, 0.02), "crease_cells": Cells.of(creases.points, 0.02)}
    return replace(surface, points=dense[: len(surface.points)], dense=dense, creases=creases, **cells)


@pytest.fixture(scope="module")
def stem():
    """The two halves of a round stem that broke flat."""
    whole = Manifold.cylinder(1.0, 0.2, 0.2, 64, True)
    return prepared([to_part(name, whole.trim_by_plane([0, 0, side], 0.0)) for name, side in (("a", 1), ("b", -1))])


def test_it_is_what_independent_noise_makes_of_the_pose(egg):
    true = pose_of_surfaces(*egg, Pose.identity())
    normalised = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        a, b = (noisy(surface, rng) for surface in egg)
        T = refine(a, b, true)
        off, C = true @ T.inverse(), claimed(a, b, T).moved(a.T_part_surface.inverse()).scaled(1 / a.unit).covariance
        e = np.concatenate([Rotation.from_matrix(off.R).as_rotvec(), off.t])
        normalised.append(e @ np.linalg.solve(C, e) / 6)
    assert 0.8 < np.sqrt(np.mean(normalised)) < 1.2


def test_it_is_a_covariance(egg):
    known = claimed(*egg)
    np.testing.assert_allclose(known.covariance, known.covariance.T, rtol=1e-9)
    assert np.linalg.eigvalsh(known.covariance).min() > 0
    assert 0 < known.length < 1e-3
    assert 0 < known.degrees < 0.1


def test_it_has_the_unit_of_the_parts(egg):
    scale = 1000.0
    large = [
        replace(s, unit=scale * s.unit, T_part_surface=Pose(s.T_part_surface.R, scale * s.T_part_surface.t))
        for s in egg
    ]
    here, there = claimed(*egg), claimed(*large)
    S = np.repeat([1.0, scale], 3)
    np.testing.assert_allclose(there.covariance, S[:, None] * here.covariance * S, rtol=1e-6, atol=1e-12)
    assert there.length == pytest.approx(scale * here.length)
    assert there.degrees == pytest.approx(here.degrees)


def test_it_moves_with_the_coordinates_of_the_first_part_alone(egg):
    rng = np.random.default_rng(0)
    A, B = Pose.random(rng, 2.0), Pose.random(rng, 2.0)
    a, b = (replace(s, T_part_surface=T @ s.T_part_surface) for s, T in zip(egg, (A, B)))
    here, there = claimed(*egg), claimed(a, b, pose_of_surfaces(a, b, A @ B.inverse()))
    np.testing.assert_allclose(there.covariance, A.adjoint() @ here.covariance @ A.adjoint().T, rtol=1e-6, atol=1e-12)
    assert there.length == pytest.approx(here.length)


def test_the_adjoint_moves_small_motions():
    rng = np.random.default_rng(1)
    T, small = Pose.random(rng, 1.0), 1e-5 * rng.standard_normal(6)
    step = Pose(Rotation.from_rotvec(small[:3]).as_matrix(), small[3:])
    there = T @ step @ T.inverse()
    expected = np.concatenate([Rotation.from_matrix(there.R).as_rotvec(), there.t])
    np.testing.assert_allclose(T.adjoint() @ small, expected, atol=1e-9)


def test_either_order_of_the_parts_says_the_same_of_the_angle(egg):
    assert claimed(*egg[::-1]).degrees == pytest.approx(claimed(*egg).degrees, rel=0.05)


def test_noise_and_a_smaller_contact_make_it_larger(egg):
    rng, true = np.random.default_rng(2), pose_of_surfaces(*egg, Pose.identity())
    rough = claimed(*(noisy(surface, rng) for surface in egg))
    rougher = claimed(*(noisy(surface, rng, 3 * NOISE) for surface in egg))
    assert claimed(*egg).length < rough.length < rougher.length
    aside = Pose(np.eye(3), 0.6 * egg[0].T_part_surface.inverse().rotate([1.0, 0.0, 0.0]))
    assert claimed(*egg, aside @ true).length > 2 * rough.length


def test_what_slides_and_turns_freely_is_unsure_and_nothing_else(stem):
    C = claimed(*stem).covariance  # the axis of the stem is z, through the origin, where the break is
    turn, shift = np.degrees(np.sqrt(np.diag(C)[:3])), np.sqrt(np.diag(C)[3:])
    assert turn[2] > 45
    assert max(turn[:2]) < 0.2
    assert min(shift[:2]) > 0.1
    assert shift[2] < 1e-3
    assert np.isfinite(np.linalg.inv(C)).all()


def test_every_join_has_one_and_parts_that_hardly_touch_have_none(egg):
    found = joins(*egg)
    assert all(join.covariance.shape == (6, 6) for join in found)
    apart = Pose(np.eye(3), np.array([10.0, 0.0, 0.0]))
    assert claimed(*egg, apart) is None
    assert replace(found[0], uncertainty=None).covariance is None


def test_length_is_that_of_the_centre():
    C = np.diag([0.0, 0.0, 0.01, 0.0, 0.0, 0.0]) ** 2  # a turn about z
    known = Uncertainty.of(C, np.array([3.0, 4.0, 5.0]))
    assert known.length == pytest.approx(0.05)
    assert known.degrees == pytest.approx(np.degrees(0.01))
