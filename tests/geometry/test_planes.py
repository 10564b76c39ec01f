import numpy as np
import pytest
import trimesh
from scipy.spatial import cKDTree

from cmnet.geometry.planes import axes_of_planes
from cmnet.geometry.pose import Pose
from cmnet.geometry.sampling import sample_faces

SHAPES = {
    "box": trimesh.creation.box((1.0, 0.7, 0.4)),
    "ball": trimesh.creation.icosphere(4, radius=0.4),
    "tube": trimesh.creation.annulus(0.3, 0.5, 1.0),
}


def scanned(name, noise, count=6000):
    """Points of a shape with noise, and its true normals there."""
    rng = np.random.default_rng(4)
    points, normals = sample_faces(SHAPES[name].triangles, count, rng)
    return points + noise * rng.standard_normal(points.shape), normals


def axes_of(points):
    return axes_of_planes(points, cKDTree(points).query(points, 13)[1])


def angles(axes, normals):
    """(n,) degrees between lines."""
    return np.degrees(np.arccos(np.clip(np.abs(np.einsum("nc,nc->n", axes, normals)), 0, 1)))


@pytest.mark.parametrize("name", SHAPES)
def test_noise_as_large_as_the_spacing_costs_few_degrees(name):
    points, normals = scanned(name, 0.02)
    off = angles(axes_of(points), normals)
    assert np.median(off) < 8
    assert (off > 30).mean() < 0.2  # those at its edges


def test_no_plane_goes_round_an_edge():
    off = angles(axes_of(scanned("box", 0.0)[0]), scanned("box", 0.0)[1])
    assert (off < 1).mean() > 0.97


def test_a_slight_bend_is_no_edge():
    points, normals = scanned("ball", 0.0)
    assert np.quantile(angles(axes_of(points), normals), 0.9) < 6


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_pose_unit_and_order_do_not_matter(noise):
    points, _ = scanned("tube", noise)
    T = Pose.random(np.random.default_rng(1), spread=1.0)
    order = np.random.default_rng(2).permutation(len(points))
    turned = axes_of(300 * T.apply(points)[order])
    assert angles(turned, T.rotate(axes_of(points))[order]).max() < 0.01
