"""Blue-noise samples of surfaces: evenly spread, in proportion to area, with normals.

Every choice rests on areas, distances and the random stream alone, so a moved or scaled surface gets the same samples,
moved or scaled.
"""

from collections.abc import Callable

import numpy as np
from scipy.spatial import cKDTree

from cmnet.geometry.compiled import compiled
from cmnet.geometry.trees import nearest_one
from cmnet.geometry.triangles import areas, normals_and_areas
from cmnet.geometry.types import Array, Bools, Ints

CANDIDATES = 5  # candidates per sample wanted
OPPOSED = -0.5  # normals with a smaller dot product belong to two sides of a wall, which may lie arbitrarily close
ROUNDS = 12  # trials of a radius, at most
HALVINGS = 16  # rounds of halving large triangles, at most
SURPLUS = 1.02  # how many samples too many end the search
CELL = 1.000001  # side of a cell, in radii: what is as near as the radius lies in the same or the next cell
NEIGHBORHOOD = (13, *range(13), *range(14, 27))  # of a cell, in base 3; itself first, where most rivals are
SATURATION = 0.55  # samples per squared radius and unit area that so many candidates leave, rounded up

Split = Callable[[Array, int, int], Ints]  # (areas, total, minimum) → samples of each part


def sample_surface(vertices: Array, faces: Ints, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Blue-noise samples of a triangle mesh.

    vertices : (n, 3) float, faces : (m, 3) int
    → points (count, 3) float, unit normals (count, 3) float
    """
    corners = np.asarray(vertices, dtype=np.float64)[faces]
    normals, areas = normals_and_areas(corners)
    total = areas.sum()
    if not total > 0:
        raise ValueError("a surface without area cannot be sampled")
    chosen, points = uniform_samples(corners, areas, CANDIDATES * count, rng)
    normals = normals[chosen]
    kept = poisson_subset(points, normals, count, np.sqrt(SATURATION * total / max(count, 1)))
    return points[kept], normals[kept]


def sample_faces(corners: Array, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Independent samples of triangles, uniform by area: cheaper than blue noise where there are plenty of them.

    corners : (m, 3, 3) float → points (count, 3) float, unit normals (count, 3) float
    """
    normals, areas = normals_and_areas(corners)
    if count == 0 or not areas.sum() > 0:
        return np.empty((0, 3)), np.empty((0, 3))
    chosen, points = uniform_samples(corners, areas, count, rng)
    return points, normals[chosen]


def sample_near(
    corners: Array, places: Array, reach: float, density: int, most: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Independent samples of triangles near some places, as dense as `density` of them over the whole surface.

    corners : (m, 3, 3) float, places : (e, 3) float → at most so many points (k, 3) and unit normals (k, 3)
    """
    tree = cKDTree(places)
    near = _faces_near(corners, tree, reach)
    count = int(density * areas(near).sum() / areas(corners).sum())
    points, normals = sample_faces(near, min(count, most), rng)
    kept = np.isfinite(nearest_one(tree, points, reach)[0])
    return points[kept], normals[kept]


def _faces_near(corners: Array, tree: cKDTree, reach: float) -> Array:
    """The triangles near the points of a tree; large ones are halved until none reaches far beyond them."""
    for _ in range(HALVINGS):
        middle = corners.mean(axis=1)
        size = np.linalg.norm(corners - middle[:, None], axis=2).max(axis=1)
        close = nearest_one(tree, middle)[0] < reach + size
        corners, size = corners[close], size[close]
        large = size > 2 * reach
        if not large.any():
            break
        corners = np.concatenate([corners[~large], _halves(corners[large])])
    return corners


def _halves(corners: Array) -> Array:
    """Every triangle cut in two across its longest side. (m, 3, 3) → (2 m, 3, 3)"""
    sides = np.linalg.norm(corners - np.roll(corners, -1, axis=1), axis=2)
    turn = (sides.argmax(axis=1)[:, None] + np.arange(3)) % 3
    a, b, c = corners[np.arange(len(corners))[:, None], turn].swapaxes(0, 1)
    middle = (a + b) / 2
    return np.concatenate([np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)])


def uniform_samples(corners: Array, weights: Array, count: int, rng: np.random.Generator) -> tuple[Ints, Array]:
    """`count` independent points of triangles (m, 3, 3), uniform by weight: faces (count,) int, points (count, 3)."""
    ends = np.cumsum(weights)
    # side="right" never lands on a face without area, since such a face ends where the one before it ends
    chosen = np.searchsorted(ends, rng.random(count) * ends[-1], side="right")
    chosen = np.minimum(chosen, np.flatnonzero(weights)[-1])
    u, v = rng.random((2, count, 1))
    folded = u + v > 1
    u, v = np.where(folded, 1 - u, u), np.where(folded, 1 - v, v)
    a, b, c = corners[chosen].swapaxes(0, 1)
    return chosen, a + u * (b - a) + v * (c - a)


def poisson_subset(points: Array, normals: Array, count: int, radius: float) -> Ints:
    """Indices (count,) of a Poisson-disk subset of randomly ordered candidates; earlier candidates take precedence.

    points, normals : (n, 3) float with n ≥ count. `radius` is the widest spacing tried; it shrinks until enough
    survive, and the surplus is cut from the end.
    """
    best = np.arange(len(points))
    low, high, trial = 0.0, radius, radius
    for _ in range(ROUNDS):
        kept = _apart(points, normals, trial)
        if len(kept) >= count:
            best, low = kept, trial
            if len(kept) <= SURPLUS * count or low == high:
                break
        else:
            high = trial
        guess = trial * np.sqrt(len(kept) / count / SURPLUS**0.5)  # survivors go with 1 / radius²
        trial = guess if low < guess < high else (low + high) / 2
    return best[:count]


def _apart(points: Array, normals: Array, radius: float) -> Ints:
    """Greedy Poisson-disk subset: a candidate is kept if no kept one on its side of a wall lies within the radius."""
    kept = np.zeros(len(points), dtype=np.bool_)
    if len(points):
        _throw(points - points.min(axis=0), normals, radius, kept)
    return np.flatnonzero(kept)


@compiled
def _throw(points: Array, normals: Array, radius: float, kept: Bools) -> None:
    """Sets kept (n,). What is kept hangs in chains, one for each cell of a grid; cells may share one."""
    mask = 1
    while mask < len(points):
        mask *= 2
    mask -= 1
    last = np.full(mask + 1, -1, dtype=np.int32)
    before = np.empty(len(points), dtype=np.int32)
    held = np.empty((len(points), 6), dtype=np.float64)  # points and normals of what is kept, close together
    count = 0
    cell = CELL * radius
    for i in range(len(points)):
        x, y, z = points[i]
        u, v, w = normals[i]
        a, b, c = int(x / cell), int(y / cell), int(z / cell)
        free = True
        for n in NEIGHBORHOOD:
            k = last[_chain(a + n // 9 - 1, b + n // 3 % 3 - 1, c + n % 3 - 1, mask)]
            while k >= 0 and free:
                dx, dy, dz = held[k, 0] - x, held[k, 1] - y, held[k, 2] - z
                if dx * dx + dy * dy + dz * dz <= radius * radius:
                    free = held[k, 3] * u + held[k, 4] * v + held[k, 5] * w <= OPPOSED
                k = before[k]
            if not free:
                break
        if free:
            kept[i] = True
            held[count, :3], held[count, 3:] = points[i], normals[i]
            h = _chain(a, b, c, mask)
            before[count], last[h] = last[h], count
            count += 1


@compiled
def _chain(a: int, b: int, c: int, mask: int) -> int:
    """The number of the chain of a cell."""
    return ((a * 73856093) ^ (b * 19349663) ^ (c * 83492791)) & mask


def allocate(areas: Array, total: int, minimum: int = 256) -> Ints:
    """Split `total` samples over parts by area, at least `minimum` each. areas : (p,) float → (p,) int

    The counts add up to `total` less a remainder below p, which nobody gets: handing it out would make two equal
    parts differ and the answer depend on their order. With `p * minimum > total`, every part gets the minimum.
    """
    areas = np.asarray(areas, dtype=np.float64)
    small = np.zeros(len(areas), dtype=bool)
    counts = np.full(len(areas), minimum, dtype=np.int64)
    while not small.all():
        left = total - minimum * small.sum()
        share = areas * left / areas[~small].sum()
        too_small = ~small & (share < minimum)
        if not too_small.any():
            counts[~small] = np.floor(share[~small] + 1e-6)  # the rounding of a moved part must not cost a sample
            break
        small |= too_small
    return counts


def allocate_as_published(areas: Array, total: int, minimum: int = 256) -> Ints:
    """Every part its share of `total` by area, rounded down; small ones get `minimum`, at nobody's expense.

    areas : (p,) float → (p,) int, all together up to `p * minimum` more than `total`
    """
    areas = np.asarray(areas, dtype=np.float64)
    shares = np.floor(total * areas / areas.sum() + 1e-6)  # the rounding of a moved part must not cost a sample
    return np.maximum(shares, minimum).astype(np.int64)
