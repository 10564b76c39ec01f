"""Mesh files through trimesh: every way of failing becomes one sentence."""

from __future__ import annotations

import io
import logging
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from cmnet.errors import InputError
from cmnet.geometry.types import Array, Bytes
from cmnet.parts.body import Body, as_colors
from cmnet.parts.claims import counts_of_off, refuse_false_claims
from cmnet.parts.pictures import shrink_pictures
from cmnet.parts.polygons import read_polygons
from cmnet.parts.resolver import Beside

log = logging.getLogger("cmnet")

PLAIN = (102, 102, 102, 255)  # trimesh's colour of meshes that have none


def read_mesh_file(path: Path) -> list[Body]:
    """The bodies of a file: one for each node of a glTF scene, in natural order of names; one of any other file."""
    refuse_false_claims(path)
    try:
        with quiet("trimesh"):
            bodies = _bodies(path)
    except InputError:
        raise
    except MemoryError as error:
        raise InputError(f"{path} does not fit into memory; thin it out before exporting it") from error
    except Exception as error:  # the readers of six formats raise whatever they stumble over
        kind = path.suffix.lower()
        raise InputError(f"{path} cannot be read as {kind}: it is damaged or truncated; export it again") from error
    if not bodies:
        raise InputError(f"{path} is empty: it holds neither faces nor points; export the fragment again")
    return bodies


def _bodies(path: Path) -> list[Body]:
    """What trimesh finds in a file, or what it should."""
    import trimesh

    kind = path.suffix.lower()
    try:
        with _stream(path) as stream:
            scene = trimesh.load(
                stream,
                file_type=kind[1:],
                resolver=Beside(path),
                force="scene",
                process=False,
                maintain_order=True,
            )
    except Exception:
        if kind != ".ply":
            raise
        return [read_polygons(path)]
    if kind == ".off" and sum(len(g.faces) for g in scene.geometry.values()) < counts_of_off(path)[1]:
        raise ValueError("trimesh does not count the faces")
    shrink_pictures(path.stem, scene.geometry.values())
    return bodies_of_scene(scene, path.stem, named=kind in (".glb", ".gltf"))


def _stream(path: Path) -> BinaryIO:
    """The file; of a binary .stl with something appended, as some scanners do, what its header announces."""
    stream = path.open("rb")
    if path.suffix.lower() != ".stl":
        return stream
    head = stream.read(84)
    stream.seek(0)
    if head[:5].lower() == b"solid":
        return stream
    with stream:
        return io.BytesIO(stream.read(84 + 50 * struct.unpack("<I", head[80:])[0]))


def bodies_of_scene(scene: Any, name: str, named: bool) -> list[Body]:
    """The bodies of a trimesh scene: one for each node that has a mesh, or all of them as one called `name`."""
    owners: dict[str, list[Any]] = {}
    places: dict[str, Array] = {}
    for node in scene.graph.nodes_geometry:
        matrix, key = scene.graph[node]
        geometry = scene.geometry[key]
        if not hasattr(geometry, "faces") and not hasattr(geometry, "colors"):
            continue  # lines
        # A glTF mesh of several materials comes as one node for each below the node it belongs to.
        split = getattr(geometry, "metadata", {}).get("from_gltf_primitive")
        owner = scene.graph.transforms.parents[node] if split else node
        owners.setdefault(owner if named else name, []).append(geometry)
        places.setdefault(owner if named else name, np.array(matrix, dtype=np.float64))
    return [joined(owner, geometries, places[owner]) for owner, geometries in owners.items()]


def joined(name: str, geometries: Sequence[Any], T_scene: Array | None = None) -> Body:
    """One body from the meshes (or, where there is none, the clouds) that share a node."""
    meshes = [g for g in geometries if getattr(g, "faces", None) is not None]
    if not meshes:
        return _cloud(name, geometries, T_scene)
    vertices = [np.array(mesh.vertices, dtype=np.float64).reshape(-1, 3) for mesh in meshes]
    starts = np.cumsum([0, *map(len, vertices)])
    faces = [np.array(m.faces, dtype=np.int64).reshape(-1, 3) + start for m, start in zip(meshes, starts)]
    looks = [_look(mesh, len(v)) for mesh, v in zip(meshes, vertices)]
    return Body(
        name,
        np.concatenate(vertices),
        np.concatenate(faces),
        colors=_stacked([colors for colors, _ in looks], [len(v) for v in vertices]),
        visual=_one_visual(meshes) if any(textured for _, textured in looks) else None,
        T_scene=T_scene,
    )


def _cloud(name: str, clouds: Sequence[Any], T_scene: Array | None) -> Body:
    vertices = [np.array(cloud.vertices, dtype=np.float64).reshape(-1, 3) for cloud in clouds]
    sizes = [len(v) for v in vertices]
    normals = [_stored_normals(cloud, n) for cloud, n in zip(clouds, sizes)]
    colors = [_vertex_colors(getattr(cloud, "colors", None), n) for cloud, n in zip(clouds, sizes)]
    known = [n for n in normals if n is not None]
    return Body(
        name,
        np.concatenate(vertices),
        None,
        np.concatenate(known) if len(known) == len(clouds) else None,
        _stacked(colors, sizes),
        T_scene=T_scene,
    )


def _stored_normals(cloud: Any, n: int) -> Array | None:
    """(n, 3) normals that a .ply file gives its points."""
    raw = getattr(cloud, "metadata", {}).get("_ply_raw", {}).get("vertex", {}).get("data")
    try:
        return np.stack([np.asarray(raw[axis], dtype=np.float64).reshape(n) for axis in ("nx", "ny", "nz")], axis=1)
    except (TypeError, KeyError, ValueError, IndexError):
        return None


def _look(mesh: Any, n: int) -> tuple[Bytes | None, bool]:
    """The colours (n, 4) of a mesh's vertices, and whether they come from a texture."""
    visual: Any = getattr(mesh, "visual", None)
    kind = getattr(visual, "kind", None)
    if kind not in ("vertex", "face", "texture"):
        return None, False
    try:
        if kind != "texture":
            return _vertex_colors(visual.vertex_colors, n), False
        material = visual.material
        image = getattr(material, "baseColorTexture", None) or getattr(material, "image", None)
        if image is not None and visual.uv is not None:
            return _vertex_colors(visual.to_color().vertex_colors, n), True
        plain = tuple(np.asarray(material.main_color).tolist())
        return (None if plain == PLAIN else np.tile(np.array(plain, dtype=np.uint8), (n, 1))), False
    except Exception:  # a damaged picture must not cost the shape
        log.warning("the texture of a mesh cannot be read and is left out")
        return None, False


def _vertex_colors(colors: Any, n: int) -> Bytes | None:
    colors = np.asarray(colors) if colors is not None else np.zeros(0)
    return as_colors(colors) if colors.shape in ((n, 3), (n, 4)) and n else None


def _stacked(colors: Sequence[Bytes | None], sizes: Sequence[int]) -> Bytes | None:
    """One array for several meshes; those without colours are light grey. None where none has any."""
    if all(c is None for c in colors):
        return None
    grey = np.array([200, 200, 200, 255], dtype=np.uint8)
    return np.concatenate([np.tile(grey, (n, 1)) if c is None else c for c, n in zip(colors, sizes)])


def _one_visual(meshes: Sequence[Any]) -> Any:
    """The textured mesh; of several, one with their pictures packed into one."""
    import trimesh

    if len(meshes) == 1:
        return meshes[0]
    try:
        return trimesh.util.concatenate(meshes)
    except Exception:
        log.warning("the textures of a mesh cannot be packed into one; its vertex colours are kept instead")
        return None


@contextmanager
def quiet(logger: str) -> Iterator[None]:
    """Silence a logger of somebody else's for a while."""
    log = logging.getLogger(logger)
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before
