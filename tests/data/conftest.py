import numpy as np
import pytest
import trimesh

from cmnet.parts.part import Part


def box(name, low, high):
    mesh = trimesh.creation.box(bounds=[low, high])
    return Part(name, np.asarray(mesh.vertices), np.asarray(mesh.faces))


@pytest.fixture
def bars():
    """A bar of 3 x 1 x 1 in three pieces: a - b touch over 1, b - c over 1, a and c do not touch."""
    return [
        box("a", (0, 0, 0), (0.5, 1, 1)),
        box("b", (0.5, 0, 0), (2, 1, 1)),
        box("c", (2, 0, 0), (3, 1, 1)),
    ]


@pytest.fixture
def bar_root(tmp_path, bars):
    """Four bars in Breaking Bad's layout: one in three pieces, three in two."""
    root = tmp_path / "data"
    for k in range(4):
        folder = root / "bars" / f"{k}" / "fractured_0"
        folder.mkdir(parents=True)
        for piece in bars[: 3 if k == 0 else 2]:
            stretched = piece.vertices * [1, 1 + k / 10, 1]
            trimesh.Trimesh(stretched, piece.faces, process=False).export(folder / f"piece_{piece.name}.ply")
    return root
