"""Noise with detail at several scales, sampled on grids: what makes a crack curved and rough."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cmnet.geometry.types import Array


@dataclass(frozen=True)
class Roughness:
    """How a crack deviates from the smooth section it follows."""

    amplitude: float  # standard deviation of the whole, in the unit of the object
    longest: float  # longest wavelength: the slow bends
    shortest: float  # shortest wavelength: the grain
    exponent: float  # amplitude ~ wavelength ** exponent; real cracks have about 0.8
    faceted: bool = False  # flat facets between ridges instead of smooth waves


def spline_weights(positions: Array, knots: int) -> Array:
    """Weights of a quadratic B-spline through `knots` unit-spaced knots. positions : (n,) float → (n, knots) float"""
    distance = np.abs(positions[:, None] - np.arange(knots)[None])
    near = 0.75 - distance**2
    far = 0.5 * (1.5 - distance) ** 2
    return np.where(distance < 0.5, near, np.where(distance < 1.5, far, 0.0))


def linear_weights(positions: Array, knots: int) -> Array:
    """Weights of linear interpolation, clamped at the ends. positions : (n,) float → (n, knots) float"""
    clamped = positions.clip(0, knots - 1)
    return np.maximum(0.0, 1 - np.abs(clamped[:, None] - np.arange(knots)[None]))


def tensor_product(values: Array, weights: list[Array]) -> Array:
    """Interpolate a coarse (a, b, c) grid along its three axes by (n, a), (m, b), (k, c) weights. → (n, m, k)"""
    x = np.tensordot(weights[2], values, axes=(1, 2))  # (k, a, b)
    x = np.tensordot(weights[1], x, axes=(1, 2))  # (m, k, a)
    return np.tensordot(weights[0], x, axes=(1, 2))  # (n, m, k)


def grid_noise(axes: list[Array], roughness: Roughness, rng: np.random.Generator) -> Array:
    """Rough noise on the grid spanned by three coordinate axes. axes : (n,), (m,), (k,) float → (n, m, k) float"""
    octaves = max(1, int(np.floor(np.log2(roughness.longest / roughness.shortest))) + 1)
    wavelengths = roughness.longest / 2.0 ** np.arange(octaves)
    strength = wavelengths**roughness.exponent
    strength *= roughness.amplitude / np.linalg.norm(strength)
    total = np.zeros(tuple(len(axis) for axis in axes))
    for wavelength, weight in zip(wavelengths, strength, strict=True):
        total += weight * _octave(axes, wavelength / 2, roughness.faceted, rng)
    return total


def _octave(axes: list[Array], spacing: float, faceted: bool, rng: np.random.Generator) -> Array:
    """Noise of about unit variance from one random lattice with the given knot spacing."""
    interpolate, deviation = (linear_weights, 0.54) if faceted else (spline_weights, 0.41)
    weights = []
    for axis in axes:
        position = (axis - axis[0]) / spacing + 1.5 + rng.random()
        weights.append(interpolate(position, int(np.ceil(position[-1])) + 3))
    knots = rng.standard_normal(tuple(w.shape[1] for w in weights))
    return tensor_product(knots, weights) / deviation
