"""From bodies as stored to healthy parts: merged, mended, turned the right way out, split where a body is several."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from cmnet.errors import InputError
from cmnet.geometry.triangles import areas, signed_volume, winding_number
from cmnet.geometry.types import Array, Bools, Ints
from cmnet.parts.body import Body
from cmnet.parts.edges import face_bodies
from cmnet.parts.health import FEW, check_part, coincident, distinct_points, drop_doubled_faces, outliers, strays
from cmnet.parts.orientation import faces_to_flip, is_inside_out
from cmnet.parts.part import Part

log = logging.getLogger("cmnet")

MOST_BODIES = 500  # fragments of one file
DEBRIS = 1e-3  # bodies with less than this share of the largest one's area, in a file of several, are crumbs of a scan


def to_part(body: Body, file: Path | None) -> Part:
    """A part in the coordinates of its scene."""
    with np.errstate(over="ignore", invalid="ignore"):
        return _placed(_merged(body, file) if body.faces is not None else _cloud(body, file), body.T_scene)


def refuse_crowds(where: str, bodies: int) -> None:
    """A file that falls into very many bodies holds no fragments."""
    if bodies > MOST_BODIES:
        raise InputError(
            f"{where} falls into {bodies} bodies, more than {MOST_BODIES}: perhaps loose triangles, not fragments; "
            "merge its vertices where they meet, or give one file per fragment"
        )


def split_bodies(body: Body, file: Path | None) -> list[Body]:
    """The connected bodies of a mesh, the walls of inner hollows with the body around them; crumbs are left out."""
    if body.faces is None:
        return [body]
    check_part(Part(body.name, body.vertices, body.faces, file=file))
    labels = face_bodies(coincident(body.vertices, body.faces)[1])
    if not labels.any():
        return [body]
    triangles = body.vertices[body.faces]
    total = np.bincount(labels, areas(triangles))
    large = np.flatnonzero(total > DEBRIS * total.max())
    refuse_crowds(str(file or body.name), len(large))
    if len(large) < len(total):
        log.warning("%s: %d loose crumbs are left out", body.name, len(total) - len(large))
    owner = _around(triangles, labels, large)
    wanted = np.unique(owner[large])
    width = len(str(len(wanted)))
    names = [f"{body.name}_{n:0{width}}" if len(wanted) > 1 else body.name for n in range(1, len(wanted) + 1)]
    return [_chosen(body, np.isin(labels, large[owner[large] == k]), name) for k, name in zip(wanted, names)]


def _chosen(body: Body, which: Bools, name: str) -> Body:
    """The faces (m,) bool of a body as a body of their own."""
    assert body.faces is not None
    visual = None if body.visual is None else body.visual.submesh([np.flatnonzero(which)], append=True, repair=False)
    used, faces = np.unique(body.faces[which], return_inverse=True)
    colors = None if body.colors is None else body.colors[used]
    return replace(
        body, name=name, vertices=body.vertices[used], faces=faces.reshape(-1, 3), colors=colors, visual=visual
    )


def _around(triangles: Array, labels: Ints, large: Ints) -> Ints:
    """(b,) int: of every body the one it belongs to, which is itself unless it is the wall of a hollow.

    The wall of a hollow encloses a negative volume and lies inside another body.
    """
    owner = np.arange(int(labels.max()) + 1)
    pieces = {int(k): triangles[labels == k] for k in large}
    volumes = {k: signed_volume(piece - piece.mean(axis=(0, 1))) for k, piece in pieces.items()}
    for k in (k for k in pieces if volumes[k] < 0):
        around = [j for j in pieces if volumes[j] > -volumes[k] and winding_number(pieces[j], pieces[k][0, 0]) > 0.5]
        owner[k] = min(around, key=lambda j: volumes[j], default=k)
    return owner


def _merged(body: Body, file: Path | None) -> Part:
    """Coincident vertices become one, doubled faces go, faces that point the wrong way are turned."""
    assert body.faces is not None
    check_part(Part(body.name, body.vertices, body.faces, file=file))
    kept, faces = coincident(body.vertices, body.faces)
    used, faces = coincident(body.vertices[kept], drop_doubled_faces(faces))
    kept = kept[used]
    part = Part(body.name, body.vertices[kept], faces, file=file, visual=body.visual)
    part = check_part(replace(part, colors=None if body.colors is None else body.colors[kept]))
    flip = faces_to_flip(part.vertices, faces)
    if not flip.any():
        return part
    faces = np.where(flip[:, None], faces[:, ::-1], faces)
    said = "was inside out" if flip.all() else f"{flip.sum()} of {len(flip)} faces pointed inwards"
    return replace(part, faces=faces, repairs=(f"{said}: turned round",), visual=_turned(body.visual, flip))


def _turned(visual: Any, flip: Bools) -> Any:
    """The textured mesh with the same faces turned, where they correspond one to one."""
    if visual is not None and len(visual.faces) == len(flip):
        visual = visual.copy()
        visual.faces = np.where(flip[:, None], visual.faces[:, ::-1], visual.faces)
    return visual


def _cloud(body: Body, file: Path | None) -> Part:
    kept = _without_strays(body, distinct_points(body.vertices))
    colors = None if body.colors is None else body.colors[kept]
    part = check_part(Part(body.name, body.vertices[kept], None, None, file, colors))
    normals = _unit(body.normals, len(body.vertices))
    part = without_outliers(part if normals is None else replace(part, normals=normals[kept]))
    if part.normals is None or not is_inside_out(part.vertices, part.normals):
        return part
    return replace(part, normals=-part.normals, repairs=("normals pointed inwards: turned round",))


def _without_strays(body: Body, kept: Ints) -> Ints:
    """The points (k,) of a cloud without the few that were measured somewhere else altogether."""
    before = len(kept)
    while len(far := strays(body.vertices[kept])):
        kept = np.delete(kept, far)
    if len(kept) < before:
        log.warning("%s: %d points far away from all others are left out", body.name, before - len(kept))
    return kept


def without_outliers(part: Part) -> Part:
    """A cloud without the points that were measured in the air; a mesh as it is."""
    kept = np.arange(len(part.vertices))
    while part.faces is None and len(alone := outliers(part.vertices[kept])):
        kept = np.delete(kept, alone)
    gone = len(part.vertices) - len(kept)
    if gone > len(part.vertices) / FEW:
        log.warning("%s: %d points that lie off the surface of the others are left out", part.name, gone)
    arrays = {name: getattr(part, name) for name in ("vertices", "normals", "colors")}
    return replace(part, **{name: a[kept] for name, a in arrays.items() if a is not None}) if gone else part


def _unit(normals: Array | None, n: int) -> Array | None:
    """Unit normals, where every point has one."""
    if normals is None or normals.shape != (n, 3):
        return None
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    return normals / lengths if np.isfinite(lengths).all() and (lengths > 0).all() else None


def _placed(part: Part, T_scene: Array | None) -> Part:
    """The part moved into its scene. Merging comes first: moving rounds, and what coincided would no longer."""
    if T_scene is None or np.array_equal(T_scene, np.eye(4)):
        return part
    A, t = T_scene[:3, :3], T_scene[:3, 3]
    determinant = float(np.linalg.det(A)) if np.isfinite(T_scene).all() else 0.0
    if determinant == 0:
        raise InputError(f"{part.file}: the place of node {part.name!r} is no proper one; export the scene again")
    faces = part.faces
    if faces is not None and determinant < 0:
        faces = faces[:, ::-1]  # a mirror turns faces round
    normals = None if part.normals is None else part.normals @ np.linalg.inv(A)
    visual = None if part.visual is None else part.visual.copy().apply_transform(T_scene)
    moved = replace(part, vertices=part.vertices @ A.T + t, faces=faces, visual=visual)
    return check_part(replace(moved, normals=_unit(normals, len(moved.vertices))))


def together(name: str, parts: Sequence[Part]) -> Part:
    """Several bodies as one part called `name`."""
    first = parts[0]
    if len(parts) == 1:
        return replace(first, name=name)
    meshes = [p for p in parts if p.faces is not None]
    if not meshes:
        raise InputError(f"{first.file or name} holds {len(parts)} point clouds; give one file for each")
    starts = np.cumsum([0, *(len(p.vertices) for p in meshes)])
    colors = [p.colors for p in meshes if p.colors is not None]
    return check_part(
        Part(
            name,
            np.concatenate([p.vertices for p in meshes]),
            np.concatenate([p.faces + start for p, start in zip(meshes, starts) if p.faces is not None]),
            file=first.file,
            colors=np.concatenate(colors) if len(colors) == len(meshes) else None,
            repairs=tuple(repair for p in meshes for repair in p.repairs),
        )
    )
