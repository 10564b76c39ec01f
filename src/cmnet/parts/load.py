"""Reading parts from folders, files, meshes and arrays."""

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cmnet.errors import InputError
from cmnet.parts.health import check_part, distinct_points, drop_doubled_faces, merge_coincident
from cmnet.parts.part import Part

Array = NDArray[np.float64]

FORMATS = (".ply", ".obj", ".stl", ".off", ".glb")


def load_parts(source: Any) -> list[Part]:
    """Parts from a folder, a file, or a sequence of file paths, trimesh objects, (n, 3) arrays or Parts.

    The files of a folder come in natural order (piece_2 before piece_10); a sequence keeps its own.
    """
    if isinstance(source, str | Path):
        path = Path(source).expanduser()
        items: Sequence[Any] = _files_of(path) if path.is_dir() else [path]
    elif isinstance(source, Part) or hasattr(source, "vertices") or _is_cloud(source):
        items = [source]
    else:
        try:
            items = list(source)
        except TypeError:
            items = [source]
    return _with_distinct_names([_to_part(item, f"part_{i}") for i, item in enumerate(items)])


def load_part(path: str | Path) -> Part:
    """One part from a mesh or point cloud file."""
    path = Path(path).expanduser()
    if not path.exists():
        raise InputError(f"no such file: {path}; check the path")
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"{path}: files of type {path.suffix or '(none)'!r} are not read; use {', '.join(FORMATS)}")
    loaded = _read(path)
    return _from_mesh(path.stem, loaded, path)


def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Sorts piece_2 before piece_10."""
    pieces = re.findall(r"\d+|\D+", name)
    return tuple((0, int(p), p) if p.isdecimal() else (1, 0, p) for p in pieces)


def _files_of(folder: Path) -> list[Path]:
    names = sorted((p.name for p in folder.iterdir() if not p.name.startswith(".")), key=natural_key)
    files = [folder / name for name in names if Path(name).suffix.lower() in FORMATS]
    if not files:
        holds = f"it holds {', '.join(names[:3])}{' ...' if len(names) > 3 else ''}" if names else "it is empty"
        raise InputError(f"no fragments in {folder}: {holds}; put one {', '.join(FORMATS)} file per fragment there")
    return files


def _to_part(item: Any, name: str) -> Part:
    if isinstance(item, Part):
        return check_part(item)
    if isinstance(item, str | Path):
        return load_part(item)
    if hasattr(item, "vertices"):
        return _from_mesh(str(getattr(item, "metadata", {}).get("name") or name), item, None)
    try:
        points = np.array(item, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} is a {type(item).__name__}; give a file path, a mesh or an (n, 3) array") from None
    if points.ndim != 2 or points.shape[1] != 3:
        raise InputError(f"{name} is an array of shape {points.shape}; a point cloud has shape (n, 3)")
    return check_part(_cloud(name, points, None, None))


def _is_cloud(source: Any) -> bool:
    return isinstance(source, np.ndarray) and source.ndim == 2


def _from_mesh(name: str, mesh: Any, file: Path | None) -> Part:
    """A Part from anything with `vertices` and perhaps `faces`."""
    vertices = np.array(mesh.vertices, dtype=np.float64).reshape(-1, 3)
    given = getattr(mesh, "faces", None)
    if given is None:
        return check_part(_cloud(name, vertices, _normals_in(mesh, len(vertices)), file))
    faces = np.array(given, dtype=np.int64).reshape(-1, 3)
    check_part(Part(name, vertices, faces, file=file))
    vertices, faces = merge_coincident(vertices, faces)
    return check_part(Part(name, *merge_coincident(vertices, drop_doubled_faces(faces)), file=file))


def _cloud(name: str, points: Array, normals: Array | None, file: Path | None) -> Part:
    kept = distinct_points(points)
    return Part(name, points[kept], None, None if normals is None else normals[kept], file)


def _normals_in(cloud: Any, n: int) -> Array | None:
    """(n, 3) unit normals that a .ply file gives its points, where all of them have one."""
    raw = getattr(cloud, "metadata", {}).get("_ply_raw", {}).get("vertex", {}).get("data")
    try:
        normals = np.stack([np.asarray(raw[axis], dtype=np.float64).reshape(n) for axis in ("nx", "ny", "nz")], axis=1)
    except (TypeError, KeyError, ValueError, IndexError):
        return None
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    return normals / lengths if np.isfinite(lengths).all() and (lengths > 0).all() else None


def _read(path: Path) -> Any:
    """What trimesh makes of a file, as one mesh or cloud; every way of failing becomes one sentence."""
    import trimesh

    if path.stat().st_size == 0:
        raise InputError(f"{path} is an empty file; export the fragment again")
    try:
        with _quiet("trimesh"):
            loaded = trimesh.load(path, process=False, maintain_order=True, skip_materials=True)
            if isinstance(loaded, trimesh.Scene):
                loaded = loaded.to_mesh()
    except Exception as error:  # the readers of five formats raise whatever they stumble over
        kind = path.suffix.lower()
        raise InputError(f"{path} cannot be read as {kind}: it is damaged or truncated; export it again") from error
    if path.suffix.lower() == ".off" and len(getattr(loaded, "faces", ())) < _faces_promised(path):
        raise InputError(f"{path} is truncated: it has fewer faces than its header says; export it again")
    return loaded


def _faces_promised(path: Path) -> int:
    """The number of faces in the header of an .off file, which trimesh does not check."""
    with path.open(encoding="utf-8", errors="replace") as lines:
        words = [word for _, line in zip(range(20), lines) for word in line.split("#")[0].split()]
    return int(words[2])


@contextmanager
def _quiet(logger: str) -> Iterator[None]:
    """Silence a logger of somebody else's for a while."""
    log = logging.getLogger(logger)
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


def _with_distinct_names(parts: list[Part]) -> list[Part]:
    """Results are named by part: of two parts called a, the second becomes a_2."""
    taken: set[str] = set()
    distinct = []
    for part in parts:
        name, k = part.name, 2
        while name in taken:
            name, k = f"{part.name}_{k}", k + 1
        taken.add(name)
        distinct.append(part if name == part.name else Part(name, part.vertices, part.faces, part.normals, part.file))
    return distinct
