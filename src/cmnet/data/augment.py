"""Making samples worse, as scans are: noise, tilted normals, other densities, lost chips. True matches stay true."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cmnet.geometry.types import Array, Bools

LEAST = 96  # samples a part keeps in any case


@dataclass(frozen=True)
class Augmentation:
    """How bad samples may become; how bad each part becomes is drawn evenly between nothing and this."""

    noise: float = 0.0  # standard deviation of positions, network units
    tilt: float = 0.0  # standard deviation of normals, radians
    thinning: float = 0.0  # share of the samples that is left out
    chips: float = 0.0  # probability that a part lacks a ball of samples
    chip_radius: float = 0.1  # of that ball, network units


def kept(xyz: Array, augmentation: Augmentation, rng: np.random.Generator) -> Bools:
    """Which samples of a part remain after thinning and the loss of a chip. xyz : (n, 3) float → (n,) bool"""
    remain = rng.random(len(xyz)) >= augmentation.thinning * rng.random()
    hurt, centre, size = rng.random(), xyz[rng.integers(len(xyz))], rng.random()
    if hurt < augmentation.chips:
        remain &= np.linalg.norm(xyz - centre, axis=1) > augmentation.chip_radius * size
    return remain if remain.sum() >= LEAST else np.ones(len(xyz), dtype=bool)


def roughened(xyz: Array, normals: Array, augmentation: Augmentation, rng: np.random.Generator) -> tuple[Array, Array]:
    """Positions and unit normals with noise. xyz, normals : (n, 3) float → the same shapes"""
    shake, turn = augmentation.noise * rng.random(), augmentation.tilt * rng.random()
    moved = xyz + shake * rng.standard_normal(xyz.shape)
    tilted = normals + turn * rng.standard_normal(normals.shape)
    return moved, tilted / np.linalg.norm(tilted, axis=1, keepdims=True)
