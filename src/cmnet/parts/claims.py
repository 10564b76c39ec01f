"""Files that claim more than they hold are refused before anything is allocated for them."""

from __future__ import annotations

import re
import struct
from itertools import islice
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

from cmnet.errors import InputError
from cmnet.reading import parse_json

HEADER = 65_536  # bytes within which the header of a .ply or .off file must end
SIZES = {"char": 1, "uchar": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4, "float": 4, "double": 8}
SIZES |= {"int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8}
SIZES |= {"float16": 2, "float32": 4, "float64": 8}
COMPONENTS = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}  # bytes of glTF's component types
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
UNFOLDED = 2**28  # bytes that a small glTF file may unfold to by using the same data again and again,
TIMES = 8  # or so many times what it stores
MOST_SOLIDS = 10_000  # of an .stl file in text,
MOST_MATERIALS = 1000  # changes of material in an .obj file: more take a reader minutes
COMPRESSED = ("KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_mesh_quantization")


def refuse_false_claims(path: Path) -> None:
    """InputError where the counts in a file's header cannot be true for a file of its size."""
    check = {".ply": _check_ply, ".stl": _check_stl, ".off": _check_off, ".glb": _check_glb, ".gltf": _check_gltf}
    check[".obj"] = _check_obj
    if path.suffix.lower() in check:
        check[path.suffix.lower()](path, path.stat().st_size)


def _truncated(path: Path, promised: str) -> InputError:
    return InputError(f"{path} is truncated: its header promises {promised}, which it does not hold; export it again")


def _damaged(path: Path) -> InputError:
    return InputError(f"{path} cannot be read as {path.suffix.lower()}: it is damaged or truncated; export it again")


def _head(path: Path, length: int = HEADER) -> bytes:
    with path.open("rb") as stream:
        return stream.read(length)


def _check_ply(path: Path, size: int) -> None:
    head = _head(path)
    end = head.find(b"end_header")
    if not head[:3].lower() == b"ply" or end < 0:
        raise _damaged(path)
    lines = [line.split() for line in head[:end].decode("utf-8", "replace").splitlines()]
    text = any(words[:2] == ["format", "ascii"] for words in lines)
    least = count = row = 0
    name = ""
    try:
        for words in [*lines, ["element", "", "0"]]:
            if words[:1] == ["element"]:
                least += count * max(row, 1)
                if count < 0 or least > size - end:
                    raise _truncated(path, f"{count} of {name!r}")
                name, count, row = words[1], int(words[2]), 0
            elif words[:1] == ["property"]:
                kind = words[2] if words[1] == "list" else words[1]
                row += 2 if text else SIZES[kind]
    except InputError:
        raise
    except (KeyError, IndexError, ValueError) as error:
        raise _damaged(path) from error


def _check_stl(path: Path, size: int) -> None:
    head = _head(path, 84)
    if head[:5].lower() == b"solid":  # text, or a binary file with an unlucky title: its length tells when it is read
        _refuse_many(path, b"(?i)endsolid", MOST_SOLIDS, "solids")
        return
    if len(head) < 84:
        raise _damaged(path)
    count = struct.unpack("<I", head[80:84])[0]
    if 84 + 50 * count > size:
        raise _truncated(path, f"{count} triangles")


def _check_obj(path: Path, size: int) -> None:
    _refuse_many(path, b"usemtl ", MOST_MATERIALS, "changes of material")


def _refuse_many(path: Path, word: bytes, most: int, what: str) -> None:
    """The time that a reader takes grows with the square of their number."""
    if path.stat().st_size <= most * len(word):
        return
    with path.open("rb") as stream, mmap(stream.fileno(), 0, access=ACCESS_READ) as content:
        count = sum(1 for _ in islice(re.finditer(word, content), most + 1))
    if count > most:
        raise InputError(f"{path} holds more than {most} {what}; export it as one mesh, without them")


def counts_of_off(path: Path) -> tuple[int, int]:
    """How many vertices and faces the header of an .off file promises."""
    text = _head(path).decode("utf-8", "replace")
    words = [word for line in text.splitlines() for word in line.split("#")[0].split()]
    try:
        return int(words[1]), int(words[2])
    except (IndexError, ValueError) as error:
        raise _damaged(path) from error


def _check_off(path: Path, size: int) -> None:
    vertices, faces = counts_of_off(path)
    if min(vertices, faces) < 0 or 6 * vertices + 8 * faces > size:  # "0 0 0" and "3 0 1 2", each with a line's end
        raise _truncated(path, f"{vertices} vertices and {faces} faces")


def _check_glb(path: Path, size: int) -> None:
    with path.open("rb") as stream:
        head = stream.read(20)
        magic, version, length, chunk, kind = struct.unpack("<4sIII4s", head) if len(head) == 20 else (b"",) * 5
        if magic != b"glTF" or kind != b"JSON":
            raise _damaged(path)
        if version != 2:
            raise InputError(f"{path} is glTF version {version}; only version 2 is read, export it again")
        if length > size or chunk > size - 20:
            raise _truncated(path, f"{length} bytes")
        content = stream.read(chunk)
        while len(head := stream.read(8)) == 8:
            chunk = struct.unpack("<I", head[:4])[0]
            if stream.tell() + chunk > size:
                raise _truncated(path, f"{chunk} bytes")
            stream.seek(chunk, 1)
    _check_tree(path, content, size)


def _check_gltf(path: Path, size: int) -> None:
    _check_tree(path, path.read_bytes(), size)


def _check_tree(path: Path, content: bytes, size: int) -> None:
    """The description of a glTF scene: every array lies in a buffer, and all together are not absurdly large."""
    try:
        tree = parse_json(content, str(path), "export it again")
        used = tree.get("extensionsRequired", [])
        stored = size + sum(_beside(path, buffer.get("uri", "")) for buffer in tree.get("buffers", []))
        arrays = [_array_size(a) for a in tree.get("accessors", [])]
        bare = [a for a in tree.get("accessors", []) if "bufferView" not in a or "sparse" in a]
        unfolded = _unfolded(tree, arrays)
    except InputError:
        raise
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError) as error:
        raise _damaged(path) from error
    packed = [name for name in used if name in COMPRESSED] or (["sparse arrays"] if bare else [])
    if packed:
        raise InputError(f"{path} is packed with {packed[0]}, which is not read; export it without compression")
    if any(not 0 <= array <= stored for array in arrays) or unfolded > max(UNFOLDED, TIMES * stored):
        raise _truncated(path, f"{max([unfolded, *arrays])} bytes of geometry")


def _array_size(accessor: dict[str, Any]) -> int:
    """Bytes of one accessor."""
    return int(accessor["count"]) * COMPONENTS[accessor["componentType"]] * WIDTHS[accessor["type"]]


def _unfolded(tree: dict[str, Any], arrays: list[int]) -> int:
    """Bytes of all meshes, each counted as often as a node or primitive uses it."""
    meshes = []
    for mesh in tree.get("meshes", []):
        used = [[*p["attributes"].values(), *([p["indices"]] if "indices" in p else [])] for p in mesh["primitives"]]
        meshes.append(sum(arrays[index] for indices in used for index in indices))
    return sum(meshes) + sum(meshes[node["mesh"]] for node in tree.get("nodes", []) if "mesh" in node)


def _beside(path: Path, uri: str) -> int:
    """Bytes of a buffer outside the file itself: the file beside it, or nothing where the address holds the data."""
    from cmnet.parts.resolver import file_beside

    return 0 if not uri or uri.startswith("data:") else file_beside(path, uri).stat().st_size
