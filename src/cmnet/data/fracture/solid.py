"""A solid body as manifold3d holds it, with what the mechanisms ask of it: volume, mesh, lattice."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import manifold3d
import numpy as np

from cmnet.data.fracture.lattice import Lattice, build_lattice
from cmnet.geometry.triangles import winding_number
from cmnet.geometry.types import Array, Ints

SHORT = 5e-8  # edge length, object size 0.5 to 1; common readers join vertices within 1e-8
CRUMB = 1e-12  # a body below this share of the whole is rounding, not material


@dataclass(frozen=True, eq=False)
class Mesh:
    """A body's triangles and where each came from.

    vertices : (n, 3) float;  faces : (m, 3) int
    source   : (m,) int, the number of the mesh that a face was cut out of;  triangle : (m,) int, its face there
    """

    vertices: Array
    faces: Ints
    source: Ints
    triangle: Ints


@dataclass(frozen=True, eq=False)
class Solid:
    """One connected body, with or without hollows in it."""

    body: manifold3d.Manifold

    @cached_property
    def volume(self) -> float:
        return float(self.body.volume())

    @cached_property
    def area(self) -> float:
        return float(self.body.surface_area())

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        """The lowest and the highest corner, (3,) float each."""
        box = np.array(self.body.bounding_box())
        return box[:3], box[3:]

    @cached_property
    def mesh(self) -> Mesh:
        mesh = self.body.to_mesh64()
        vertices = np.array(mesh.vert_properties, dtype=np.float64)[:, :3]
        faces = np.array(mesh.tri_verts, dtype=np.int64)
        ends = np.array(mesh.run_index, dtype=np.int64)
        runs = (ends[1:] - ends[:-1]) // 3
        source = np.repeat(np.asarray(mesh.run_original_id, dtype=np.int64), runs)
        return Mesh(vertices, faces, source, np.asarray(mesh.face_id, dtype=np.int64))

    @cached_property
    def short_edges(self) -> int:
        """How many edges are so short that readers which join close vertices would tear the mesh open there."""
        a, b = self.mesh.faces, self.mesh.faces[:, [1, 2, 0]]
        length = np.linalg.norm(self.mesh.vertices[a] - self.mesh.vertices[b], axis=-1)
        return int((length < SHORT).sum())

    @cached_property
    def lattice(self) -> Lattice:
        return build_lattice(self.mesh.vertices, self.mesh.faces, self.volume, self.area)


def make_body(vertices: Array, faces: Ints) -> manifold3d.Manifold:
    """A manifold3d body whose faces keep their numbers through every later cut."""
    mesh = manifold3d.Mesh64(
        np.array(vertices, dtype=np.float64, order="C"),
        np.array(faces, dtype=np.uint64, order="C"),
        run_index=np.array([0, 3 * len(faces)], dtype=np.uint64),
        run_original_id=np.array([manifold3d.Manifold.reserve_ids(1)], dtype=np.uint32),
        face_id=np.arange(len(faces), dtype=np.uint64),
    )
    return manifold3d.Manifold(mesh)


def bodies(body: manifold3d.Manifold, least: float = 0.0) -> list[Solid]:
    """The connected bodies, largest first, each with its own hollows; rounding crumbs below `least` are left out."""
    shells = [(shell, float(shell.volume())) for shell in body.decompose()]
    outer = [shell for shell, volume in sorted(shells, key=lambda s: -s[1]) if volume > least]
    hollows = [shell for shell, volume in shells if volume < -least]
    if len(outer) == 1 and len(hollows) + 1 == len(shells):
        return [Solid(body)]
    holders = [[shell] for shell in outer]
    for hollow in hollows:
        holders[_holder(hollow, outer)].append(hollow)
    return [Solid(h[0] if len(h) == 1 else _side_by_side(h)) for h in holders]


def _side_by_side(shells: list[manifold3d.Manifold]) -> manifold3d.Manifold:
    """One body with all the shells as they are; a boolean union would fill the hollows among them."""
    vertices: list[Array] = []
    faces: list[Ints] = []
    runs, sources, triangles = [0], [], []
    for shell in shells:
        mesh = shell.to_mesh64()
        faces.append(np.array(mesh.tri_verts, dtype=np.int64) + sum([len(v) for v in vertices]))
        vertices.append(np.array(mesh.vert_properties)[:, :3])
        runs += [runs[-1] + end for end in list(mesh.run_index)[1:]]
        sources += list(mesh.run_original_id)
        triangles += list(mesh.face_id)
    joined = manifold3d.Mesh64(
        np.concatenate(vertices),
        np.concatenate(faces).astype(np.uint64),
        run_index=np.array(runs, dtype=np.uint64),
        run_original_id=np.array(sources, dtype=np.uint32),
        face_id=np.array(triangles, dtype=np.uint64),
    )
    return manifold3d.Manifold(joined)


def _holder(hollow: manifold3d.Manifold, outer: list[manifold3d.Manifold]) -> int:
    """Which of the outer shells contains the hollow: the smallest one that winds around a point of it."""
    point = np.asarray(hollow.to_mesh64().vert_properties)[0, :3]
    for k in range(len(outer) - 1, -1, -1):
        mesh = outer[k].to_mesh64()
        corners = np.asarray(mesh.vert_properties)[:, :3][np.asarray(mesh.tri_verts)]
        if winding_number(corners, point) > 0.5:
            return k
    return 0
