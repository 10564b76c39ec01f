"""The pictures of docs/method.md, drawn from what the code computes for a generated vase.

python benchmarks/figures_method.py [-o docs/images]
"""

import argparse
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import trimesh
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline
from scipy.interpolate import griddata
from scipy.ndimage import median_filter

from cmnet.assembling.clashes import Clashes
from cmnet.assembling.state import centres_of
from cmnet.data.fracture import Fracture, fracture
from cmnet.data.shapes import make_shape
from cmnet.geometry.pose import Pose
from cmnet.geometry.sampling import uniform_samples
from cmnet.geometry.types import Array, Bools, Ints
from cmnet.pairing.align.icp import refine
from cmnet.pairing.join import Join
from cmnet.pairing.pair import joins
from cmnet.pairing.propose.creases import propose, seeded_poses
from cmnet.pairing.surface.creases import complement
from cmnet.pairing.surface.frames import pose_of_parts
from cmnet.pairing.surface.surface import Surface, prepare, unit_of
from cmnet.parts.part import Part
from cmnet.settings import Acceptance
from cmnet.solving.assembly import Assembly, to_assembly
from cmnet.solving.groups import standing
from cmnet.solving.growth import Problem
from cmnet.solving.solve import solve

TONES = np.array([[0.80, 0.60, 0.45], [0.52, 0.66, 0.70], [0.72, 0.70, 0.52], [0.62, 0.56, 0.70], [0.60, 0.72, 0.56]])
TONES = np.concatenate([TONES, [[0.78, 0.56, 0.58]]])
SKIN, BREAK, GREY = "#1f4e9c", "#c0281c", "#666666"
LIGHT = np.array([-0.45, 0.7, -0.55]) / np.linalg.norm([0.45, 0.7, 0.55])
EXPLODED = 0.45


def view(azimuth: float, elevation: float) -> Array:
    """(3, 3) float: rows are right, up and forward of a viewer; y is up."""
    a, e = np.radians([azimuth, elevation])
    forward = -np.array([np.sin(a) * np.cos(e), np.sin(e), np.cos(a) * np.cos(e)])
    right = np.cross(forward, [0.0, 1.0, 0.0])
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(right, forward), forward])


class Picture:
    """Parts drawn point by point with a depth buffer, in the data coordinates of an axis."""

    def __init__(self, parts: list[Part], tones: Array, look: Array, pixels: int = 620) -> None:
        self.look, rng = look, np.random.default_rng(0)
        points, normals, colours = [], [], []
        total = sum(part.area for part in parts)
        for part, tone in zip(parts, tones):
            cross = np.cross(*np.moveaxis(np.diff(part.triangles, axis=1), 1, 0))
            double = np.linalg.norm(cross, axis=1)
            count = max(40_000, int(1_500_000 * part.area / total))
            face, at = uniform_samples(part.triangles, double, count, rng)
            points.append(at)
            normals.append(cross[face] / np.maximum(double[face], 1e-30)[:, None])
            colours.append(np.tile(tone, (count, 1)))
        seen, facing = np.concatenate(points) @ look.T, np.concatenate(normals) @ look.T
        turned = facing[:, 2] < 0.05  # towards the viewer: what faces away is hidden by its own part
        seen, facing, tint = seen[turned], facing[turned], np.concatenate(colours)[turned]
        low, high = seen[:, :2].min(axis=0), seen[:, :2].max(axis=0)
        self.step = (high - low).max() / pixels
        self.low = low - 4 * self.step
        width, height = (((high - self.low) / self.step).astype(int) + 5).tolist()
        cell = ((seen[:, :2] - self.low) / self.step).astype(int)
        flat = cell[:, 1] * width + cell[:, 0]
        self.depth = np.full(width * height, np.inf)
        np.minimum.at(self.depth, flat, seen[:, 2])
        front = seen[:, 2] < self.depth[flat] + 2 * self.step
        shade = 0.45 + 0.55 * np.clip(facing @ LIGHT, 0, 1) + 0.12 * np.clip(facing @ [0.8, 0.1, -0.6], 0, 1)
        colour = np.clip(tint * shade[:, None], 0, 1)
        count = np.bincount(flat[front], minlength=width * height)
        image = np.stack([np.bincount(flat[front], colour[front, c], width * height) for c in range(3)], axis=1)
        image = np.where(count[:, None] > 0, image / np.maximum(count, 1)[:, None], 1.0)
        self.image, self.depth = _mended(image.reshape(height, width, 3), self.depth.reshape(height, width), self.step)

    def show(self, axis: Axes) -> None:
        height, width = self.image.shape[:2]
        extent = (self.low[0], self.low[0] + width * self.step, self.low[1], self.low[1] + height * self.step)
        axis.imshow(self.image, origin="lower", extent=extent, interpolation="antialiased")
        axis.set_aspect("equal")
        axis.axis("off")

    def project(self, points: Array) -> Array:
        """(n, 3) float → (n, 2) float"""
        return (points @ self.look.T)[:, :2]

    def visible(self, points: Array, slack: float = 0.015) -> Bools:
        """(n,) bool: which points nothing hides."""
        seen = points @ self.look.T
        column, row = ((seen[:, :2] - self.low) / self.step).astype(int).T
        height, width = self.depth.shape
        return seen[:, 2] < self.depth[row.clip(0, height - 1), column.clip(0, width - 1)] + slack


def _mended(image: Array, depth: Array, step: float) -> tuple[Array, Array]:
    """Without the pixels that no sample of the front surface fell into."""
    near = median_filter(np.where(np.isfinite(depth), depth, 1e3), 5)
    hole = depth > near + 6 * step
    filled = np.stack([median_filter(image[..., c], 5) for c in range(3)], axis=2)
    return np.where(hole[..., None], filled, image), np.where(hole, near, depth)


def exploded(parts: list[Part], gap: float) -> tuple[list[Part], Array]:
    """The parts moved away from the middle, and (n, 3) float: by how much."""
    vertices = np.concatenate([part.vertices for part in parts])
    middle = (vertices.min(axis=0) + vertices.max(axis=0)) / 2
    shift = np.stack([gap * (part.triangles.mean(axis=(0, 1)) - middle) for part in parts])
    return [part.moved(Pose(np.eye(3), offset)) for part, offset in zip(parts, shift)], shift


def to_part(surface: Surface, x: Array) -> Array:
    """Points (n, 3) of a surface in the coordinates of its part."""
    return surface.T_part_surface.apply(surface.unit * x)


def closing(a: Surface, b: Surface) -> Ints:
    """(k, 2) int: creases of a and of b, both in their assembled places, that close on each other."""
    x_a, x_b = to_part(a, a.creases.points), to_part(b, b.creases.points)
    near = trimesh.proximity.cKDTree(x_a).query(x_b, distance_upper_bound=0.01 * a.unit)
    found = np.flatnonzero(np.isfinite(near[0]))
    n_a = a.T_part_surface.rotate(a.creases.normals[near[1][found]])
    fits = complement(n_a, b.T_part_surface.rotate(b.creases.normals[found])) > 0.9
    return np.stack([near[1][found][fits], found[fits]], axis=1)


def slice_of(part: Part, origin: Array, across: Array, up: Array) -> list[Array]:
    """The outlines of a part in the plane through the origin that two directions span, as (n, 2) float each."""
    mesh = trimesh.Trimesh(part.vertices, part.faces, process=False)
    section = mesh.section(plane_origin=origin, plane_normal=np.cross(across, up))
    return [] if section is None else [(line - origin) @ np.stack([across, up], axis=1) for line in section.discrete]


def fill(axis: Axes, outlines: list[Array], tone: Array, alpha: float = 1.0) -> None:
    if outlines:
        path = Outline.make_compound_path(*(Outline(line) for line in outlines))
        axis.add_patch(PathPatch(path, facecolor=(*tone, alpha), edgecolor=(*(0.55 * tone), 1), linewidth=1.1))


def arrow(axis: Axes, at: Array, direction: Array, length: float, colour: str, width: float = 1.6) -> None:
    axis.annotate(
        "",
        at + length * direction,
        at,
        arrowprops={"arrowstyle": "-|>", "color": colour, "lw": width, "shrinkA": 0, "shrinkB": 0},
        zorder=5,
    )


def skin_and_break(a: Surface, b: Surface, pairs: Ints) -> tuple[Array, Array]:
    """(k,) int each: which normal of the creases of a and of b is the common skin."""
    n_a = a.T_part_surface.rotate(a.creases.normals[pairs[:, 0]])
    n_b = b.T_part_surface.rotate(b.creases.normals[pairs[:, 1]])
    same = np.einsum("kic,kjc->kij", n_a, n_b).reshape(-1, 4).argmax(axis=1)
    return same // 2, same % 2


def draw_creases(broken: Fracture, surfaces: list[Surface], out: Path) -> None:
    """Two mates apart with the creases that will close, and a slice across one of them."""
    i, j = 0, 4
    a, b = surfaces[i], surfaces[j]
    pairs = closing(a, b)
    skin_a, skin_b = skin_and_break(a, b, pairs)
    figure, axes = plt.subplots(1, 2, figsize=(11, 5.0), width_ratios=(1, 1.15), layout="constrained")
    towards = broken.parts[j].triangles.mean(axis=(0, 1))
    azimuth = np.degrees(np.arctan2(towards[0], towards[2]))
    look = view(azimuth - 12, 30)
    away = 0.34 * look[0] - 0.30 * look[1]
    mates = [broken.parts[i], broken.parts[j].moved(Pose(np.eye(3), away))]
    picture = Picture(mates, TONES, look)
    picture.show(axes[0])
    for surface, column, moved, which in ((a, 0, np.zeros(3), skin_a), (b, 1, away, skin_b)):
        every = to_part(surface, surface.creases.points) + moved
        seen = picture.visible(every)
        axes[0].scatter(*picture.project(every[seen]).T, s=1.5, color="#00000066", linewidths=0)
        chosen = pairs[:, column]
        x = every[chosen]
        seen = picture.visible(x)
        axes[0].scatter(*picture.project(x[seen]).T, s=5, color="#f2c200", linewidths=0, zorder=4)
        normals = surface.T_part_surface.rotate(surface.creases.normals[chosen])
        front = np.flatnonzero(seen & (np.abs(normals[np.arange(len(x)), which] @ look[2]) < 0.97))
        for k in front[_spread(x[front], 0.11)]:
            flat = picture.project(x[k : k + 1])[0]
            for n, colour in ((normals[k, which[k]], SKIN), (normals[k, 1 - which[k]], BREAK)):
                arrow(axes[0], flat, picture.look[:2] @ n, 0.1, colour, 1.4)
    axes[0].set_title("break edges that belong together (yellow)", fontsize=10.5)
    _draw_slice(axes[1], broken, (i, j), surfaces, pairs, (skin_a, skin_b))
    figure.savefig(out / "method-creases.png", dpi=110)


def _draw_slice(axis: Axes, broken: Fracture, ij: tuple, surfaces: list[Surface], pairs: Array, skins: tuple) -> None:
    """A slice across the wall where an outer crease closes, the second part lifted off a little."""
    (i, j), (a, b) = ij, (surfaces[ij[0]], surfaces[ij[1]])
    x = to_part(a, a.creases.points[pairs[:, 0]])
    n_a = a.T_part_surface.rotate(a.creases.normals[pairs[:, 0]])
    skin = n_a[np.arange(len(pairs)), skins[0]]
    fracture_ = n_a[np.arange(len(pairs)), 1 - skins[0]]
    radial = _unit(x * [1, 0, 1])
    square = np.abs(np.einsum("kc,kc->k", skin, fracture_)) + (np.einsum("kc,kc->k", skin, radial) < 0.8)
    k = int(square.argmin())
    up, across = skin[k], _unit(fracture_[k] - (fracture_[k] @ skin[k]) * skin[k])
    wall, off = 0.022, 0.016
    fill(axis, slice_of(broken.parts[i], x[k], across, up), TONES[0])
    fill(axis, [line + np.array([off, 0]) for line in slice_of(broken.parts[j], x[k], across, up)], TONES[1])
    basis = np.stack([across, up])
    m_b = b.T_part_surface.rotate(b.creases.normals[pairs[k, 1]])
    for at, normals, which in ((np.zeros(2), n_a[k], skins[0][k]), (np.array([off, 0]), m_b, skins[1][k])):
        arrow(axis, at, _unit(basis @ normals[which]), 0.0085, SKIN, 2.2)
        arrow(axis, at, _unit(basis @ normals[1 - which]), 0.0068, BREAK, 2.2)
        axis.scatter(*at, s=38, color="#f2c200", edgecolor="black", linewidth=0.6, zorder=6)
    axis.text(off / 2, 0.0062, "skin normals:\nthe same", color=SKIN, ha="center", va="center", fontsize=10)
    axis.text(off / 2, -0.0045, "break normals:\nopposite", color=BREAK, ha="center", va="center", fontsize=10)
    axis.set(xlim=(-wall, wall + off), ylim=(-0.020, 0.013), aspect="equal")
    axis.axis("off")
    axis.set_title("a slice across the wall, at one of them", fontsize=10.5)


def draw_shape_and_occupancy(out: Path) -> None:
    """One break seen from both of its parts: the same relief, the other side filled."""
    rng = np.random.default_rng(2)
    broken = fracture(make_shape("stone", rng), 2, rng, "recursive")
    faces = [part.triangles[rough] for part, rough in zip(broken.parts, broken.broken)]
    centre = faces[0].mean(axis=(0, 1))
    axes3 = np.linalg.svd((faces[0] - centre).reshape(-1, 3), full_matrices=False)[2]
    if (broken.parts[0].vertices - centre).mean(axis=0) @ axes3[2] > 0:
        axes3[2] *= -1  # the first part lies below
    axes3[1] = np.cross(axes3[2], axes3[0])
    figure, axes = plt.subplots(2, 3, figsize=(11, 6.2), height_ratios=(1.25, 1), layout="constrained")
    reliefs = [_relief(some, centre, axes3) for some in faces]
    limit = float(np.nanquantile(np.abs(reliefs[0][2]), 0.98))
    for axis, (x, y, z), title in zip(axes[0], reliefs, ("the break of part a", "the break of part b")):
        drawn = axis.pcolormesh(x, y, z, cmap="BrBG_r", vmin=-limit, vmax=limit, shading="auto", rasterized=True)
        axis.plot([x.min(), x.max()], [0, 0], color="black", lw=1, ls=(0, (4, 3)))
        axis.set_title(title, fontsize=10.5)
        axis.set_aspect("equal")
        axis.axis("off")
    difference = reliefs[0][2] - reliefs[1][2]
    axes[0, 2].pcolormesh(*reliefs[0][:2], difference, cmap="BrBG_r", vmin=-limit, vmax=limit, rasterized=True)
    axes[0, 2].set_title("the difference: none", fontsize=10.5)
    axes[0, 2].set_aspect("equal")
    axes[0, 2].axis("off")
    figure.colorbar(drawn, ax=axes[0], shrink=0.7, label="height, in object sizes")
    outlines = [slice_of(part, centre, axes3[0], axes3[2]) for part in broken.parts]
    chosen = ((0,), (1,), (0, 1))
    titles = ("filled below", "filled above", "together: no gap, no overlap")
    for axis, which, title in zip(axes[1], chosen, titles):
        for k in which:
            fill(axis, outlines[k], TONES[k])
        low, high = (
            np.concatenate([*outlines[0], *outlines[1]]).min(0),
            np.concatenate([*outlines[0], *outlines[1]]).max(0),
        )
        axis.set(xlim=(low[0] - 0.03, high[0] + 0.03), ylim=(low[1] - 0.03, high[1] + 0.03), aspect="equal")
        axis.set_title(title, fontsize=10.5)
        axis.axis("off")
    for axis, label in zip(axes[:, 0], ("equal shape", "opposite occupancy")):
        axis.text(-0.07, 0.5, label, rotation=90, va="center", fontsize=11.5, transform=axis.transAxes)
    figure.savefig(out / "method-shape-occupancy.png", dpi=100)


def _relief(triangles: Array, centre: Array, axes3: Array) -> tuple[Array, Array, Array]:
    """Height of a break over its plane, on a grid."""
    local = (triangles.reshape(-1, 3) - centre) @ axes3.T
    low, high = np.quantile(local[:, :2], [0.0, 1.0], axis=0)
    x, y = np.meshgrid(np.linspace(low[0], high[0], 260), np.linspace(low[1], high[1], 260))
    middle = local.reshape(-1, 3, 3).mean(axis=1)
    far = trimesh.proximity.cKDTree(middle[:, :2]).query(np.stack([x.ravel(), y.ravel()], axis=1))[0]
    z = griddata(local[:, :2], local[:, 2], (x, y))
    return x, y, np.where(far.reshape(x.shape) < 0.025, z, np.nan)


def draw_refinement(broken: Fracture, surfaces: list[Surface], out: Path) -> None:
    """One candidate before and after."""
    i, j = 0, 4
    a, b = surfaces[i], surfaces[j]
    poses, _ = seeded_poses(a, b)
    truth = a.T_part_surface.inverse() @ b.T_part_surface
    truth = Pose(truth.R, truth.t / a.unit)
    turn = np.degrees(np.arccos(np.clip((np.einsum("hij,ij->h", poses.R, truth.R) - 1) / 2, -1, 1)))
    middle = truth.apply(b.points.mean(axis=0))
    moved = np.einsum("hij,j->hi", poses.R, b.points.mean(axis=0)) + poses.t
    near = np.flatnonzero((turn > 5) & (turn < 9) & (np.linalg.norm(moved - middle, axis=1) < 0.12))
    first = poses.one(int(near[0]))
    best = propose(a, b, 1)[0].T_a_b
    stages = {
        "one crease laid on another: nearly": first,
        "all creases, then the surfaces: exactly": refine(a, b, refine(a, b, best, a.scale.budget.rough)),
    }
    placed = [broken.parts[j].moved(pose_of_parts(a, b, T)) for T in stages.values()]
    towards = broken.parts[j].triangles.mean(axis=(0, 1))
    look = view(np.degrees(np.arctan2(towards[0], towards[2])) - 12, 12)
    figure, axes = plt.subplots(2, 2, figsize=(9, 7.2), height_ratios=(2.3, 1), layout="constrained")
    x = to_part(a, a.creases.points[closing(a, b)[:, 0]])
    origin = x[np.abs(x[:, 1] - np.median(x[:, 1])).argmin()]
    up = _unit(origin * [1, 0, 1])
    across = np.cross([0, 1.0, 0], up)
    for column, (title, part) in enumerate(zip(stages, placed)):
        Picture([broken.parts[i], part], TONES, look, 480).show(axes[0, column])
        axes[0, column].set_title(title, fontsize=10.5)
        axis = axes[1, column]
        fill(axis, slice_of(broken.parts[i], origin, across, up), TONES[0])
        fill(axis, slice_of(part, origin, across, up), TONES[1], 0.85)
        axis.set(xlim=(-0.075, 0.075), ylim=(-0.027, 0.013), aspect="equal")
        axis.set(xticks=[], yticks=[])
        for side in axis.spines.values():
            side.set_color("#bbbbbb")
        axis.set_xlabel("a slice through the wall", color=GREY)
    figure.savefig(out / "method-refinement.png", dpi=100)


def put_together(surfaces: list[Surface], found: list[Join]) -> Assembly:
    """By all joins at once, as in the last pass."""
    numbered = [replace(join, number=n) for n, join in enumerate(found)]
    clashes = Clashes([dict(enumerate(surfaces))])
    problem = Problem(numbered, centres_of(surfaces), Acceptance().agree_shift * surfaces[0].unit, clashes)
    groups = standing(solve(problem, surfaces[0].unit), np.array([surface.area for surface in surfaces]), {})
    return to_assembly(groups, len(surfaces), numbered)


def draw_graph(broken: Fracture, surfaces: list[Surface], out: Path) -> None:
    """All joins that were considered, and those that hold the vase together."""
    found = [
        join for i, j in combinations(range(len(surfaces)), 2) for join in joins(surfaces[i], surfaces[j], (i, j))[:3]
    ]
    assembly = put_together(surfaces, found)
    apart, _ = exploded(broken.parts, 0.75)
    figure, axes = plt.subplots(1, 2, figsize=(11, 5.6), layout="constrained")
    picture = Picture(apart, TONES, view(62, 20))
    places = picture.project(np.stack([part.triangles.mean(axis=(0, 1)) for part in apart]))
    for axis, used, title in (
        (axes[0], False, "joins considered: the likelier, the wider"),
        (axes[1], True, "joins used: they agree with each other"),
    ):
        picture.show(axis)
        axis.images[0].set_alpha(0.75)
        for join in assembly.joins:
            if used and not join.used:
                continue
            start, end = places[list(join.parts)]
            rank = [k for k in assembly.joins if k.parts == join.parts].index(join)
            middle = (start + end) / 2 + 0.06 * rank * np.array([-1, 1]) * _unit(end - start)[::-1]
            curve = Outline([start, middle, end], [Outline.MOVETO, Outline.CURVE3, Outline.CURVE3])
            width = 0.8 + 5 * join.sure
            colour = "#222222" if join.used else "#8a8a8a"
            axis.add_patch(PathPatch(curve, fill=False, lw=width, edgecolor=colour, alpha=0.9 if join.used else 0.7))
        axis.scatter(*places.T, s=330, color="white", edgecolor="black", zorder=4)
        for k, place in enumerate(places):
            axis.text(*place, str(k + 1), ha="center", va="center", fontsize=10.5, zorder=5)
        axis.set_title(title, fontsize=10.5)
    figure.savefig(out / "method-graph.png", dpi=100)


def _unit(v: Array) -> Array:
    return np.asarray(v / np.linalg.norm(v, axis=-1, keepdims=True))


def _spread(points: Array, distance: float) -> Ints:
    """(k,) int: points no two of which are nearer than the distance."""
    kept: list[int] = []
    for k, x in enumerate(points):
        if all(np.linalg.norm(x - points[other]) > distance for other in kept):
            kept.append(k)
    return np.array(kept, dtype=np.int64)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--out", type=Path, default=Path("docs/images"))
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(1)
    broken = fracture(make_shape("vase", rng), 6, rng, "weakest", min_volume=0.04)
    unit = unit_of(broken.parts)
    surfaces = [prepare(part, unit) for part in broken.parts]
    draw_creases(broken, surfaces, out)
    draw_shape_and_occupancy(out)
    draw_refinement(broken, surfaces, out)
    draw_graph(broken, surfaces, out)


if __name__ == "__main__":
    main()
