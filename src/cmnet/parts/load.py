"""Reading parts from folders, files, zips, meshes and arrays."""

from __future__ import annotations

import os
import re
import unicodedata
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from cmnet.errors import InputError
from cmnet.parts.archive import unpacked
from cmnet.parts.body import Body
from cmnet.parts.convert import refuse_crowds, split_bodies, to_part, together, without_outliers
from cmnet.parts.health import check_part
from cmnet.parts.meshfile import bodies_of_scene, joined, read_mesh_file
from cmnet.parts.part import Part
from cmnet.parts.pcd import read_pcd
from cmnet.parts.xyz import read_xyz
from cmnet.reading import expanded

FORMATS = (".ply", ".obj", ".stl", ".off", ".glb", ".gltf", ".xyz", ".pcd")
ARCHIVE = ".zip"
IMAGES = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".heic", ".dng", ".cr2", ".nef", ".arw")


def load_parts(source: Any) -> list[Part]:
    """Parts from a folder, a file, a zip, or a sequence of such paths, trimesh objects, (n, 3) arrays or Parts.

    Several files are one part each. A file given alone is taken apart: the nodes of its scene, or its connected
    bodies, are the parts. Files of a folder come in natural order (piece_2 before piece_10); a sequence keeps its own.
    """
    zips: dict[Path, Path] = {}
    with ExitStack() as stack:
        places = [place for item in _items(source) for place in _expanded(item, stack, zips)]
        try:
            if len(places) == 1:
                parts = _taken_apart(places[0])
            else:
                parts = [_as_one(place, f"part_{k}") for k, place in enumerate(places)]
        except InputError as error:
            raise InputError(_as_packed(str(error), zips)) from error
    packed = [p if p.file is None else replace(p, file=Path(_as_packed(str(p.file), zips))) for p in parts]
    return _with_distinct_names(packed if zips else parts)


def load_part(path: str | Path) -> Part:
    """One part from a mesh or point cloud file, all that it holds together."""
    return _as_one(expanded(path), "")


def natural_key(name: str) -> tuple[tuple[int, int, str, str], ...]:
    """Sorts piece_2 before piece_10."""
    pieces = re.findall(r"\d+|\D+", name)
    values = [p.lstrip("0") for p in pieces]
    return tuple((0, len(v), v, p) if p.isdecimal() else (1, 0, "", p) for p, v in zip(pieces, values))


def _items(source: Any) -> Sequence[Any]:
    """The source as a sequence of paths and objects."""
    one = isinstance(source, str | Path | Part) or hasattr(source, "vertices") or hasattr(source, "graph")
    if one or (isinstance(source, np.ndarray) and source.ndim == 2):
        return [source]
    try:
        return list(source)
    except TypeError:
        return [source]


def _expanded(item: Any, stack: ExitStack, zips: dict[Path, Path]) -> Sequence[Any]:
    """A folder or a zip as the files in it; anything else as it is. Notes in `zips` what was unpacked where."""
    if not isinstance(item, str | Path):
        return [item]
    path = expanded(item)
    if os.path.isdir(path):  # Path.is_dir fails where a folder on the way may not be read
        return _files_of(path, path)
    if path.suffix.lower() != ARCHIVE or not os.path.isfile(path):
        return [path]
    folder = stack.enter_context(unpacked(path))
    zips[folder] = path
    return _files_of(folder, path)


def _as_packed(text: str, zips: dict[Path, Path]) -> str:
    """A message or path that speaks of the zip instead of the folder it was unpacked to."""
    for folder, path in zips.items():
        text = text.replace(str(folder.resolve()), str(path)).replace(str(folder), str(path))
    return text


def _files_of(folder: Path, shown: Path) -> list[Path]:
    """The files of a folder that may be parts, in natural order; those of a zip (shown) from all its folders."""
    try:
        found = folder.iterdir() if shown == folder else folder.rglob("*")
        names = sorted((str(p.relative_to(folder)) for p in found if not p.name.startswith(".")), key=natural_key)
    except OSError as error:
        raise InputError(f"cannot read folder {folder}: {error.strerror}; change its permissions") from error
    files = [folder / name for name in names if Path(name).suffix.lower() in FORMATS and (folder / name).is_file()]
    if not files:
        raise InputError(
            f"no fragments in {shown}: {_instead(names)}; put one {', '.join(FORMATS)} file per fragment there"
        )
    return files


def _instead(names: Sequence[str]) -> str:
    """What a folder without fragments holds."""
    if not names:
        return "it is empty"
    holds = f"it holds {', '.join(names[:3])}{' ...' if len(names) > 3 else ''}"
    images = all(Path(name).suffix.lower() in IMAGES for name in names)
    return f"{holds}, and pictures have to become 3D models first (photogrammetry)" if images else holds


def _as_one(item: Any, name: str) -> Part:
    """Everything that a file or object holds as one part."""
    if isinstance(item, Part):
        return without_outliers(check_part(item))
    if isinstance(item, str | Path):
        path = expanded(item)
        return together(shown_name(path.stem), [to_part(body, path) for body in _read(path)])
    return together(name, [to_part(body, None) for body in _bodies_in(item, name)])


def _taken_apart(item: Any) -> list[Part]:
    """The parts of a file or object that was given alone: the nodes of its scene, or else its connected bodies."""
    if isinstance(item, Part):
        return [without_outliers(check_part(item))]
    path = expanded(item) if isinstance(item, str | Path) else None
    bodies = _bodies_in(item, "part_0") if path is None else _read(path)
    refuse_crowds(str(path or "the scene"), len(bodies))
    if len(bodies) == 1:
        name = bodies[0].name if path is None else path.stem
        bodies = split_bodies(replace(bodies[0], name=name), path)
    bodies = sorted(bodies, key=lambda body: natural_key(body.name))
    return [to_part(replace(body, name=shown_name(body.name)), path) for body in bodies]


def _read(path: Path) -> list[Body]:
    """The bodies of a file."""
    kind = path.suffix.lower()
    try:
        if not path.exists():
            raise InputError(f"no such file or folder: {path}; check the path")
        if kind not in FORMATS or not path.is_file():
            found = f"files of type {kind or '(none)'!r}" if path.is_file() else "things that are no files"
            raise InputError(f"{path}: {found} are not read; use {', '.join(FORMATS)}")
        if path.stat().st_size == 0:
            raise InputError(f"{path} is an empty file; export the fragment again")
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):  # what matters is checked afterwards
            if kind in (".xyz", ".pcd"):
                return [(read_xyz if kind == ".xyz" else read_pcd)(path)]
            return read_mesh_file(path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}; check its permissions") from error


def _bodies_in(item: Any, name: str) -> list[Body]:
    """The bodies of an object in memory: a trimesh scene, mesh or cloud, or an (n, 3) array."""
    if hasattr(item, "graph") and hasattr(item, "geometry"):
        return bodies_of_scene(item, name, named=True)
    if hasattr(item, "vertices"):
        return [joined(str(getattr(item, "metadata", {}).get("name") or name), [item])]
    try:
        points = np.array(item, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} is a {type(item).__name__}; give a file path, a mesh or an (n, 3) array") from None
    if points.ndim != 2 or points.shape[1] != 3:
        raise InputError(f"{name} is an array of shape {points.shape}; a point cloud has shape (n, 3)")
    return [Body(name, points)]


def shown_name(name: str) -> str:
    """A name fit to be shown and stored: no control characters, no bytes that are no text."""
    kept = "".join("_" if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") else c for c in name).strip()
    return kept or "part"


def _with_distinct_names(parts: list[Part]) -> list[Part]:
    """Results are named by part: of two parts called a, the second becomes a_2."""
    taken: set[str] = set()
    distinct = []
    for part in parts:
        name, k = part.name, 2
        while name in taken:
            name, k = f"{part.name}_{k}", k + 1
        taken.add(name)
        distinct.append(part if name == part.name else replace(part, name=name))
    return distinct
