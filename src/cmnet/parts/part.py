"""A part: one fragment, as a mesh or as a point cloud."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from cmnet.geometry.cloud import area_of_cloud, normals_of_cloud
from cmnet.geometry.pose import Pose
from cmnet.geometry.triangles import areas, signed_volume
from cmnet.geometry.types import Array, Bytes, Ints


@dataclass(frozen=True, eq=False)
class Part:
    """One fragment in its own coordinates.

    vertices : (n, 3) float
    faces    : (m, 3) int, or None for a point cloud
    normals  : (n, 3) float unit normals of a cloud's points, or None where they are unknown (meshes: from the faces)
    colors   : (n, 4) uint8 red, green, blue and opacity of the vertices, or None
    visual   : the textured mesh as it was read, or None; only outputs look at it
    repairs  : what was mended on reading, one phrase each
    """

    name: str
    vertices: Array
    faces: Ints | None = None
    normals: Array | None = None
    file: Path | None = None
    colors: Bytes | None = None
    visual: Any = None
    repairs: tuple[str, ...] = ()

    @cached_property
    def triangles(self) -> Array:
        """(m, 3, 3) float: the corners of every face."""
        if self.faces is None:
            raise ValueError(f"part {self.name!r} is a point cloud and has no triangles")
        return self.vertices[self.faces]

    @cached_property
    def outward(self) -> Array:
        """(n, 3) float: the normals of a cloud's points, as given, or as the points themselves suggest them."""
        if self.faces is not None:
            raise ValueError(f"part {self.name!r} is a mesh; its normals are those of its faces")
        return normals_of_cloud(self.vertices) if self.normals is None else self.normals

    @cached_property
    def area(self) -> float:
        """Surface area, in the square of the given unit; of a cloud as its points show it."""
        if self.faces is None:
            return area_of_cloud(self.vertices, self.outward)
        return float(areas(self.triangles).sum())

    @cached_property
    def volume(self) -> float:
        """Enclosed by a closed mesh, in the cube of the given unit; negative where its faces point inwards."""
        return signed_volume(self.triangles - self.vertices.mean(axis=0))

    def moved(self, T_b_a: Pose) -> Part:
        """The same part with its coordinates taken from frame a to frame b."""
        normals = None if self.normals is None else T_b_a.rotate(self.normals)
        visual = None if self.visual is None else self.visual.copy().apply_transform(T_b_a.matrix())
        return replace(self, vertices=T_b_a.apply(self.vertices), normals=normals, visual=visual)
