"""Files that are built as their formats ask for, but for some decisions that go wrong: counts, types, references.

Bytes that change at random rarely get past a header; these do. FORMATS maps a file's name to what writes it.
"""

import base64
import io
import json
import struct
import zipfile

import numpy as np
import torch
import trimesh
from safetensors.torch import save

from cmnet.model.network import CMNet

BALL = trimesh.creation.icosphere(1)
ODD = [
    "0",
    "-1",
    "1",
    "2147483648",
    "99999999999999999999",
    "1e400",
    "-1e300",
    "1e-300",
    "nan",
    "inf",
    "",
    "x",
    "9" * 5000,
]
VALUES = [None, True, 0, -1, 2**31, 10**30, 0.5, 1e300, "", "x", "..", [], {}, [[]], [[[[0]]]], {"a": {"b": []}}]
BREAKS = ["g", "g a", "o", "o b", "s off", "usemtl", "usemtl c", "mtllib ../x", "l 1 2", "\\"]  # between faces of .obj
PLACES = [
    {},
    {"translation": [1, 2, 3]},
    {"scale": [1, 2, -1]},
    {"rotation": [0, 0, 0, 1]},
    {"matrix": [2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 1, 2, 3, 1]},
]
PATHS = ["../a.ply", "a/", "a.ply/b.ply", "\0.ply", "a.zip"]
PACKED = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
PLY_TYPES = {"char": "b", "uchar": "B", "short": "h", "int": "i", "uint": "I", "float": "f", "double": "d"}


class Dice:
    """Decides as it should, and otherwise at random."""

    def __init__(self, rng, rates=(0.0003, 0.003, 0.03, 0.2)):
        self.rng = rng
        self.rate = float(rng.choice(rates))

    def wrong(self):
        return self.rng.random() < self.rate

    def one(self, choices):
        return choices[int(self.rng.integers(len(choices)))]

    def word(self, right):
        return self.one(ODD) if self.wrong() else str(right)

    def count(self, right):
        """A number that a binary header can hold."""
        return int(self.one([0, 1, right - 1, right + 1, 2 * right, 2**31, 2**32 - 1])) if self.wrong() else right

    def some(self, rows):
        """All rows, or fewer, or some of them twice."""
        if not self.wrong():
            return list(rows)
        return [rows[k] for k in np.sort(self.rng.integers(len(rows), size=int(self.rng.integers(1, 2 * len(rows)))))]

    def points(self):
        size, place = self.one([(1.0, 0.0), (1000.0, 1e6), (1e-3, 0.0)])
        points = BALL.vertices * size + place
        if self.wrong():
            points[self.rng.integers(len(points))] = float(self.one(["nan", "inf", "1e9", "-1e49", "1e300", "1e-300"]))
        return points


def ply(dice):
    order, text = dice.one([("<", False), (">", False), ("<", True)])
    kind = "ascii" if text else {"<": "binary_little_endian", ">": "binary_big_endian"}[order]
    names = dice.some(["x", "y", "z", *dice.one([[], ["nx", "ny", "nz"], ["red", "green", "blue"], ["x"]])])
    types = [dice.one(list(PLY_TYPES)) if dice.wrong() else dice.one(["float", "double"]) for _ in names]
    points, faces = dice.points(), dice.some(BALL.faces.tolist())
    head = f"ply\nformat {dice.word(kind)} 1.0\ncomment {dice.word('x')}\nelement vertex {dice.word(len(points))}\n"
    head += "".join(f"property {dice.word(t)} {n}\n" for t, n in zip(types, names))
    length, index = dice.one(["uchar", "int"]), dice.one(["int", "uint", "short"])
    if not dice.wrong():
        head += f"element face {dice.word(len(faces))}\nproperty list {length} {index} {dice.word('vertex_indices')}\n"
    with np.errstate(all="ignore"):
        rows = [[np.nan_to_num(p["xyz".find(n)] if n in "xyz" else 0.5) for n in names] for p in points]
    faces = [[dice.one([-1, 41, 42, 999, 32767]) if dice.wrong() else k for k in face] for face in faces]
    if text:
        lines = [" ".join(dice.word(f"{x:g}") for x in row) for row in rows]
        lines += [" ".join([dice.word(len(face)), *map(str, face)]) for face in faces]
        return (head + "end_header\n" + "\n".join(lines)).encode()
    body = b"".join(packed(order + PLY_TYPES[t], x) for row in rows for t, x in zip(types, row))
    for face in faces:
        body += packed(order + PLY_TYPES[length], dice.count(len(face)) % 128)
        body += b"".join(packed(order + PLY_TYPES[index], k) for k in face)
    return (head + "end_header\n").encode() + body


def packed(kind, value):
    """As struct packs it, or zero where it does not fit."""
    try:
        return struct.pack(kind, value if kind[-1] in "fd" else int(value))
    except (struct.error, OverflowError):
        return struct.pack(kind, 0)


def obj(dice):
    lines = [f"{dice.word('v')} " + " ".join(dice.word(f"{x:g}") for x in p) for p in dice.points()]
    lines += ["vt 0.5 0.5"] * dice.one([0, 0, 5]) + ["vn 0 0 1"] * dice.one([0, 0, 5])
    for face in dice.some(BALL.faces.tolist()):
        form = dice.one(["{}", "{}/1", "{}//1", "{}/1/1"]) if dice.wrong() else "{}"
        corners = [form.format(dice.one([0, -1, -99, 43, 10**9]) if dice.wrong() else k + 1) for k in dice.some(face)]
        lines.append("f " + " ".join(corners))
        if dice.wrong():
            lines.append(
                dice.one(["g", "g a", "o", "o b", "s off", "usemtl", "usemtl c", "mtllib ../x", "l 1 2", "\\"])
            )
    return "\n".join(dice.some(lines) if dice.wrong() else lines).encode()


def off(dice):
    points, faces = dice.points(), dice.some(BALL.faces.tolist())
    lines = [dice.one(["OFF", "COFF", "OFF # x", "off"]) if dice.wrong() else "OFF"]
    lines.append(f"{dice.word(len(points))} {dice.word(len(faces))} {dice.word(0)}")
    lines += [" ".join(dice.word(f"{x:g}") for x in p) for p in points]
    lines += [" ".join(dice.word(k) for k in (3, *face)) for face in faces]
    return "\n".join(lines).encode()


def stl(dice):
    triangles = dice.points()[np.array(dice.some(BALL.faces.tolist()))]
    if dice.one([True, False]):
        with np.errstate(over="ignore"):
            rows = [np.concatenate([np.zeros(3), t.ravel()]).astype("<f4").tobytes() + b"\0\0" for t in triangles]
        title = dice.one([b"solid", b"x"]) if dice.wrong() else b""
        return title.ljust(80, b"\0") + struct.pack("<I", dice.count(len(rows))) + b"".join(rows)
    lines = ["solid " + dice.word("a")]
    for triangle in triangles:
        lines += ["facet normal 0 0 1", "outer loop"]
        lines += ["vertex " + " ".join(dice.word(f"{x:g}") for x in p) for p in dice.some(triangle)]
        lines += ["endloop", "endfacet"] + (["endsolid", "solid b"] if dice.wrong() else [])
    return "\n".join([*lines, "endsolid"]).encode()


def xyz(dice):
    gap = dice.one([" ", ",", ";", "\t"])
    extra = dice.one([[], [0.0, 0.0, 1.0], [255, 0, 10], [0.5], [0, 0, 1, 9, 9, 9, 255]])
    lines = [dice.one(["x y z", "//X,Y,Z", "# x", "42"])] if dice.wrong() else []
    for p in dice.points():
        lines.append(gap.join(dice.word(x) for x in dice.some([f"{x:g}" for x in (*p, *extra)])))
    return "\n".join(lines).encode(dice.one(["utf-8", "utf-8-sig", "utf-16"]) if dice.wrong() else "utf-8")


def pcd(dice):
    fields = dice.some(["x", "y", "z", *dice.one([[], ["rgb"], ["normal_x", "normal_y", "normal_z"], ["_", "_"]])])
    n = len(fields)
    kinds = [dice.one(["F", "I", "U"]) if dice.wrong() else "F" for _ in fields]
    sizes = [dice.one([1, 2, 4, 8, 3]) if dice.wrong() else 4 for _ in fields]
    points = dice.points()
    data = dice.one(["ascii", "binary", "binary_compressed"])
    rows = np.zeros((len(points), n), dtype="<f4")
    with np.errstate(over="ignore"):
        rows[:, : min(n, 3)] = points[:, : min(n, 3)]
    head = {
        "FIELDS": fields,
        "SIZE": sizes,
        "TYPE": kinds,
        "COUNT": [dice.one([0, 2, -1, 10**6]) if dice.wrong() else 1 for _ in fields],
        "WIDTH": [dice.word(len(points))],
        "HEIGHT": [dice.word(1)],
        "POINTS": [dice.word(len(points))],
        "DATA": [dice.word(data)],
    }
    if dice.wrong():
        del head[dice.one(list(head)[:-1])]
    text = "".join(f"{key} {' '.join(map(str, words))}\n" for key, words in head.items()).encode()
    if data == "ascii":
        return text + "\n".join(" ".join(dice.word(f"{x:g}") for x in row) for row in rows).encode()
    block = rows.tobytes() if data == "binary" else rows.T.tobytes()
    if data == "binary":
        return text + block
    runs = b"".join(bytes([len(r) - 1]) + r for r in (block[k : k + 32] for k in range(0, len(block), 32)))
    return text + struct.pack("<II", dice.count(len(runs)), dice.count(len(block))) + runs


def mutated(tree, dice):
    """JSON with some values replaced, entries gone, and entries twice."""
    if dice.wrong():
        return dice.one([*VALUES, "@1e400", "@" + "9" * 400])
    if isinstance(tree, dict):
        return {key: mutated(value, dice) for key, value in tree.items() if not dice.wrong()}
    return dice.some([mutated(value, dice) for value in tree]) if isinstance(tree, list) and tree else tree


def dumped(tree):
    """Text where "@1e400" stands for a number that JSON can say and Python cannot."""
    text = json.dumps(tree)
    for number in ("1e400", "9" * 400):
        text = text.replace(f'"@{number}"', number)
    return text.encode()


def scene(dice, inside):
    """The description of a glTF scene and its numbers, in a buffer inside (.gltf) or behind it (.glb)."""
    with np.errstate(over="ignore"):
        content = dice.points().astype("<f4").tobytes() + BALL.faces.astype("<u2").tobytes()
    cut = len(BALL.vertices) * 12
    buffer = {"byteLength": len(content)}
    if inside:
        buffer["uri"] = "data:application/octet-stream;base64," + base64.b64encode(content).decode()
    tree = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0, 1]}],
        "nodes": [{"mesh": 0, "name": "a", **dice.one(PLACES)}, {"name": "b", "children": [2]}, {"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "mode": 4, "material": 0}]}],
        "materials": [{"pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, 1], "baseColorTexture": {"index": 0}}}],
        "textures": [{"source": 0}],
        "images": [{"mimeType": "image/png", "bufferView": 1}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": len(BALL.vertices), "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": BALL.faces.size, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": cut},
            {"buffer": 0, "byteOffset": cut, "byteLength": len(content) - cut},
        ],
        "buffers": [buffer],
    }
    return dumped(mutated(tree, dice)), content


def gltf(dice):
    return scene(dice, inside=True)[0]


def glb(dice):
    tree, content = scene(dice, inside=False)
    tree += b" " * (-len(tree) % 4)
    chunks = struct.pack("<I4s", dice.count(len(tree)), b"JSON") + tree
    chunks += struct.pack("<I4s", dice.count(len(content)), b"BIN\0") + content
    return struct.pack("<4sII", b"glTF", dice.count(2), dice.count(12 + len(chunks))) + chunks


def pile(dice):
    """A zip of other files, some under names that they should not have."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for k in range(int(dice.rng.integers(1, 4))):
            name = dice.one(list(FORMATS)[:6])
            entry = zipfile.ZipInfo(dice.one(PATHS) if dice.wrong() else f"{k}{name}")
            entry.compress_type = dice.one(
                [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
            )
            archive.writestr(entry, FORMATS[name](dice))
    content = bytearray(stream.getvalue())
    if dice.wrong():  # one number of the directory at the end
        at = content.find(b"PK\1\2") + dice.one([8, 10, 16, 20, 24, 28, 42])
        content[at : at + 4] = struct.pack("<I", dice.count(100))
    return bytes(content)


def constraints(dice):
    pose = np.eye(4).tolist()
    tree = {
        "format": "cmnet.constraints/1",
        "join": [["a", "b"], {"parts": ["a", 2], "pose": pose}],
        "forbid": [["b", "c"]],
        "fix": [{"part": "a", "pose": pose}],
        "same": [["a", "b", "c"]],
        "different": [["a", "b"]],
    }
    return dumped(mutated(tree, dice))


NET = CMNet.from_preset("cmnet-base", widths=(2, 3, 4, 5), features=6, descriptor=8, attention=4)


def weights(dice):
    tensors = {}
    for name, value in NET.state_dict().items():
        if dice.wrong():
            value = dice.one([value * float("nan"), value[None], value.half(), value.long(), torch.zeros(0)])
        tensors[name] = value.contiguous().clone()
    header = {"format": "cmnet.weights/1", "config": NET.config.to_dict(), "notes": {}}
    return save(tensors, metadata={"cmnet": dumped(mutated(header, dice)).decode()})


FORMATS = {
    "a.ply": ply,
    "a.obj": obj,
    "a.off": off,
    "a.stl": stl,
    "a.xyz": xyz,
    "a.pcd": pcd,
    "a.gltf": gltf,
    "a.glb": glb,
    "a.zip": pile,
    "a.json": constraints,
    "a.safetensors": weights,
}
