"""Creases of shapes whose edges are known."""

import numpy as np
import pytest
import trimesh
from scipy.spatial import cKDTree

from cmnet.geometry.sampling import sample_surface
from cmnet.geometry.trees import nearest_few
from cmnet.pairing.surface.creases import NEIGHBORS, complement, find_creases, neighbourhoods, spread
from cmnet.pairing.surface.rims import find_rims
from cmnet.settings import FIRST, Tolerances


def samples(mesh, count, seed=0):
    return sample_surface(np.asarray(mesh.vertices), np.asarray(mesh.faces), count, np.random.default_rng(seed))


def creases_of(mesh, count=4000):
    points, normals = samples(mesh, count)
    neighbors = nearest_few(cKDTree(points), points, NEIGHBORS)
    return find_creases(points, normals, np.arange(len(points)), *neighbors, Tolerances())


def distance_to_box_edges(points, half):
    """Distance from the nearest of the twelve edges of an axis-aligned box."""
    off = np.sort(half - np.abs(points), axis=1)
    return np.linalg.norm(off[:, :2], axis=1)


def test_creases_of_a_box_lie_on_its_edges_and_know_both_faces():
    half = np.array([0.5, 0.4, 0.3])
    found = creases_of(trimesh.creation.box(extents=2 * half))
    away = np.abs(found.points).max(axis=1) > 0
    middle = np.sort(half - np.abs(found.points), axis=1)[:, 2] > 0.12  # corners have three faces
    assert middle.sum() > 300
    assert np.median(distance_to_box_edges(found.points, half)[away & middle]) < 0.002
    assert np.abs(np.abs(found.normals[middle]).max(axis=2) - 1).max() < 0.05
    np.testing.assert_allclose(np.median(found.bend[middle]), np.pi / 2, atol=0.02)


def test_a_sphere_has_no_crease():
    assert len(creases_of(trimesh.creation.icosphere(4))) == 0


def test_concave_edges_are_left_out():
    notched = trimesh.boolean.difference(
        [trimesh.creation.box(extents=(1, 1, 1)), trimesh.creation.box(extents=(0.6, 1.2, 0.6))], engine="manifold"
    )
    found = creases_of(notched, 8000)
    inner = (np.abs(np.abs(found.points[:, 0]) - 0.3) < 0.05) & (np.abs(np.abs(found.points[:, 2]) - 0.3) < 0.05)
    middle = np.abs(found.points[:, 1]) < 0.4
    assert not (inner & middle).any()


@pytest.mark.parametrize("thickness", [0.04, 0.01, 0.004])
def test_edges_of_a_sheet_are_found_whatever_its_thickness(thickness):
    sheet = trimesh.creation.box(extents=(1.0, 0.7, thickness))
    points, normals = samples(sheet, 6000)
    rims = find_rims(sheet.triangles, points, normals, np.random.default_rng(0), FIRST)
    half = np.array([0.5, 0.35, thickness / 2])
    inner = np.sort(half - np.abs(rims.creases.points), axis=1)[:, 2] > 0.05
    assert inner.sum() > 100
    assert np.quantile(distance_to_box_edges(rims.creases.points[inner], half), 0.8) < 0.25 * thickness
    assert rims.wall == pytest.approx(thickness, rel=0.1)


def test_spread_keeps_the_order_of_a_prefix():
    found = creases_of(trimesh.creation.box())
    np.testing.assert_array_equal(spread(found, 50).points, spread(found, 200).points[:50])


def test_neighbourhoods_stay_within_the_radius_where_they_can():
    points = np.random.default_rng(0).uniform(0, 1, (500, 3))
    around = neighbourhoods(points, 100, 8, 0.4)
    assert around.shape == (100, 8)
    assert np.linalg.norm(points[around] - points[:100, None], axis=2).max() < 0.4


def test_complement_tells_mates_from_lookalikes():
    skin, fracture = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
    own = np.array([[skin, fracture]])
    mate, swapped = np.array([[skin, -fracture]]), np.array([[-fracture, skin]])
    assert complement(own, mate)[0] == pytest.approx(1)
    assert complement(own, swapped)[0] == pytest.approx(1)
    assert complement(own, own)[0] < 0
    assert complement(own, -own)[0] < 0
