"""Building blocks of the procedural shapes: bodies of revolution, swept tubes, sheets, blended blobs, bends.

Everything is built upright along z and in any size; `make_shape` turns it to y and brings it to size 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from manifold3d import CrossSection, FillRule, JoinType, Manifold, OpType
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline, PchipInterpolator
from scipy.ndimage import map_coordinates

from cmnet.data.fracture.levelset import surface_nets, without_touching_corners
from cmnet.data.fracture.roughness import Roughness, grid_noise
from cmnet.data.fracture.solid import make_body
from cmnet.geometry.types import Array, Ints

Rng = np.random.Generator


def smooth_profile(points: Sequence[tuple[float, float]], count: int = 40) -> Array:
    """A smooth curve through (radius, height) control points, without overshoot. → (count, 2) float"""
    knots = np.asarray(points, dtype=np.float64)
    length = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(knots, axis=0), axis=1) + 1e-6)])
    along = np.linspace(0, length[-1], count)
    return np.stack([PchipInterpolator(length, knots[:, k])(along) for k in (0, 1)], axis=1)


def half_section(profile: Array) -> CrossSection:
    """The region between a (radius, height) curve and its mirror image about the axis."""
    radius = np.maximum(profile[:, 0], 1e-4)
    right = np.stack([radius, profile[:, 1]], axis=1)
    left = np.stack([-radius, profile[:, 1]], axis=1)[::-1]
    return CrossSection([np.concatenate([right, left])], FillRule.NonZero)


def rounded(section: CrossSection, radius: float) -> CrossSection:
    """Round the outward corners of a section."""
    return section.offset(-radius, JoinType.Round, circular_segments=16).offset(
        radius, JoinType.Round, circular_segments=16
    )


def hollow_of(section: CrossSection, wall: float, mouth: float | None) -> CrossSection:
    """The hollow that leaves a wall inside a section, open at the top if its half-width there, `mouth`, is given."""
    if mouth is not None:  # prolonged upwards, so that the wall is left out at the top
        section = section + CrossSection.square((2 * mouth, 3 * wall)).translate((-mouth, section.bounds()[3] - 1e-4))
    rooms = section.offset(-wall, JoinType.Round, circular_segments=16).decompose()
    if not rooms:
        return CrossSection()
    # One hollow only: no voids in feet, stems and lips.
    return max(rooms, key=lambda room: float(room.area() if mouth is None else room.bounds()[3]))


def turned(section: CrossSection, segments: int = 56) -> Manifold:
    """A body of revolution about z."""
    return Manifold.revolve(section.simplify(4e-4), segments)


def vessel(profile: Array, wall: float | None, open_top: bool, segments: int = 56) -> tuple[Manifold, Manifold | None]:
    """A turned vessel as its outside and its hollow; None for the hollow if it is solid."""
    section = half_section(profile)
    outside = turned(rounded(section, 0.4 * wall) if wall else section, segments)
    if wall is None:
        return outside, None
    inside = hollow_of(section, wall, float(profile[-1, 0]) if open_top else None)
    return outside, None if inside.is_empty() else turned(inside, segments)


def tube(path: ArrayLike, radius: ArrayLike, flatten: float = 1.0, sides: int = 18) -> Manifold:
    """A tube of varying radius along a path, squashed by `flatten` along its side axis. path : (n, 3), radius : (n,)"""
    p = np.asarray(path, dtype=np.float64)
    r = np.broadcast_to(np.asarray(radius, dtype=np.float64), (len(p),))
    tangent = np.gradient(p, axis=0)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    side = np.cross(tangent[0], np.eye(3)[np.abs(tangent[0]).argmin()])
    rings = []
    angle = np.arange(sides) * 2 * np.pi / sides
    for k in range(len(p)):
        side = side - (side @ tangent[k]) * tangent[k]  # carried along the path without twist
        side /= np.linalg.norm(side)
        up = np.cross(tangent[k], side)
        rings.append(p[k] + r[k] * (np.cos(angle)[:, None] * side * flatten + np.sin(angle)[:, None] * up))
    return make_body(np.concatenate([*rings, p[:1], p[-1:]]), _tube_faces(len(p), sides))


def _tube_faces(rings: int, sides: int) -> Ints:
    first, last = rings * sides, rings * sides + 1
    k = np.arange(sides)
    follow = (k + 1) % sides
    faces = [np.stack([np.full(sides, first), follow, k], axis=1)]
    for ring in range(rings - 1):
        a, b = ring * sides, (ring + 1) * sides
        faces.append(np.stack([a + k, a + follow, b + k], axis=1))
        faces.append(np.stack([a + follow, b + follow, b + k], axis=1))
    end = (rings - 1) * sides
    faces.append(np.stack([np.full(sides, last), end + k, end + follow], axis=1))
    return np.concatenate(faces)


def curve(points: ArrayLike, count: int = 24) -> Array:
    """A smooth space curve through a few points. points : (k, 3) → (count, 3) float"""
    knots = np.asarray(points, dtype=np.float64)
    length = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(knots, axis=0), axis=1))])
    along = np.linspace(0, length[-1], count)
    return np.stack([_cubic(length, knots[:, k], along) for k in range(3)], axis=1)


def _cubic(x: Array, y: Array, at: Array) -> Array:
    return np.asarray(CubicSpline(x, y, bc_type="natural")(at) if len(x) > 2 else np.interp(at, x, y))


def sheet(outline: Array, thickness: float) -> Manifold:
    """A flat plate with the given outline. outline : (n, 2) float"""
    return Manifold.extrude(CrossSection([outline], FillRule.NonZero), thickness)


def united(parts: Sequence[Manifold]) -> Manifold:
    """All parts as one body."""
    return Manifold.batch_boolean(list(parts), OpType.Add)


def level_body(distance: Callable[[Array], Array], low: ArrayLike, high: ArrayLike, cells: int = 110_000) -> Manifold:
    """The body where a function of points (n, 3) is negative, within a box."""
    a, b = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    step = float((np.prod(b - a) / cells) ** (1 / 3))
    axes = [np.arange(a[k] - step, b[k] + 2 * step, step) for k in range(3)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    values = distance(grid.reshape(-1, 3)).reshape(grid.shape[:3])
    values[[0, -1]] = values[:, [0, -1]] = values[:, :, [0, -1]] = step
    return make_body(*surface_nets(without_touching_corners(values), np.array([axis[0] for axis in axes]), step))


def capsule(points: Array, a: ArrayLike, b: ArrayLike, radius_a: float, radius_b: float) -> Array:
    """Distance to a rounded cone between two points. points : (n, 3) → (n,) float"""
    start, axis = np.asarray(a, dtype=np.float64), np.subtract(b, a).astype(np.float64)
    offset = points - start
    t = np.clip(offset @ axis / max(float(axis @ axis), 1e-12), 0, 1)
    return np.asarray(np.linalg.norm(offset - t[:, None] * axis, axis=1) - (radius_a + t * (radius_b - radius_a)))


def blend(fields: Sequence[Array], softness: float) -> Array:
    """Smooth minimum of distances: shapes that grow into each other. Each (n,) → (n,) float"""
    result = fields[0]
    for field in fields[1:]:
        h = np.clip(0.5 + 0.5 * (result - field) / softness, 0, 1)
        result = result + h * (field - result) - softness * h * (1 - h)
    return result


def roughened(body: Manifold, amplitude: float, wavelength: float, rng: Rng, edge: float | None = None) -> Manifold:
    """Push the surface in and out by smooth noise, after refining it to the given edge length."""
    fine = body if edge is None else body.refine_to_length(edge)
    box = np.array(body.bounding_box())
    axes = [np.linspace(box[k] - 1e-6, box[k + 3] + 1e-6, 24) for k in range(3)]
    bumps = [grid_noise(axes, Roughness(amplitude, wavelength, wavelength / 4, 1.0), rng) for _ in range(3)]

    def push(points: Array) -> Array:
        place = [(points[:, k] - axes[k][0]) / (axes[k][1] - axes[k][0]) for k in range(3)]
        return points + np.stack([map_coordinates(b, place, order=1, mode="nearest") for b in bumps], axis=1)

    return fine.warp_batch(push)


def fluted(body: Manifold, count: int, depth: float, twist: float = 0.0) -> Manifold:
    """Waves around the z axis: r ← r (1 + depth cos(count θ + twist z))."""

    def push(points: Array) -> Array:
        angle = np.arctan2(points[:, 1], points[:, 0])
        scale = 1 + depth * np.cos(count * angle + twist * points[:, 2])
        return points * np.stack([scale, scale, np.ones(len(points))], axis=1)

    return body.warp_batch(push)


def bent(body: Manifold, curvature: float) -> Manifold:
    """Bend a body that extends along x upwards: z ← z + curvature x² / 2."""

    def push(points: Array) -> Array:
        moved = points.copy()
        moved[:, 2] += 0.5 * curvature * points[:, 0] ** 2
        return moved

    return body.warp_batch(push)
