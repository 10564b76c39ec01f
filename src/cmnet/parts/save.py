"""Writing parts to files, the same bytes for the same part on every machine."""

from pathlib import Path

import numpy as np

from cmnet.files import replacing
from cmnet.parts.part import Part

HEADER = """\
ply
format binary_little_endian 1.0
element vertex {vertices}
property double x
property double y
property double z
element face {faces}
property list uchar int vertex_indices
end_header
"""


def save_part(part: Part, path: Path) -> None:
    """Write a mesh as binary .ply in double precision, so that mating surfaces still coincide when read back."""
    if part.faces is None:
        raise ValueError(f"part {part.name!r} is a point cloud; only meshes are written")
    faces = np.empty(len(part.faces), dtype=[("count", "u1"), ("corners", "<i4", 3)])
    faces["count"], faces["corners"] = 3, part.faces
    header = HEADER.format(vertices=len(part.vertices), faces=len(faces)).encode()
    with replacing(path) as temporary:
        temporary.write_bytes(header + part.vertices.astype("<f8").tobytes() + faces.tobytes())
