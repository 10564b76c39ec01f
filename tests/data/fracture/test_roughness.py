import numpy as np
import pytest

from cmnet.data.fracture.roughness import Roughness, grid_noise, linear_weights, spline_weights, tensor_product


@pytest.mark.parametrize("weights", [linear_weights, spline_weights])
def test_weights_sum_to_one_inside(weights) -> None:
    assert weights(np.linspace(1.5, 6.5, 50), 9).sum(axis=1) == pytest.approx(np.ones(50))


def test_linear_interpolation_reproduces_a_plane() -> None:
    x, y, z = np.meshgrid(np.arange(4.0), np.arange(5.0), np.arange(6.0), indexing="ij")
    at = [np.linspace(0, 3, 7), np.linspace(0, 4, 9), np.linspace(0, 5, 8)]
    fine = tensor_product(2 * x - y + 3 * z, [linear_weights(a, n) for a, n in zip(at, (4, 5, 6), strict=True)])
    fx, fy, fz = np.meshgrid(*at, indexing="ij")
    np.testing.assert_allclose(fine, 2 * fx - fy + 3 * fz, atol=1e-12)


@pytest.mark.parametrize("faceted", [False, True])
def test_noise_has_the_wanted_amplitude_and_detail_at_several_scales(faceted: bool) -> None:
    axes = [np.linspace(0, 4, 64)] * 3
    noise = grid_noise(axes, Roughness(0.1, 1.0, 0.15, 0.8, faceted), np.random.default_rng(0))
    assert noise.std() == pytest.approx(0.1, rel=0.3)
    near = np.abs(np.diff(noise, axis=0)).mean()
    smooth = grid_noise(axes, Roughness(0.1, 1.0, 1.0, 0.8, faceted), np.random.default_rng(0))
    assert near > 1.2 * np.abs(np.diff(smooth, axis=0)).mean()
