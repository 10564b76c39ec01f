"""Binary .ply files whose faces have different numbers of corners, which trimesh does not read."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmnet.geometry.types import Ints
from cmnet.parts.body import Body, as_colors

KINDS = {"char": "b", "uchar": "B", "short": "h", "ushort": "H", "int": "i", "uint": "I", "float": "f", "double": "d"}
KINDS |= {"int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I"}
KINDS |= {"float32": "f", "float64": "d"}
COLORS = ("red", "green", "blue")


@dataclass
class Element:
    """One kind of row: its name, how many there are, and of every property the name and types (list: count, item)."""

    name: str
    count: int
    properties: list[tuple[str, str, str | None]]


def read_polygons(path: Path) -> Body:
    """The mesh of a binary .ply file, its faces cut into triangles. Raises whatever a damaged file leads to."""
    content = path.read_bytes()
    order, elements, position = _header(content)
    vertices: NDArray[Any] | None = None
    faces = np.zeros((0, 3), dtype=np.int64)
    for element in elements:
        if element.name == "face":
            faces, position = _faces(content, position, element, order)
            continue
        row = np.dtype([(name, order + KINDS[kind]) for name, kind, item in element.properties if item is None])
        if len(row.names or ()) < len(element.properties):
            raise ValueError(f"lists of varying length in {element.name}")
        rows = np.frombuffer(content, row, element.count, position)
        position += rows.nbytes
        vertices = rows if element.name == "vertex" else vertices
    if vertices is None:
        raise ValueError("no vertices")
    named = set(vertices.dtype.names or ())
    colors = np.stack([vertices[c] for c in COLORS], axis=1) if named.issuperset(COLORS) else None
    xyz = np.stack([vertices[axis].astype(np.float64) for axis in "xyz"], axis=1)
    return Body(path.stem, xyz, faces, colors=None if colors is None else as_colors(colors))


def _header(content: bytes) -> tuple[str, list[Element], int]:
    """The order of bytes, what the file holds, and where it begins."""
    end = content.index(b"\n", content.index(b"end_header")) + 1
    lines = [line.split() for line in content[:end].decode("ascii", "replace").splitlines()]
    order = {"binary_little_endian": "<", "binary_big_endian": ">"}[lines[1][1]]
    elements: list[Element] = []
    for words in lines:
        if words[:1] == ["element"]:
            elements.append(Element(words[1], int(words[2]), []))
        elif words[:2] == ["property", "list"]:
            elements[-1].properties.append((words[4], words[2], words[3]))
        elif words[:1] == ["property"]:
            elements[-1].properties.append((words[2], words[1], None))
    return order, elements, end


def _faces(content: bytes, position: int, element: Element, order: str) -> tuple[Ints, int]:
    """Triangles (m, 3) that fan out from the first corner of every face, and where the faces end."""
    fan: list[tuple[int, int, int]] = []
    for _ in range(element.count):
        for name, kind, item in element.properties:
            length = struct.unpack_from(order + KINDS[kind], content, position)[0] if item else 1
            position += struct.calcsize(KINDS[kind]) if item else 0
            values = f"{order}{int(length)}{KINDS[item or kind]}"
            if name in ("vertex_indices", "vertex_index"):
                corners = struct.unpack_from(values, content, position)
                fan += [(corners[0], corners[k], corners[k + 1]) for k in range(1, len(corners) - 1)]
            position += struct.calcsize(values)
            if position > len(content):
                raise ValueError("the file ends in the middle of a face")
    return np.array(fan, dtype=np.int64).reshape(-1, 3), position
