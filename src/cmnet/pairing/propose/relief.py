"""Poses in which two break faces go up and down together: where wear has taken the edges, the relief is left.

A face is what of a break looks one way: its relief is a map of heights over a curved sheet. Every two faces are laid
on each other with every turn and shift, and the correlation of what lies on each other judges them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from cmnet.geometry.compiled import compiled
from cmnet.geometry.pose import Pose, normalized
from cmnet.geometry.trees import nearest_few
from cmnet.geometry.types import Array, Bools, Floats32, Ints, Ints32
from cmnet.pairing.judge.relief import ALIKE, GRAIN, sheet_terms
from cmnet.pairing.surface.surface import Surface
from cmnet.settings import Faces

# Of a face: the place of the first cell, the size of cells, the heights in all, not a number where there is no face
HeightMap = tuple[Array, float, Floats32]
Laid = tuple[Array, Array, Array]  # the turns, and the shifts along either axis, by which a face is laid on another


@dataclass(frozen=True, eq=False)
class Face:
    """What of a break looks one way.

    frame   : T_surface_face; its z leaves the part
    uv      : (m, 2) float, samples in the frame
    heights : (m,) float, over the sheet
    sheet   : (6,) float, of `sheet_terms`
    area    : in square units
    """

    frame: Pose
    uv: Array
    heights: Array
    sheet: Array
    area: float

    def from_behind(self) -> Face:
        """The same face, looked at from inside the part: as what it fits on would look."""
        half_turn = np.array([1.0, -1.0, -1.0])
        return replace(
            self,
            frame=Pose(self.frame.R * half_turn, self.frame.t),
            uv=self.uv * half_turn[:2],
            heights=-self.heights,
            sheet=self.sheet * np.array([-1, -1, 1, -1, 1, -1]),
        )


def propose_faces(a: Surface, b: Surface, kept: int) -> list[Pose]:
    """Poses of b in a's frame in which two faces go up and down together, the likest first."""
    turned = [face.from_behind() for face in faces_of(b)]
    found = [pose for on in faces_of(a) for pose in _laid_on(on, turned, a.scale.budget.laid)]
    return [T for _, T in sorted(found, key=lambda pose: -pose[0])[:kept]]


def faces_of(surface: Surface) -> list[Face]:
    """The faces of its breaks, the largest first."""
    return [_face(surface, samples, up) for samples, up in _regions(surface)]


def _regions(surface: Surface) -> list[tuple[Ints, Array]]:
    """Samples of breaks, those together that lie beside each other and look one way; and which way."""
    assert surface.broken is not None
    beside, by = surface.next_to, surface.scale.budget.laid
    normals = normalized(surface.normals[beside].mean(axis=1)[beside].mean(axis=1))
    left = surface.broken > surface.scale.tolerances.broken
    regions: list[tuple[Ints, Array]] = []
    while left.sum() > by.samples and len(regions) < by.most:
        up = _commonest(normals[left])
        looks = left & (normals @ up > by.one_way)
        if not looks.any():
            break
        regions += [(samples, up) for samples in _connected(beside, looks) if len(samples) >= by.samples]
        left &= ~looks
    return sorted(regions, key=lambda region: -len(region[0]))[: by.most]


def _commonest(normals: Array) -> Array:
    """(3,) float: where most of them look."""
    some = normals[:: max(1, len(normals) // 300)]
    up = some[np.maximum(some @ normals.T - 0.7, 0).sum(axis=1).argmax()]
    for _ in range(3):
        up = np.maximum(normals @ up - 0.6, 0) @ normals
        up /= max(float(np.linalg.norm(up)), 1e-9)
    return np.asarray(up)


def _connected(beside: Ints32, chosen: Bools) -> Iterator[Ints]:
    """The chosen samples, those together that lie beside each other."""
    of = np.repeat(np.arange(len(beside)), beside.shape[1])
    both = chosen[of] & chosen[beside.ravel()]
    links = coo_matrix((np.ones(both.sum()), (of[both], beside.ravel()[both])), shape=(len(beside),) * 2)
    label = np.where(chosen, connected_components(links, directed=False)[1], -1)
    for one in np.unique(label[chosen]):
        yield np.flatnonzero(label == one)


def _face(surface: Surface, samples: Ints, up: Array) -> Face:
    x = surface.points[samples]
    middle = x.mean(axis=0)
    axes = np.linalg.eigh((x - middle).T @ (x - middle))[1]
    if abs(axes[:, 0] @ up) > 0.7:  # else it is long and thin
        up = axes[:, 0] * np.sign(axes[:, 0] @ up)
    u = axes[:, np.abs(up @ axes).argmin()]
    u = u - up * (u @ up)
    u /= np.linalg.norm(u)
    frame = Pose(np.stack([u, np.cross(up, u), up], axis=1), middle)
    local = frame.inverse().apply(x)
    sheet, heights = _over_sheet(local[:, :2], local[:, 2])
    return Face(frame, local[:, :2], heights, sheet, len(samples) * surface.area / len(surface.points))


def _over_sheet(uv: Array, z: Array) -> tuple[Array, Array]:
    """The curved sheet through most of z, and the heights over it, outlying ones cut off."""
    terms = sheet_terms(uv)
    kept = np.ones(len(z), dtype=bool)
    for _ in range(2):
        sheet = np.linalg.lstsq(terms[kept], z[kept], rcond=None)[0]
        heights = z - terms @ sheet
        limit = 4 * 1.4826 * float(np.median(np.abs(heights))) + 1e-6
        kept = np.abs(heights) < limit
    return np.asarray(sheet), np.clip(heights, -limit, limit)


def _laid_on(on: Face, faces: list[Face], by: Faces) -> Iterator[tuple[float, Pose]]:
    """What the likeness says for the best poses of each of the faces on another one, in nats, and the poses."""
    if not faces:
        return
    below = _map(on, by.cell)
    far = np.minimum(np.abs(on.uv).max(axis=0), by.farthest)
    shifts_u, shifts_v = (np.arange(-end, end + 1e-9, by.step) for end in far)
    turns = 2 * np.pi * np.arange(by.turns) / by.turns
    for face in faces:
        uv, z = _smoothed(face, by)
        fewest = max(12, int(by.covered * len(uv) * min(1.0, on.area / face.area)))
        grains = face.area / len(uv) / GRAIN**2
        nats = _scan(below, uv, z, (turns, shifts_u, shifts_v), fewest, grains)
        for k, i, j in _peaks(nats, by.peaks):
            yield float(nats[k, i, j]), _pose_of_faces(on, face, turns[k], np.array([shifts_u[i], shifts_v[j]]))


def _map(face: Face, cell: float) -> HeightMap:
    origin = face.uv.min(axis=0) - cell
    shape = np.ceil((face.uv.max(axis=0) + cell - origin) / cell).astype(int) + 1
    cells = origin + cell * np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1).reshape(-1, 2)
    heights, distance = _heights_at(face, cells, 3, cell)
    heights[distance > 1.3 * cell] = np.nan
    return origin, cell, heights.reshape(shape).astype(np.float32)


def _smoothed(face: Face, by: Faces) -> tuple[Array, Array]:
    """Some of its samples and their heights."""
    uv = face.uv[:: -(-len(face.uv) // by.judges)]
    return uv, _heights_at(face, uv, 6, by.cell)[0]


def _heights_at(face: Face, uv: Array, count: int, cell: float) -> tuple[Array, Array]:
    """Heights there, of the nearest samples, and how near these are."""
    distance, index = nearest_few(cKDTree(face.uv), uv, count)
    weight = np.exp(-((distance / cell) ** 2))
    return (weight * face.heights[index]).sum(axis=1) / np.maximum(weight.sum(axis=1), 1e-9), distance[:, 0]


def _peaks(nats: Floats32, count: int) -> list[tuple[int, int, int]]:
    """Where most is said, none of them beside a better one."""
    kept: list[tuple[int, int, int]] = []
    turns = len(nats)
    for at in np.argsort(-nats, axis=None, kind="stable")[:4000]:
        k, i, j = map(int, np.unravel_index(at, nats.shape))
        if len(kept) == count or nats[k, i, j] <= 0:
            break
        beside = [
            min((k - turn) % turns, (turn - k) % turns) <= 5 and max(abs(i - u), abs(j - v)) <= 2 for turn, u, v in kept
        ]
        if not any(beside):
            kept.append((k, i, j))
    return kept


def _pose_of_faces(on: Face, face: Face, turn: float, shift: Array) -> Pose:
    """T_a_b that lays one face on another so that their sheets meet."""
    c, s = np.cos(turn), np.sin(turn)
    uv = face.uv @ np.array([[c, s], [-s, c]]) + shift
    inside = (np.abs(uv) < np.abs(on.uv).max(axis=0)).all(axis=1)
    lift = sheet_terms(uv) @ on.sheet - sheet_terms(face.uv) @ face.sheet
    height = float(np.median(lift[inside])) if inside.any() else 0.0
    turned = Pose(np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), np.array([*shift, height]))
    return on.frame @ turned @ face.frame.inverse()


@compiled
def _scan(face: HeightMap, uv: Array, z: Array, laid: Laid, fewest: int, grains: float) -> Floats32:
    """(turns, shifts, shifts): what the likeness of z at uv (m, 2) and the map says, in nats; 0: too few meet."""
    (origin, cell, heights), (turns, shifts_u, shifts_v) = face, laid
    nats = np.zeros((len(turns), len(shifts_u), len(shifts_v)), dtype=np.float32)
    at_u, at_v = np.empty((len(shifts_u), len(z)), dtype=np.int32), np.empty((len(shifts_v), len(z)), dtype=np.int32)
    for k in range(len(turns)):
        c, s = np.cos(turns[k]), np.sin(turns[k])
        for i in range(len(shifts_u)):
            for m in range(len(z)):
                at_u[i, m] = int((c * uv[m, 0] - s * uv[m, 1] + shifts_u[i] - origin[0]) / cell + 0.5)
        for j in range(len(shifts_v)):
            for m in range(len(z)):
                at_v[j, m] = int((s * uv[m, 0] + c * uv[m, 1] + shifts_v[j] - origin[1]) / cell + 0.5)
        for i in range(len(shifts_u)):
            for j in range(len(shifts_v)):
                n, x, y, xx, yy, xy = 0, 0.0, 0.0, 0.0, 0.0, 0.0
                for m in range(len(z)):
                    u, v = at_u[i, m], at_v[j, m]
                    if u < 0 or v < 0 or u >= heights.shape[0] or v >= heights.shape[1]:
                        continue
                    height = heights[u, v]
                    if np.isnan(height):
                        continue
                    n += 1
                    x += z[m]
                    y += height
                    xx += z[m] * z[m]
                    yy += height * height
                    xy += z[m] * height
                if n < fewest:
                    continue
                spread = max(xx - x * x / n, 0.0) * max(yy - y * y / n, 0.0)
                likeness = (xy - x * y / n) / np.sqrt(spread + 1e-20)
                if likeness > 0:
                    nats[k, i, j] = -0.5 * n * grains * np.log(1 - min(likeness, ALIKE) ** 2)
    return nats
