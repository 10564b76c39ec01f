"""Taking in a mesh to be broken: checks that it bounds a solid, and repairs what can be repaired safely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import manifold3d
import numpy as np
import trimesh
from numpy.typing import ArrayLike

from cmnet.data.fracture.selfcross import crossing_faces
from cmnet.data.fracture.solid import Solid, bodies, make_body
from cmnet.errors import InputError
from cmnet.geometry.triangles import signed_volume
from cmnet.geometry.types import Array, Bools, Ints

MeshLike: TypeAlias = "trimesh.Trimesh | tuple[ArrayLike, ArrayLike]"

ADVICE = "repair it in a mesh editor or voxel-remesh it, and try again"


@dataclass(frozen=True, eq=False)
class Intact:
    """An object ready to be broken, again and again: its lattice is made once.

    solids  : its connected bodies, largest first, in units of `scale`
    repairs : what had to be mended, in words; empty for a sound mesh
    """

    name: str
    solids: tuple[Solid, ...]
    scale: float
    repairs: tuple[str, ...] = ()

    @property
    def volume(self) -> float:
        """In units of `scale` ** 3."""
        return sum(solid.volume for solid in self.solids)


def prepare(mesh: MeshLike, name: str = "mesh", check_crossings: bool = True) -> Intact:
    """Check a mesh and make it ready to be broken. Raises InputError for what is no solid."""
    vertices, faces = _arrays(mesh, name)
    vertices, faces, repairs = _welded(vertices, faces)
    body, more = _closed(vertices, faces, name)
    repairs += more
    extent = np.ptp(vertices, axis=0).max()
    # A power of two brings the size to [0.5, 1) without touching a digit, so pieces fit the mesh as it was given.
    scale = float(2.0 ** np.ceil(np.log2(extent)))
    body = body.scale((1 / scale,) * 3)
    if check_crossings:
        body, more = _uncrossed(body, name)
        repairs += more
    solids = bodies(body, 1e-9 * abs(body.volume()))
    if not solids:
        raise InputError(f"{name}: the mesh encloses no volume; {ADVICE}")
    return Intact(name, tuple(solids), scale, tuple(repairs))


def _arrays(mesh: MeshLike, name: str) -> tuple[Array, Ints]:
    vertices, faces = (mesh.vertices, mesh.faces) if isinstance(mesh, trimesh.Trimesh) else mesh
    v, f = np.array(vertices, dtype=np.float64), np.array(faces, dtype=np.int64)
    if v.ndim != 2 or v.shape[1] != 3 or f.ndim != 2 or f.shape[1] != 3 or len(f) < 4:
        raise InputError(f"{name}: no closed triangle mesh ({v.shape} vertices, {f.shape} faces); give a surface mesh")
    if not np.isfinite(v).all():
        raise InputError(f"{name}: some vertices are not finite numbers; {ADVICE}")
    if f.min() < 0 or f.max() >= len(v):
        raise InputError(f"{name}: some faces name vertices that are not there; export the mesh again")
    if np.ptp(v, axis=0).max() <= 0:
        raise InputError(f"{name}: all vertices coincide; {ADVICE}")
    return v, f


def _welded(vertices: Array, faces: Ints) -> tuple[Array, Ints, list[str]]:
    """Join vertices at the same place (files often store one a face) and drop faces without area by topology."""
    unique, inverse = np.unique(vertices, axis=0, return_inverse=True)
    joined = inverse.ravel()[faces]
    sound = (joined[:, 0] != joined[:, 1]) & (joined[:, 1] != joined[:, 2]) & (joined[:, 2] != joined[:, 0])
    if sound.all() and len(unique) == len(vertices):
        return vertices, faces, []
    if _is_closed(faces):
        return vertices, faces, []  # vertices that merely touch are no fault
    return unique, joined[sound], [f"joined {len(vertices) - len(unique)} doubled vertices"]


def _is_closed(faces: Ints) -> bool:
    edges = faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    _, counts = np.unique(np.sort(edges, axis=1), axis=0, return_counts=True)
    return bool((counts == 2).all())


def _closed(vertices: Array, faces: Ints, name: str) -> tuple[manifold3d.Manifold, list[str]]:
    """The body that the mesh bounds; small holes are filled and faces turned outwards if need be."""
    body, repairs = make_body(vertices, faces), []
    if body.status() != manifold3d.Error.NoError:
        mended = trimesh.Trimesh(vertices, faces, process=True, validate=True)
        filled = trimesh.repair.fill_holes(mended)
        trimesh.repair.fix_normals(mended, multibody=True)
        repairs.append("filled small holes and made the faces agree in orientation")
        body = make_body(np.asarray(mended.vertices), np.asarray(mended.faces))
        if not filled or body.status() != manifold3d.Error.NoError:
            raise InputError(f"{name}: the mesh is not watertight ({_open_edges(faces)} open edges); {ADVICE}")
    if body.volume() < 0:
        repairs.append("turned the faces outwards")
        mesh = body.to_mesh64()
        body = make_body(np.asarray(mesh.vert_properties)[:, :3], np.asarray(mesh.tri_verts)[:, ::-1])
    if body.is_empty() or body.volume() <= 0:
        raise InputError(f"{name}: the mesh encloses no volume; {ADVICE}")
    return body, repairs


def _open_edges(faces: Ints) -> int:
    edges = faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    _, counts = np.unique(np.sort(edges, axis=1), axis=0, return_counts=True)
    return int((counts != 2).sum())


def _uncrossed(body: manifold3d.Manifold, name: str) -> tuple[manifold3d.Manifold, list[str]]:
    """A body whose surface does not cross itself.

    Overlapping bodies are united and a few crossing faces are relaxed; more crossings than that are an error.
    """
    repairs = []
    vertices, faces, crossings = _crossings(body)
    shells = body.decompose() if len(crossings) else []
    if len(shells) > 1 and all(shell.volume() > 0 for shell in shells):
        body = manifold3d.Manifold.batch_boolean(shells, manifold3d.OpType.Add)
        repairs.append(f"united {len(shells)} overlapping bodies")
        vertices, faces, crossings = _crossings(body)
    if len(crossings) > max(10, 0.002 * len(faces)):
        raise InputError(f"{name}: the surface crosses itself ({len(crossings)} pairs of faces); {ADVICE}")
    if len(crossings):
        repairs.append(f"relaxed the surface where {len(crossings)} pairs of faces crossed")
        body = make_body(_relaxed(vertices, faces, crossings, name), faces)
    return body, repairs


def _crossings(body: manifold3d.Manifold) -> tuple[Array, Ints, Ints]:
    mesh = body.to_mesh64()
    vertices, faces = np.array(mesh.vert_properties)[:, :3], np.array(mesh.tri_verts).astype(np.int64)
    return vertices, faces, crossing_faces(vertices, faces)


def _relaxed(vertices: Array, faces: Ints, crossings: Ints, name: str) -> Array:
    """Pull the vertices around crossing faces to their neighbours until nothing crosses; the volume stays the same."""
    pairs = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    volume = signed_volume(vertices[faces])
    moved = np.zeros(len(vertices), dtype=bool)
    for _ in range(20):
        moved[faces[crossings.ravel()]] = True
        moved[faces[moved[faces].any(axis=1)]] = True
        mine = pairs[moved[pairs[:, 0]]]
        total = np.zeros_like(vertices)
        np.add.at(total, mine[:, 0], vertices[mine[:, 1]])
        count = np.bincount(mine[:, 0], minlength=len(vertices))
        vertices = vertices.copy()
        vertices[moved] = (vertices[moved] + total[moved] / count[moved][:, None]) / 2
        vertices = _with_volume(vertices, faces, moved, volume)
        crossings = crossing_faces(vertices, faces)
        if len(crossings) == 0:
            return vertices
    raise InputError(f"{name}: the surface crosses itself in a way that relaxing does not mend; {ADVICE}")


def _with_volume(vertices: Array, faces: Ints, moved: Bools, volume: float) -> Array:
    """Push the moved vertices along the volume's gradient until it is what it was (Newton's method)."""
    for _ in range(4):
        a, b, c = np.moveaxis(vertices[faces], 1, 0)
        gradient = np.zeros_like(vertices)
        for k, slope in enumerate((np.cross(b, c), np.cross(c, a), np.cross(a, b))):
            np.add.at(gradient, faces[:, k], slope / 6)
        gradient[~moved] = 0.0
        lack = volume - signed_volume(vertices[faces])
        vertices = vertices + gradient * (lack / max(float((gradient**2).sum()), 1e-300))
    return vertices
