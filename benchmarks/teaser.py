"""The picture in the README: the pieces of a generated vessel, scattered and in their places.

python benchmarks/teaser.py [-o docs/images/teaser.png] [--shape vase] [--seed S]
"""

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from contact_sheet import VIEW, picture

from cmnet.data.fracture import fracture
from cmnet.data.shapes import make_shape
from cmnet.geometry.pose import Pose
from cmnet.parts.part import Part


def scatter(parts: list[Part], columns: int, rng: np.random.Generator) -> list[Part]:
    """The parts turned at random and laid out on a grid that faces the viewer."""
    size = 0.8 * max(np.linalg.norm(np.ptp(part.vertices, axis=0)) for part in parts[1:])
    laid = []
    for k, part in enumerate(parts):
        centre = (part.vertices.min(axis=0) + part.vertices.max(axis=0)) / 2
        place = size * np.array([k % columns, -(k // columns), 0.0]) @ VIEW
        laid.append(part.moved(Pose(np.eye(3), place) @ Pose.random(rng) @ Pose(np.eye(3), -centre)))
    return laid


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--out", type=Path, default=Path("docs/images/teaser.png"))
    parser.add_argument("--shape", default="vase")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    parts = fracture(make_shape(args.shape, rng), 6, rng, "weakest", min_volume=0.04).parts
    figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
    stages = {"fragments": (scatter(parts, 3, rng), 0.0), "how they fit": (parts, 0.3), "assembled": (parts, 0.0)}
    for axis, (title, (stage, gap)) in zip(axes, stages.items()):
        axis.imshow(picture(stage, 420, np.random.default_rng(0), gap))
        axis.set_title(title, fontsize=11)
        axis.axis("off")
    args.out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(args.out, dpi=90)


if __name__ == "__main__":
    main()
