"""A contact sheet of broken objects: 24 default fractures, pulled apart a little.

python benchmarks/contact_sheet.py [-o docs/images/fracture.png] [--seed S] [--wear light]
"""

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from cmnet.data.generated import GeneratedObjects, Recipe
from cmnet.data.shapes import EVERYDAY, FORMS
from cmnet.data.wear import Wear, parse_wear
from cmnet.geometry.sampling import uniform_samples
from cmnet.geometry.types import Array
from cmnet.parts.part import Part

COLOURS = np.array(plt.get_cmap("Set2").colors + plt.get_cmap("Set3").colors)
LIGHT = np.array([-0.4, 0.7, -0.6]) / np.linalg.norm([0.4, 0.7, 0.6])
VIEW = np.array([[0.64, 0.0, -0.77], [-0.32, 0.91, -0.27], [-0.70, -0.42, -0.58]])  # right, up, forward; y is up
DENSITY = 6  # samples a fine pixel


def exploded_samples(parts: list[Part], gap: float, count: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Points, normals and colours of all parts, moved away from the middle. → (n, 3), (n, 3), (n, 3)"""
    vertices = np.concatenate([part.vertices for part in parts])
    middle = (vertices.min(axis=0) + vertices.max(axis=0)) / 2
    total = sum(part.area for part in parts)
    points, normals, colours = [], [], []
    for k, part in enumerate(parts):
        cross = np.cross(*np.moveaxis(np.diff(part.triangles, axis=1), 1, 0))
        double = np.linalg.norm(cross, axis=1)
        face, at = uniform_samples(part.triangles, double, max(3000, int(count * part.area / total)), rng)
        centre = (part.triangles.mean(axis=1) * double[:, None]).sum(axis=0) / double.sum()
        points.append(at + gap * (centre - middle))
        normals.append(cross[face] / np.maximum(double[face], 1e-30)[:, None])
        colours.append(np.repeat(COLOURS[k % len(COLOURS)][None], len(face), axis=0))
    return np.concatenate(points), np.concatenate(normals), np.concatenate(colours)


def picture(parts: list[Part], size: int, rng: np.random.Generator, gap: float = 0.22) -> Array:
    """The parts as a shaded image, drawn point by point with a depth buffer. → (size, size, 3) float"""
    fine = 2 * size
    points, normals, colours = exploded_samples(parts, gap, DENSITY * fine**2, rng)
    seen, facing = points @ VIEW.T, normals @ VIEW.T
    low, high = seen[:, :2].min(axis=0), seen[:, :2].max(axis=0)
    place = (seen[:, :2] - (low + high) / 2) * (0.92 * fine / (high - low).max()) + fine / 2
    column = place[:, 0].astype(int).clip(0, fine - 2)
    row = (fine - 1 - place[:, 1]).astype(int).clip(0, fine - 2)
    shade = 0.4 + 0.6 * np.clip(facing @ LIGHT, 0, 1) + 0.1 * np.clip(facing @ [0.8, 0, -0.6], 0, 1)
    order = np.argsort(-seen[:, 2], kind="stable")  # nearest last, so that it stays
    image = np.ones((fine, fine, 3))
    colour = np.clip(colours * shade[:, None], 0, 1)[order]
    depth = np.full((fine, fine), np.inf)
    footprint = ((0, 0), (0, 1), (1, 0), (1, 1))
    for down, right in footprint:
        np.minimum.at(depth, (row + down, column + right), seen[:, 2])
    for down, right in footprint:
        at = row[order] + down, column[order] + right
        front = seen[order, 2] <= depth[at] + 0.004
        image[at[0][front], at[1][front]] = colour[front]
    return image.reshape(size, 2, size, 2, 3).mean(axis=(1, 3))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--out", type=Path, default=Path("docs/images/fracture.png"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--wear", default="none")
    args = parser.parse_args()
    wear = parse_wear(args.wear)
    shapes = (*EVERYDAY, *list(FORMS)[:2], *list(FORMS)[5:7])
    source = GeneratedObjects(args.seed, Recipe(shapes=shapes, wear=None if wear == Wear() else wear))
    figure, axes = plt.subplots(4, 6, figsize=(12, 8.6), layout="constrained")
    for k, axis in enumerate(axes.flat):
        made = source[k]
        axis.imshow(picture(made.parts, 300, np.random.default_rng(k)))
        axis.set_title(f"{made.shape.replace('_', ' ')}, {made.fracture.mechanism}, {len(made.parts)}", fontsize=8)
        axis.axis("off")
    args.out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(args.out, dpi=110)


if __name__ == "__main__":
    main()
