"""Writing parts to files, the same bytes for the same part on every machine."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmnet.files import replacing
from cmnet.geometry.types import Array
from cmnet.parts.part import Part

COLORS = ("red", "green", "blue", "alpha")


def save_part(part: Part, path: Path) -> None:
    """Write a part as binary .ply in double precision, so that mating surfaces still coincide when read back."""
    with replacing(path) as temporary:
        temporary.write_bytes(ply_bytes(part))


def ply_bytes(part: Part, values: Mapping[str, Array] | None = None, comments: Sequence[str] = ()) -> bytes:
    """The file's content: a mesh, or a point cloud with or without normals; with its colours, if it has any.

    values : (n,) float each, more properties of the vertices by name; comments : of the header, in ASCII
    """
    columns: list[tuple[str, str, str, NDArray[Any]]]
    columns = [(name, "double", "<f8", part.vertices[:, k]) for k, name in enumerate(("x", "y", "z"))]
    if part.normals is not None:
        columns += [(name, "double", "<f8", part.normals[:, k]) for k, name in enumerate(("nx", "ny", "nz"))]
    if part.colors is not None:
        columns += [(name, "uchar", "u1", part.colors[:, k]) for k, name in enumerate(COLORS)]
    columns += [(name, "float", "<f4", column) for name, column in (values or {}).items()]
    rows = np.empty(len(part.vertices), dtype=[(name, kind) for name, _, kind, _ in columns])
    for name, _, _, column in columns:
        rows[name] = column
    header = ["ply", "format binary_little_endian 1.0", *(f"comment {line}" for line in comments)]
    header += [f"element vertex {len(rows)}"]
    header += [f"property {kind} {name}" for name, kind, _, _ in columns]
    body = rows.tobytes()
    if part.faces is not None:
        header += [f"element face {len(part.faces)}", "property list uchar int vertex_indices"]
        faces = np.empty(len(part.faces), dtype=[("count", "u1"), ("corners", "<i4", 3)])
        faces["count"], faces["corners"] = 3, part.faces
        body += faces.tobytes()
    return ("\n".join([*header, "end_header"]) + "\n").encode("ascii") + body
