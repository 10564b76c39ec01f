"""What the viewer draws of a part: few enough faces, normals that are smooth but for sharp edges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from cmnet.geometry.sampling import allocate
from cmnet.geometry.triangles import normals_and_areas
from cmnet.geometry.types import Array, Ints
from cmnet.parts.part import Part
from cmnet.report.refine import refine
from cmnet.report.thin import thin

Distance = Callable[[Array], Array]

FACES = 300_000  # of all parts together; a cloud's point counts as one face
LEAST = 1500  # of one part
FINE = 1.4  # times the reach: how long edges near other parts may be
UPWARDS = np.array([0.0, 0.0, 1.0])  # the normal of faces without area
SHARP = 35.0  # degrees between faces from which their edge stays sharp


@dataclass(frozen=True, eq=False)
class Display:
    """A part as it is drawn, in the part's own coordinates.

    vertices : (n, 3) float
    normals  : (n, 3) float, unit length
    faces    : (m, 3) int, or None for a cloud
    area     : of the whole surface
    exact    : whether the vertices lie on the part's surface, and not only near it
    """

    vertices: Array
    normals: Array
    faces: Ints | None
    area: float
    exact: bool = True

    @property
    def spacing(self) -> float:
        """How far apart the points of a cloud lie."""
        return float(np.sqrt(self.area / max(len(self.vertices), 1)))


def display(parts: Sequence[Part], distances: Sequence[Distance | None], reach: float) -> list[Display]:
    """Of every part what is drawn: FACES in all, by area, and more where others come within `reach`.

    distances : of each part, how far points in its coordinates are from the others; None where nothing is near
    """
    areas = np.array([part.area for part in parts])
    shares = allocate(np.maximum(areas, 1e-300), FACES, min(LEAST, FACES // max(len(parts), 1)))
    return [
        _cloud(part, float(area), int(most))
        if part.faces is None
        else _mesh(part, part.faces, int(most), distance, reach)
        for part, area, most, distance in zip(parts, areas, shares, distances)
    ]


def _cloud(part: Part, area: float, most: int) -> Display:
    step = np.linspace(0, len(part.vertices) - 1, min(most, len(part.vertices))).astype(int)
    return Display(part.vertices[step], part.outward[step], None, area)


def _mesh(part: Part, faces: Ints, most: int, distance: Distance | None, reach: float) -> Display:
    exact = len(faces) <= most
    vertices, faces = thin(part.vertices, faces, most)
    if distance is not None:
        vertices, faces = refine(vertices, faces, distance, reach, FINE * reach, int(1.3 * most))
    vertices, faces, normals = creased(vertices, faces)
    return Display(vertices, normals, faces, part.area, exact)


def creased(vertices: Array, faces: Ints, sharp: float = SHARP) -> tuple[Array, Ints, Array]:
    """Split vertices along sharp edges so that each has one normal.

    vertices : (v, 3) float, faces : (m, 3) int → vertices (n, 3), faces (m, 3), normals (n, 3); unused ones dropped
    """
    across = normals_and_areas(vertices[faces])[0]
    corner = _smooth_corners(faces, across, sharp)
    count = int(corner.max(initial=-1)) + 1
    weights = np.repeat(across, 3, axis=0) * _angles(vertices, faces).reshape(-1, 1)
    normals: Array = np.stack([np.bincount(corner, w, minlength=count) for w in weights.T], axis=1)
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.where(length > 0, normals / np.maximum(length, 1e-300), UPWARDS)
    place = np.zeros(count, dtype=np.int64)
    place[corner] = faces.ravel()
    return vertices[place], corner.reshape(-1, 3), normals


def _smooth_corners(faces: Ints, across: Array, sharp: float) -> Ints:
    """(3 m,) int: which corners of faces share a normal, the corners at both ends of every edge that is not sharp."""
    start, end = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    low, high = np.minimum(start, end), np.maximum(start, end)
    order = np.lexsort((high, low))
    same = (low[order][1:] == low[order][:-1]) & (high[order][1:] == high[order][:-1])
    e, f = order[:-1][same], order[1:][same]  # half-edges, numbered like the corners they start at
    flat = np.einsum("kc,kc->k", across[e // 3], across[f // 3]) > np.cos(np.radians(sharp))
    e, f = e[flat], f[flat]
    after_e, after_f = e - e % 3 + (e + 1) % 3, f - f % 3 + (f + 1) % 3
    opposed = start[e] != start[f]
    i = np.concatenate([e, after_e])
    j = np.concatenate([np.where(opposed, after_f, f), np.where(opposed, f, after_f)])
    graph = coo_array((np.ones(len(i), dtype=np.int8), (i, j)), shape=(len(start), len(start)))
    return connected_components(graph, directed=False)[1].astype(np.int64)


def _angles(vertices: Array, faces: Ints) -> Array:
    """(m, 3) float: the angle of every face at its corners."""
    corners = vertices[faces]
    after, before = np.roll(corners, -1, axis=1) - corners, np.roll(corners, 1, axis=1) - corners
    sine = np.linalg.norm(np.cross(after, before), axis=2)
    return np.arctan2(sine, np.einsum("mkc,mkc->mk", after, before))
