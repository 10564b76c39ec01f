import numpy as np
import pytest

from cmnet.data.fracture.contact import overlap_area


def in_space(corners: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Plane triangles (n, 3, 2) in a random plane of space."""
    axes, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    return corners @ axes[:2] + rng.standard_normal(3)


def test_overlap_of_known_triangles() -> None:
    rng = np.random.default_rng(0)
    a = np.array([[[0, 0], [2, 0], [0, 2]]] * 4, dtype=float)
    b = np.array(
        [[[0, 0], [2, 0], [0, 2]], [[0, 0], [1, 0], [0, 1]], [[5, 5], [6, 5], [5, 6]], [[2, 2], [0, 2], [2, 0]]],
        dtype=float,
    )
    joined = in_space(np.concatenate([a, b]), rng)
    assert overlap_area(joined[:4], joined[4:]) == pytest.approx([2.0, 0.5, 0.0, 0.0], abs=1e-12)


def test_overlap_agrees_with_counting_points() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.random((2, 30, 3, 2))
    points = rng.random((40_000, 2))

    def inside(triangle: np.ndarray) -> np.ndarray:
        edges = np.roll(triangle, -1, axis=0) - triangle
        offset = points[:, None] - triangle
        side = edges[:, 0] * offset[..., 1] - edges[:, 1] * offset[..., 0]
        return (side > 0).all(axis=1) | (side < 0).all(axis=1)

    counted = [(inside(p) & inside(q)).mean() for p, q in zip(a, b, strict=True)]
    joined = in_space(np.concatenate([a, b]), rng)
    assert overlap_area(joined[:30], joined[30:]) == pytest.approx(counted, abs=0.01)


def test_overlap_is_symmetric_and_ignores_orientation() -> None:
    rng = np.random.default_rng(2)
    joined = in_space(rng.random((40, 3, 2)), rng)
    a, b = joined[:20], joined[20:]
    np.testing.assert_allclose(overlap_area(a, b), overlap_area(b, a[:, ::-1]), atol=1e-12)
