"""Properties asserted in more than one place."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from cmnet.geometry.pose import Pose

# Equivariance holds exactly in exact arithmetic. With rounding, a point may rarely swap one of its neighbours for an
# equally near one, so a small share of points is allowed to differ in float32.
TOLERANCE = {torch.float32: 2e-3, torch.float64: 1e-7}
SHARE = {torch.float32: 0.98, torch.float64: 1.0}
DTYPES = (torch.float32, torch.float64)


def random_rotation(seed: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.from_numpy(Pose.random(np.random.default_rng(seed)).R).to(dtype)


def bumpy(count: int, seed: int, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """Points (n, 3) and normals (n, 3) of a bumpy ellipsoid."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((count, 3))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    waves = 1 + 0.2 * np.sin(4 * x @ rng.standard_normal((3, 3))).sum(1, keepdims=True)
    points, normals = 0.4 * x * waves * [1, 0.8, 0.5], x * [1, 1.25, 2]
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return torch.from_numpy(points).to(dtype), torch.from_numpy(normals).to(dtype)


def assert_close_for_most(a: Tensor, b: Tensor) -> None:
    """Rows of a and b agree, relative to their typical size, to the tolerance of their dtype."""
    assert a.shape == b.shape
    assert torch.isfinite(a).all()
    assert torch.isfinite(b).all()
    size = b.abs().mean() + 1e-12
    error = ((a - b).abs() / size).flatten(1).amax(1)
    share = (error < TOLERANCE[a.dtype]).double().mean().item()
    assert share >= SHARE[a.dtype], f"only {share:.1%} of the rows agree; the median error is {error.median():.1e}"


def assert_rotations(frames: Tensor) -> None:
    """(n, 3, 3) orthonormal with determinant one."""
    tolerance = 1e-5 if frames.dtype == torch.float32 else 1e-10
    eye = torch.eye(3, dtype=frames.dtype)
    assert ((frames @ frames.transpose(1, 2) - eye).abs().amax()) < tolerance
    assert ((torch.linalg.det(frames) - 1).abs().amax()) < tolerance
