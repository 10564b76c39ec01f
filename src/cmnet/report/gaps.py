"""How far apart parts lie that should touch: at every point of one the signed distance to another's surface."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from scipy.spatial import cKDTree

from cmnet.geometry.pose import Pose
from cmnet.geometry.sampling import uniform_samples
from cmnet.geometry.trees import nearest_few, nearest_one
from cmnet.geometry.triangles import normals_and_areas
from cmnet.geometry.types import Array, Ints
from cmnet.pairing.join import Join
from cmnet.parts.part import Part
from cmnet.solving.assembly import Assembly

Distance = Callable[[Array], Array]

SITES = 30_000  # points of a mesh beyond one a face through which its nearest faces are found
DENSE = 150_000  # faces of a mesh or points of a cloud beyond which so many samples are enough
NEAREST = 6  # of these are looked at
BEHIND = 0.5  # cosine to the nearest face's normal from which a point is behind it
TIED = 1.001  # faces within this factor of the nearest decide together on which side a point lies


@dataclass(frozen=True, eq=False)
class Target:
    """A part's surface, ready to be asked how far points are from it.

    sites   : tree over (s, 3) points of the surface
    corners : (s, 3, 3) float, the triangle of each site; None for clouds and very fine meshes, whose sites stand for
              discs as wide as their spacing
    normals : (s, 3) float, unit length, outwards
    samples : (n,) int, sites spread evenly over the surface
    spacing : how far apart sites lie
    area    : of the surface
    """

    part: Part
    sites: cKDTree
    corners: Array | None
    normals: Array
    samples: Ints
    spacing: float
    area: float

    def rough_distances(self, points: Array, within: float) -> Array:
        """(n,) float: unsigned distance to the nearest site, which is quick; infinite beyond `within`."""
        distances = np.full(len(points), np.inf)
        low, high = self.part.vertices.min(axis=0) - within, self.part.vertices.max(axis=0) + within
        near = np.flatnonzero(((points >= low) & (points <= high)).all(axis=1))
        distances[near] = nearest_one(self.sites, points[near], within)[0]
        return distances

    def distances(self, points: Array, within: float) -> Array:
        """(n,) float: signed distance of points in the part's coordinates, negative inside; infinite beyond `within`.

        points : (n, 3) float
        """
        distances = np.full(len(points), np.inf)
        near = np.flatnonzero(np.isfinite(self.rough_distances(points, within + 2 * self.spacing)))
        if len(near):
            found = self._signed(points[near])
            distances[near] = np.where(np.abs(found) <= within, found, np.inf)
        return distances

    def snapped(self, points: Array) -> Array:
        """(n, 3) float: the points of the surface nearest to points near it. points : (n, 3) float"""
        if self.corners is None:
            index = nearest_one(self.sites, points)[1]
            height = np.einsum("nc,nc->n", points - self.sites.data[index], self.normals[index])
            return points - height[:, None] * self.normals[index]
        offset = self._offsets(points, self.corners)[1]
        nearest = np.linalg.norm(offset, axis=2).argmin(axis=1)
        return points - offset[np.arange(len(points)), nearest]

    def _offsets(self, points: Array, corners: Array) -> tuple[Ints, Array]:
        """Sites (n, k) near each point, and the way (n, k, 3) to it from the triangle of each."""
        index = nearest_few(self.sites, points, NEAREST)[1]
        nearest = closest_points(np.repeat(points, index.shape[1], axis=0), corners[index.ravel()])
        return index, points[:, None] - nearest.reshape(*index.shape, 3)

    def _signed(self, points: Array) -> Array:
        if self.corners is None:
            return self._from_discs(points, nearest_one(self.sites, points)[1])
        index, offset = self._offsets(points, self.corners)
        distance = np.linalg.norm(offset, axis=2)
        height = np.einsum("nkc,nkc->nk", offset, self.normals[index])
        # Beside an edge two faces are equally near: the one that the point stands off most knows the side.
        tied = distance <= TIED * distance.min(axis=1, keepdims=True)
        decisive = np.take_along_axis(height, np.where(tied, np.abs(height), -1).argmax(axis=1)[:, None], axis=1)[:, 0]
        # A point nearly in the plane of its nearest face is beside it, and its true neighbour was not looked at.
        nearest = distance.min(axis=1)
        return nearest * np.where(decisive < -BEHIND * nearest, -1.0, 1.0)

    def _from_discs(self, points: Array, index: Ints) -> Array:
        offset = points - self.sites.data[index]
        height = np.einsum("nc,nc->n", offset, self.normals[index])
        beside = np.linalg.norm(offset - height[:, None] * self.normals[index], axis=1)
        distance = np.hypot(height, np.maximum(beside - self.spacing, 0))
        return distance * np.where(height < 0, -1.0, 1.0)


def target(part: Part, seed: int = 0) -> Target:
    """Prepare a part's surface."""
    rng = np.random.default_rng(seed)
    if part.faces is None:
        chosen = rng.permutation(len(part.vertices))[:DENSE]
        return _discs(part, part.vertices[chosen], part.outward[chosen], part.area)
    normals, area = normals_and_areas(part.triangles)
    solid = np.flatnonzero(area > 0)
    corners, normals, area = part.triangles[solid], normals[solid], area[solid]
    if len(solid) > DENSE:
        face, xyz = uniform_samples(corners, area, DENSE, rng)
        return _discs(part, xyz, normals[face], part.area)
    face, xyz = uniform_samples(corners, area, SITES, rng)
    owner = np.concatenate([np.arange(len(corners)), face])
    sites, samples = np.concatenate([corners.mean(axis=1), xyz]), len(corners) + np.arange(len(xyz))
    spacing = float(np.sqrt(part.area / len(sites)))
    return Target(part, cKDTree(sites), corners[owner], normals[owner], samples, spacing, part.area)


def _discs(part: Part, xyz: Array, normals: Array, area: float) -> Target:
    spacing = float(np.sqrt(area / len(xyz)))
    return Target(part, cKDTree(xyz), None, normals, np.arange(len(xyz)), spacing, area)


def closest_points(points: Array, corners: Array) -> Array:
    """(n, 3) float: of each triangle the point nearest to its point. points : (n, 3), corners : (n, 3, 3) float"""
    a, u, v = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    w = points - a
    uu, uv, vv = (np.einsum("nc,nc->n", p, q) for p, q in ((u, u), (u, v), (v, v)))
    wu, wv = np.einsum("nc,nc->n", w, u), np.einsum("nc,nc->n", w, v)
    area = np.maximum(uu * vv - uv * uv, 1e-300)
    s, t = (vv * wu - uv * wv) / area, (uu * wv - uv * wu) / area
    inside = (s >= 0) & (t >= 0) & (s + t <= 1)
    best = a + s[:, None] * u + t[:, None] * v
    least = np.where(inside, 0.0, np.inf)
    for k in range(3):  # outside, the nearest point lies on an edge
        p, along = corners[:, k], corners[:, (k + 1) % 3] - corners[:, k]
        share = np.einsum("nc,nc->n", points - p, along) / np.maximum(np.einsum("nc,nc->n", along, along), 1e-300)
        on_edge = p + np.clip(share, 0, 1)[:, None] * along
        squared = ((points - on_edge) ** 2).sum(axis=1)
        better = squared < least
        best[better], least = on_edge[better], np.where(better, squared, least)
    return best


def gaps_of_assembly(
    assembly: Assembly, targets: Sequence[Target], within: float, points: Sequence[Array] | None = None
) -> list[Array]:
    """Of every part, at each vertex, the signed distance to the nearest other part of its group, negative inside it.

    targets : one for each part
    points  : where to measure, in the coordinates of each part; its vertices by default
    → one (n,) float for each part; infinite beyond `within`, everywhere for parts that are not placed
    """
    where = [each.part.vertices for each in targets] if points is None else points
    poses = [Pose.from_matrix(pose) for pose in assembly.poses]
    gaps = [np.full(len(xyz), np.inf) for xyz in where]
    for k, other in ((k, other) for group in assembly.groups for k, other in permutations(group, 2)):
        T_other_k = poses[other].inverse() @ poses[k]
        found = targets[other].distances(T_other_k.apply(where[k]), within)
        gaps[k] = np.where(np.abs(found) < np.abs(gaps[k]), found, gaps[k])
    return gaps


def distance_to_others(assembly: Assembly, targets: Sequence[Target], part: int, within: float) -> Distance | None:
    """A function of points in the coordinates of a part: roughly how far the rest of its group is, if it has one.

    (n, 3) float → (n,) float, infinite beyond `within`
    """
    group = next((group for group in assembly.groups if part in group), [])
    poses = [Pose.from_matrix(pose) for pose in assembly.poses]
    others = [(targets[k], poses[k].inverse() @ poses[part]) for k in group if k != part]

    def distance(points: Array) -> Array:
        return np.min([other.rough_distances(T.apply(points), within) for other, T in others], axis=0)

    return distance if others else None


def gaps_of_join(
    join: Join, targets: Sequence[Target], within: float, points: Sequence[Array] | None = None
) -> tuple[Array, Array]:
    """The same for the two parts of one join, in its pose. → (n_i,) float, (n_j,) float"""
    i, j = join.parts
    where = [each.part.vertices for each in targets] if points is None else points
    gap_i = targets[j].distances(join.T_i_j.inverse().apply(where[i]), within)
    gap_j = targets[i].distances(join.T_i_j.apply(where[j]), within)
    return gap_i, gap_j
