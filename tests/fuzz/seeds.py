"""A healthy file of every kind that is read; the fuzzer damages copies of them."""

import io
import struct
import zipfile

import numpy as np
import trimesh
from PIL import Image

BALL = trimesh.creation.icosphere(1)
POINTS = np.asarray(BALL.vertices, dtype="<f4")


def seeds():
    """Content by file name. Files that others refer to come as a third entry."""
    colored = BALL.copy()
    colored.visual.vertex_colors = np.arange(4 * len(POINTS)).reshape(-1, 4) % 256
    binary = colored.export(file_type="ply")
    found = {
        "text.ply": colored.export(file_type="ply", encoding="ascii"),
        "binary.ply": binary,
        "big.ply": big_endian(),
        "mixed.ply": mixed(),
        "cloud.ply": trimesh.PointCloud(POINTS).export(file_type="ply"),
        "plain.obj": BALL.export(file_type="obj").encode(),
        "quads.obj": quads(),
        "binary.stl": BALL.export(file_type="stl"),
        "text.stl": BALL.export(file_type="stl_ascii").encode(),
        "plain.off": BALL.export(file_type="off").encode(),
        "scene.glb": scene().export(file_type="glb"),
        "textured.glb": textured().export(file_type="glb"),
        "inside.gltf": scene().export(file_type="gltf", embed_buffers=True)["model.gltf"],
        "points.xyz": "\n".join(" ".join(f"{x:.4f}" for x in [*p, *p]) for p in POINTS).encode(),
    }
    found |= {f"{data}.pcd": pcd(data) for data in ("ascii", "binary", "binary_compressed")}
    found["pile.zip"] = zipped({"a.ply": binary, "b/c.stl": found["binary.stl"]})
    return found


def scene():
    two = trimesh.Scene()
    two.add_geometry(BALL, node_name="a", transform=trimesh.transformations.rotation_matrix(1, [0, 0, 1]))
    two.add_geometry(BALL, node_name="b", parent_node_name="a")
    return two


def textured():
    box = trimesh.creation.box()
    picture = Image.fromarray(np.arange(48, dtype=np.uint8).reshape(4, 4, 3))
    look = trimesh.visual.TextureVisuals(box.vertices[:, :2] + 0.5, image=picture)
    return trimesh.Trimesh(box.vertices, box.faces, visual=look, process=False)


def quads():
    corners = "\n".join(f"v {x} {y} {z}" for x in (0, 1) for y in (0, 1) for z in (0, 1))
    return (corners + "\nf 1/1/1 2/2/2 4/3/3 3/4/4\nf 5 6 8 7\nf 1 2 6 5\nf 3 4 8\n").encode()


def mixed():
    """Faces of three and of four corners."""
    head = "ply\nformat binary_little_endian 1.0\nelement vertex 5\n" + "".join(f"property float {c}\n" for c in "xyz")
    head += "element face 5\nproperty list uchar int vertex_indices\nend_header\n"
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 1]], dtype="<f4")
    faces = [[3, 2, 1, 0], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]
    return head.encode() + corners.tobytes() + b"".join(struct.pack(f"<B{len(f)}i", len(f), *f) for f in faces)


def big_endian():
    head = f"ply\nformat binary_big_endian 1.0\nelement vertex {len(POINTS)}\n"
    head += "".join(f"property float {c}\n" for c in ("x", "y", "z", "nx", "ny", "nz"))
    rows = np.concatenate([POINTS, POINTS], axis=1).astype(">f4")
    return (head + "end_header\n").encode() + rows.tobytes()


def pcd(data):
    head = (
        f"VERSION 0.7\nFIELDS x y z rgb\nSIZE 4 4 4 4\nTYPE F F F U\nCOUNT 1 1 1 1\nWIDTH {len(POINTS)}\nHEIGHT 1\n"
        f"VIEWPOINT 0 0 0 1 0 0 0\nPOINTS {len(POINTS)}\nDATA {data}\n"
    ).encode()
    rows = np.concatenate([POINTS.view("<u4"), np.full((len(POINTS), 1), 255, dtype="<u4")], axis=1)
    if data == "ascii":
        return head + "\n".join(" ".join(f"{x:.4f}" for x in p) + " 255" for p in POINTS).encode()
    if data == "binary":
        return head + rows.tobytes()
    block = rows.T.tobytes()
    packed = b"".join(bytes([len(run) - 1]) + run for run in (block[k : k + 32] for k in range(0, len(block), 32)))
    return head + np.array([len(packed), len(block)], dtype="<u4").tobytes() + packed


def zipped(entries):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return stream.getvalue()
