"""The assembled object as one glTF scene, a named node for every part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cmnet.geometry.types import Array
from cmnet.parts.part import Part
from cmnet.report.gap_colors import linear
from cmnet.report.layout import offsets
from cmnet.report.part_colors import part_color
from cmnet.solving.assembly import Assembly

FAR = 100.0  # sizes from its origin beyond which an object loses digits to glTF, whose numbers are single


def glb_bytes(assembly: Assembly, parts: Sequence[Part]) -> bytes:
    """A binary glTF file. Colours and textures of the parts are kept; what is not of the first group lies aside.

    The coordinates are those of the files, whatever their unit; glTF itself would call it metres. Parts far from their
    origin are stored around a nearer one, which their nodes make up for. A scene far from its origin is moved there:
    x_assembled = x_scene + offset, which stands in the `extras` of the scene.
    """
    import trimesh

    shifts = offsets(assembly, parts)
    middles = np.array([(part.vertices.min(axis=0) + part.vertices.max(axis=0)) / 2 for part in parts])
    sizes = np.array([np.ptp(part.vertices, axis=0).max() for part in parts])
    places = np.array([pose[:3, :3] @ x + pose[:3, 3] for pose, x in zip(assembly.poses, middles)]) + shifts
    offset = _origin(places.mean(axis=0), float(sizes.max()))
    scene = trimesh.Scene(metadata={"offset": offset.tolist()})
    for i, part in enumerate(parts):
        origin = _origin(middles[i], float(sizes[i]))
        transform = np.array(assembly.poses[i], dtype=np.float64)
        transform[:3, 3] += transform[:3, :3] @ origin + shifts[i] - offset
        geometry = _geometry(part, i)
        if origin.any():
            geometry = geometry.copy().apply_translation(-origin)
        scene.add_geometry(geometry, node_name=part.name, geom_name=part.name, transform=transform)
    return bytes(scene.export(file_type="glb"))


def _origin(middle: Array, size: float) -> Array:
    """(3,) float: where to count from for something of this size about there; zero unless it lies far away."""
    return middle if np.linalg.norm(middle) > FAR * size else np.zeros(3)


def _geometry(part: Part, index: int) -> Any:
    """The part as trimesh shows it: with its texture, else its colours, else in the colour that the report gives it."""
    import trimesh

    if part.visual is not None:
        return part.visual
    tone = np.append(np.round(255 * linear((part_color(index),))[0]), 255).astype(np.uint8)  # glTF mixes light
    if part.faces is None:
        colors = np.tile(tone, (len(part.vertices), 1)) if part.colors is None else part.colors
        return trimesh.PointCloud(part.vertices, colors)
    mesh = trimesh.Trimesh(part.vertices, part.faces, vertex_colors=part.colors, process=False)
    if part.colors is None:
        material = trimesh.visual.material.PBRMaterial(baseColorFactor=tone, metallicFactor=0.0, roughnessFactor=0.9)
        mesh.visual = trimesh.visual.TextureVisuals(material=material)
    return mesh
