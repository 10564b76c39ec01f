import numpy as np
import pytest
import trimesh
from manifold3d import CrossSection
from scipy.spatial import cKDTree

from cmnet.data.breaking_bad import find_fractures
from cmnet.data.objects import FolderObjects, sample_object
from cmnet.data.toy import FEATURE_ORDER, ToySizes, build_toy, toy_object
from cmnet.errors import InputError

PATTERNS = tuple(FEATURE_ORDER)
FEW = ToySizes(train=3, val=2, test=1)


def outlines(parts):
    """Both parts' polygons (n, 2), the lower one first."""
    polygons = [p.vertices[: len(p.vertices) // 2, :2] for p in parts]
    return sorted(polygons, key=lambda polygon: polygon[:, 1].mean())


def edge_points(starts, ends, step=0.004):
    """Points (n, 2) along straight edges, at most `step` apart."""
    counts = np.ceil(np.linalg.norm(ends - starts, axis=1) / step).astype(int) + 1
    return np.vstack([np.linspace(a, b, n) for a, b, n in zip(starts, ends, counts)])


def boundary(polygon):
    return edge_points(polygon, np.roll(polygon, -1, axis=0))


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("seed", range(5))
def test_parts_are_watertight_and_fill_the_object(pattern, seed):
    parts = toy_object(pattern, np.random.default_rng(seed))
    meshes = [trimesh.Trimesh(p.vertices, p.faces, process=False) for p in parts]
    assert all(m.is_volume for m in meshes)
    corners = np.vstack([p.vertices for p in parts])
    assert np.ptp(corners, axis=0).max() == pytest.approx(1.0)
    assert np.allclose(corners.min(axis=0), -corners.max(axis=0))
    lower, upper = outlines(parts)
    whole = CrossSection([lower]) + CrossSection([upper])
    depth = np.ptp(corners[:, 2])
    assert sum(m.volume for m in meshes) == pytest.approx(whole.area() * depth, rel=1e-6)
    assert whole.num_contour() == 1


@pytest.mark.parametrize("pattern", PATTERNS)
def test_interfaces_coincide(pattern):
    parts = toy_object(pattern, np.random.default_rng(1))
    obj = sample_object("toy", parts, 3000)
    lengths = np.linalg.norm(np.diff(_line(parts), axis=0), axis=1).sum()
    depth = np.ptp(parts[0].vertices[:, 2])
    assert obj.contact[0, 1] == pytest.approx(lengths * depth, rel=0.15)


def _line(parts):
    """The shared polyline from left to right, as the upper part's outline has it."""
    lower, upper = outlines(parts)
    shared = set(map(tuple, lower.tolist()))
    return [tuple(v) for v in upper.tolist() if tuple(v) in shared]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_two_parts_look_alike(pattern):
    # Turned by 180°, the interface lies near itself: shape cannot tell a bump from its twin on the mate.
    corners = np.array(_line(toy_object(pattern, np.random.default_rng(2))))
    line = edge_points(corners[:-1], corners[1:])
    turned = cKDTree([0, 2 * corners[0, 1]] - line)
    assert np.quantile(turned.query(line)[0], 0.9) < 0.035


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("seed", range(2))
def test_no_other_motion_mates_the_parts(pattern, seed):
    # Motions that lay interface on interface: shifts along it, with or without turning about the vertical axis.
    parts = toy_object(pattern, np.random.default_rng(seed))
    lower, upper = outlines(parts)
    line = np.array(_line(parts))
    along = edge_points(line[:-1], line[1:])
    height = np.abs(line[:, 1] - line[0, 1]).max()
    solid = CrossSection([lower])
    assert _contact(along, upper) == 1
    for turned, polygon in enumerate([upper, (upper * [-1, 1])[::-1]]):
        for shift in np.linspace(-0.8, 0.8, 161):
            for lift in (0.0, height):
                moved = polygon + np.array([shift, lift])
                true = not turned and not lift and abs(shift) < 0.025
                if not true and (solid ^ CrossSection([moved])).area() < 1e-3:
                    assert _contact(along, moved) < 0.75


def _contact(points, polygon):
    """Share of the points that lie on a polygon's edges."""
    return (cKDTree(boundary(polygon)).query(points)[0] < 0.006).mean()


def test_objects_vary_and_repeat_with_the_seed():
    a, b, c = (toy_object(2, np.random.default_rng(s))[0].vertices for s in (0, 0, 1))
    assert np.array_equal(a, b)
    assert a.shape != c.shape or not np.allclose(a, c, atol=0.01)


def test_unknown_patterns_are_refused():
    with pytest.raises(ValueError, match="pattern 7"):
        toy_object(7, np.random.default_rng(0))


def test_the_folder_has_the_layout_and_the_splits(tmp_path):
    root = build_toy(tmp_path / "toy", seed=1, sizes=FEW)
    assert len(find_fractures(root)) == 3 * 5 + 3
    for split, patterns, count in (("train", (1, 2, 3), 3), ("val", (1, 2, 3), 2), ("test", (4, 5, 6), 1)):
        found = find_fractures(root, "toy", split)
        assert len(found) == len(patterns) * count
        assert {f.category for f in found} == {f"pattern_{p}" for p in patterns}
    assert not {f.name for f in find_fractures(root, "toy", "train")} & {
        f.name for f in find_fractures(root, "toy", "val")
    }
    assert FolderObjects(root, "toy", "test", cache=tmp_path / "cache")[0].contact[0, 1] > 0
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    def content(root):
        return {p.relative_to(root): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}

    a, b, c = (content(build_toy(tmp_path / n, s, FEW)) for n, s in (("a", 1), ("b", 1), ("c", 2)))
    assert a == b
    assert a.keys() == c.keys()
    assert a != c


def test_an_existing_folder_is_not_overwritten(tmp_path):
    (tmp_path / "toy").mkdir()
    build_toy(tmp_path / "toy", sizes=ToySizes(1, 1, 1))
    with pytest.raises(InputError, match="not an empty folder"):
        build_toy(tmp_path / "toy", sizes=ToySizes(1, 1, 1))
