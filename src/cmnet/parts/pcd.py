"""Point clouds of the Point Cloud Library: .pcd version 0.7, as text, binary, or compressed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmnet.errors import InputError
from cmnet.geometry.types import Array, Bytes
from cmnet.parts.body import Body, as_colors
from cmnet.parts.lzf import EXPANSION, decompress

HEADER = 4096  # bytes within which the header must end
KINDS = {"F": "f", "I": "i", "U": "u"}


@dataclass(frozen=True)
class Header:
    """What a file says it holds. `fields` : name, numpy type and count of every field, in order"""

    fields: tuple[tuple[str, str, int], ...]
    points: int
    data: str
    start: int  # byte at which the points begin

    @property
    def row(self) -> np.dtype[Any]:
        return np.dtype([(f"{k} {name}", kind, (count,)) for k, (name, kind, count) in enumerate(self.fields)])

    def column(self, name: str) -> str:
        """The key of a field by its name; repeated names (padding is called _) make numbered keys necessary."""
        return next(f"{k} {field}" for k, (field, _, _) in enumerate(self.fields) if field == name)

    def has(self, *names: str) -> bool:
        return set(names) <= {field for field, _, _ in self.fields}


def read_pcd(path: Path) -> Body:
    """A cloud, with normals and colours where the file has them. Points that were not measured (NaN) are left out."""
    content = path.read_bytes()
    header = parse_header(path, content[:HEADER])
    readers = {"ascii": _text, "binary": _binary, "binary_compressed": _compressed}
    if header.data not in readers:
        raise InputError(f"{path}: DATA {header.data} is not read; use {', '.join(readers)}")
    rows = readers[header.data](path, header, content[header.start :])
    xyz = _columns(rows, header, "x", "y", "z")
    kept = np.isfinite(xyz).all(axis=1)
    normals = None
    if header.has("normal_x", "normal_y", "normal_z"):
        normals = _columns(rows, header, "normal_x", "normal_y", "normal_z")[kept]
    colors = _colors(rows, header)
    return Body(path.stem, xyz[kept], None, normals, None if colors is None else colors[kept])


def parse_header(path: Path, head: bytes) -> Header:
    """The header, refused where it contradicts itself."""
    entries: dict[str, list[str]] = {}
    position = 0
    while "DATA" not in entries:
        end = head.find(b"\n", position)
        if end < 0:
            raise InputError(f"{path} cannot be read as .pcd: its header has no DATA line; export it again")
        words = head[position:end].decode("ascii", "replace").split()
        if words and not words[0].startswith("#"):
            entries[words[0].upper()] = words[1:]
        position = end + 1
    try:
        return _header(entries, position)
    except (KeyError, ValueError, IndexError, TypeError) as error:
        raise InputError(f"{path} cannot be read as .pcd: its header is damaged; export it again") from error


def _header(entries: dict[str, list[str]], start: int) -> Header:
    names = entries.get("FIELDS") or entries["COLUMNS"]
    kinds = [KINDS[kind] + size for kind, size in zip(entries["TYPE"], entries["SIZE"], strict=True)]
    counts = [int(count) for count in entries.get("COUNT", ["1"] * len(names))]
    fields = tuple(zip(names, kinds, counts, strict=True))
    points = int(entries["POINTS"][0]) if "POINTS" in entries else int(entries["WIDTH"][0]) * int(entries["HEIGHT"][0])
    header = Header(fields, points, entries["DATA"][0].lower(), start)
    if points < 0 or min(counts) < 1 or not header.has("x", "y", "z"):
        raise ValueError("negative numbers, or no coordinates")
    if header.row.itemsize > HEADER:
        raise ValueError("points of absurd size")
    return header


def _text(path: Path, header: Header, body: bytes) -> NDArray[Any]:
    words = body.split()
    width = sum(count for _, _, count in header.fields)
    _refuse_if_short(path, header, len(words), header.points * width)
    try:
        numbers = np.array(words[: header.points * width], dtype=np.float64).reshape(-1, width)
    except ValueError as error:
        raise InputError(f"{path} cannot be read as .pcd: not all its points are numbers; export it again") from error
    rows = np.empty(header.points, dtype=header.row)
    column = 0
    for key, (_, kind, count) in zip(rows.dtype.names or (), header.fields):
        values = numbers[:, column : column + count]
        with np.errstate(invalid="ignore"):
            rows[key] = values.astype(kind)
        column += count
    return rows


def _binary(path: Path, header: Header, body: bytes) -> NDArray[Any]:
    size = header.points * header.row.itemsize
    _refuse_if_short(path, header, len(body), size)
    return np.frombuffer(body[:size], dtype=header.row)


def _compressed(path: Path, header: Header, body: bytes) -> NDArray[Any]:
    """All values of the first field, then all of the second, and so on, compressed as one block."""
    packed, size = (int(n) for n in np.frombuffer(body[:8], dtype="<u4")) if len(body) >= 8 else (0, 0)
    _refuse_if_short(path, header, len(body) - 8, packed)
    if size != header.points * header.row.itemsize or size > EXPANSION * packed:
        raise InputError(f"{path} is damaged: its header promises {header.points} points; export it again")
    try:
        block = decompress(body[8 : 8 + packed], size)
    except ValueError as error:
        raise InputError(f"{path} is damaged: its points cannot be unpacked; export it again") from error
    rows = np.empty(header.points, dtype=header.row)
    position = 0
    for key in rows.dtype.names or ():
        field = rows.dtype[key]
        values = np.frombuffer(block, dtype=field.base, count=header.points * field.shape[0], offset=position)
        rows[key] = values.reshape(header.points, -1)
        position += header.points * field.itemsize
    return rows


def _refuse_if_short(path: Path, header: Header, held: int, promised: int) -> None:
    if held < promised:
        raise InputError(
            f"{path} is truncated: it holds fewer than the {header.points} points it promises; export again"
        )


def _columns(rows: NDArray[Any], header: Header, *names: str) -> Array:
    return np.stack([rows[header.column(name)][:, 0].astype(np.float64) for name in names], axis=1)


def _colors(rows: NDArray[Any], header: Header) -> Bytes | None:
    """(n, 4) uint8: red, green and blue are packed into the bits of one field, whatever its type says."""
    name = next((name for name in ("rgb", "rgba") if header.has(name)), None)
    if name is None or rows.dtype[header.column(name)].base.itemsize != 4:
        return None
    packed = np.ascontiguousarray(rows[header.column(name)][:, 0]).view("<u4")
    return as_colors(np.stack([(packed >> shift) & 255 for shift in (16, 8, 0)], axis=1).astype(np.uint8))
