"""The assembled object as one glTF scene, a named node for every part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cmnet.parts.part import Part
from cmnet.report.layout import offsets
from cmnet.solving.assembly import Assembly

# Muted earthen tones for parts without colours of their own, so that neighbours can be told apart.
PALETTE = ("#c9a27e", "#8fa8a3", "#b8b08d", "#a3816a", "#7f93ad", "#c4b7a6", "#93a07a", "#b58f8f", "#d3bf93", "#8d8791")


def glb_bytes(assembly: Assembly, parts: Sequence[Part]) -> bytes:
    """A binary glTF file. Colours and textures of the parts are kept; what is not of the first group lies aside.

    The coordinates are those of the files, whatever their unit; glTF itself would call it metres.
    """
    import trimesh

    scene = trimesh.Scene()
    shifts = offsets(assembly, parts)
    for i, part in enumerate(parts):
        transform = np.array(assembly.poses[i], dtype=np.float64)
        transform[:3, 3] += shifts[i]
        scene.add_geometry(_geometry(part, i), node_name=part.name, geom_name=part.name, transform=transform)
    return bytes(scene.export(file_type="glb"))


def _geometry(part: Part, index: int) -> Any:
    """The part as trimesh shows it: with its texture, else its colours, else a tone of the palette."""
    import trimesh

    if part.visual is not None:
        return part.visual
    tone = [int(PALETTE[index % len(PALETTE)][k : k + 2], 16) for k in (1, 3, 5)] + [255]
    if part.faces is None:
        colors = (
            np.tile(np.array(tone, dtype=np.uint8), (len(part.vertices), 1)) if part.colors is None else part.colors
        )
        return trimesh.PointCloud(part.vertices, colors)
    mesh = trimesh.Trimesh(part.vertices, part.faces, vertex_colors=part.colors, process=False)
    if part.colors is None:
        material = trimesh.visual.material.PBRMaterial(baseColorFactor=tone, metallicFactor=0.0, roughnessFactor=0.9)
        mesh.visual = trimesh.visual.TextureVisuals(material=material)
    return mesh
