"""Writing parts to files, the same bytes for the same part on every machine."""

from pathlib import Path

import numpy as np

from cmnet.files import replacing
from cmnet.parts.part import Part


def save_part(part: Part, path: Path) -> None:
    """Write a part as binary .ply in double precision, so that mating surfaces still coincide when read back."""
    with replacing(path) as temporary:
        temporary.write_bytes(ply_bytes(part))


def ply_bytes(part: Part) -> bytes:
    """The file's content: a mesh, or a point cloud with or without normals."""
    columns = part.vertices if part.normals is None else np.concatenate([part.vertices, part.normals], axis=1)
    header = ["ply", "format binary_little_endian 1.0", f"element vertex {len(columns)}"]
    header += [f"property double {name}" for name in ("x", "y", "z", "nx", "ny", "nz")[: columns.shape[1]]]
    body = np.ascontiguousarray(columns, dtype="<f8").tobytes()
    if part.faces is not None:
        header += [f"element face {len(part.faces)}", "property list uchar int vertex_indices"]
        faces = np.empty(len(part.faces), dtype=[("count", "u1"), ("corners", "<i4", 3)])
        faces["count"], faces["corners"] = 3, part.faces
        body += faces.tobytes()
    return ("\n".join([*header, "end_header"]) + "\n").encode("ascii") + body
