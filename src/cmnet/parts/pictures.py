"""The pictures on textured meshes, kept to a size that a report can carry."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

log = logging.getLogger("cmnet")

KEPT = 2**26  # pixels of all pictures of a file together; larger ones are shrunk
READ = 2**28  # pixels that are decoded to be shrunk; beyond that there are no pictures at all
TEXTURES = (
    "image",
    "baseColorTexture",
    "metallicRoughnessTexture",
    "normalTexture",
    "emissiveTexture",
    "occlusionTexture",
)


def shrink_pictures(name: str, geometries: Iterable[Any]) -> None:
    """Make the pictures of trimesh geometries smaller where their headers announce too many pixels."""
    materials = [getattr(getattr(geometry, "visual", None), "material", None) for geometry in geometries]
    places = [(m, key) for m in materials for key in TEXTURES if getattr(getattr(m, key, None), "size", None)]
    pictures = {id(getattr(m, key)): getattr(m, key) for m, key in places}
    pixels = sum(width * height for width, height in (p.size for p in pictures.values()))
    if pixels > READ:
        log.warning("%s: its pictures have %.0f million pixels and are left out", name, pixels / 1e6)
        for material, key in places:
            setattr(material, key, None)
    elif pixels > KEPT:
        log.warning("%s: its pictures have %.0f million pixels and are shrunk", name, pixels / 1e6)
        for picture in pictures.values():
            _shrink(picture, (KEPT / pixels) ** 0.5)


def _shrink(picture: Any, share: float) -> None:
    """In place, each side to a share of its length. What is damaged stays, to be left out where it is shown."""
    try:
        picture.thumbnail([max(1, int(side * share)) for side in picture.size])
    except Exception:  # decoders raise whatever they stumble over
        return
