"""Break an amphora, paint it and scatter the sherds: how the example that comes with the package was made.

python examples/broken_vessel.py [--output src/cmnet/assets/example]
"""

import argparse
from pathlib import Path

import numpy as np
import trimesh
from numpy.typing import NDArray

from cmnet.data.fracture import fracture, prepare
from cmnet.data.shapes import make_shape
from cmnet.geometry.pose import Pose
from cmnet.parts.part import Part

SEED, PIECES, HEIGHT = 1, 7, 240.0  # millimetres
CLAY, SLIP, BREAK = (196, 118, 76), (52, 40, 36), (222, 170, 132)
BANDS = ((0.06, 0.11), (0.40, 0.43), (0.47, 0.60), (0.64, 0.67), (0.90, 0.94))  # painted, as shares of the height


def paint(part: Part, broken: NDArray[np.bool_], low: float, high: float) -> NDArray[np.uint8]:
    """(n, 4) uint8: dark bands on the clay, and the paler clay of the breaks. broken : (m,) bool, of every face"""
    height = (part.vertices[:, 1] - low) / (high - low)
    banded = np.any([(a < height) & (height < b) for a, b in BANDS], axis=0)
    skin = np.zeros(len(part.vertices), dtype=bool)
    skin[part.faces[~broken]] = True
    colors = np.where(banded[:, None], SLIP, CLAY)
    colors = np.where(skin[:, None], colors, BREAK)
    return np.concatenate([colors, np.full((len(colors), 1), 255)], axis=1).astype(np.uint8)


def sherds(seed: int = SEED) -> list[trimesh.Trimesh]:
    """The painted pieces, in millimetres, each in a place of its own."""
    rng = np.random.default_rng(seed)
    intact = prepare(make_shape("amphora", rng), "amphora", check_crossings=False)
    broken = fracture(intact, PIECES, rng, "impact", min_volume=0.02)
    everything = np.concatenate([part.vertices for part in broken.parts])
    low, high = everything[:, 1].min(), everything[:, 1].max()
    meshes = []
    for k, (part, faces) in enumerate(zip(broken.parts, broken.broken)):
        turn = Pose.random(rng).R if k else np.eye(3)  # the largest stands upright, and so will the vessel
        place = Pose(turn, HEIGHT * np.array([k % 4, k // 4, 0.0]))
        vertices = place.apply(HEIGHT * (part.vertices - part.vertices.mean(axis=0)) / (high - low))
        colors = paint(part, faces, low, high)
        meshes.append(trimesh.Trimesh(vertices, part.faces, vertex_colors=colors, process=False))
    return meshes


def main(output: Path) -> None:
    output.mkdir(parents=True, exist_ok=True)
    for k, mesh in enumerate(sherds(), 1):
        (output / f"sherd {k}.ply").write_bytes(mesh.export(file_type="ply"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("src/cmnet/assets/example"), help="default: %(default)s")
    main(parser.parse_args().output)
