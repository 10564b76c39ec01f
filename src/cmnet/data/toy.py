"""The paper's toy data: six interface patterns extruded to 3D, in which shape alone cannot tell right from wrong.

Along the interface of two parts stand bumps and dents of one and the same profile, placed so that turning the interface
by 180° nearly gives it back: the two parts look alike, and every bump finds a twin on the mate that it must not be
matched to. Only what is solid on one side being empty on the other, and the order of the features, decide. Spacings are
unequal, so no other motion brings the whole interface together.

    pattern   1 rectangles   2 triangles   3 semicircles   4 dovetails   5 waves   6 knobs
    order       + − + −        + + − −         + −           + + − −      + − + −    + −
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cmnet.errors import InputError
from cmnet.folders import Contents, replacing_folder
from cmnet.geometry.types import Array, Ints
from cmnet.parts.part import Part
from cmnet.parts.save import save_part
from cmnet.reading import expanded

FEATURE_ORDER = {1: (1, -1, 1, -1), 2: (1, 1, -1, -1), 3: (1, -1), 4: (1, 1, -1, -1), 5: (1, -1, 1, -1), 6: (1, -1)}
TRAIN_PATTERNS, TEST_PATTERNS = (1, 2, 3), (4, 5, 6)
TOY = Contents("data_split/toy.test.txt", lambda text: ())  # never replaced


@dataclass(frozen=True)
class ToySizes:
    """Objects per pattern."""

    train: int = 200  # of patterns 1 to 3
    val: int = 50  # of patterns 1 to 3
    test: int = 50  # of patterns 4 to 6


def toy_object(pattern: int, rng: np.random.Generator) -> list[Part]:
    """Two watertight interlocking parts in their assembled place: largest side 1, centred, interfaces coincident."""
    if pattern not in FEATURE_ORDER:
        raise ValueError(f"there is no toy pattern {pattern!r}; choose one of {', '.join(map(str, FEATURE_ORDER))}")
    interface = _interface(pattern, rng)
    below, above = rng.uniform(0.3, 0.4, size=2)
    cut_below, cut_above = rng.uniform(0.1, 0.2, size=2)
    # One bevelled corner each, diagonally opposite, as the turned interface has it.
    lower = np.vstack([interface[::-1], [[-0.5, -below + cut_below], [-0.5 + cut_below, -below], [0.5, -below]]])
    upper = np.vstack([interface, [[0.5, above - cut_above], [0.5 - cut_above, above], [-0.5, above]]])
    depth = rng.uniform(0.25, 0.4)
    middle = np.array([0.0, (above - below) / 2, 0.0])
    parts = [_prism(polygon, depth, middle) for polygon in (lower, upper)]
    if rng.random() < 0.5:
        parts.reverse()
    return [Part(f"piece_{k}", vertices, faces) for k, (vertices, faces) in enumerate(parts)]


def _interface(pattern: int, rng: np.random.Generator) -> Array:
    """(n, 2) float: the line between the parts, from x = −0.5 to x = 0.5."""
    signs = FEATURE_ORDER[pattern]
    centers, gap = _centers(len(signs), rng)
    profile = _profile(pattern) * _size(pattern, gap, rng)
    features = [profile * [1, sign] + [center, 0] for sign, center in zip(signs, centers)]
    return np.vstack([[[-0.5, 0.0]], *features, [[0.5, 0.0]]])


def _centers(count: int, rng: np.random.Generator) -> tuple[Array, float]:
    """Where the features stand, left to right, and the narrowest gap between two."""
    if count == 2:
        gaps = np.array([rng.uniform(0.4, 0.48)])
    else:
        # The outer gaps differ from the inner one and from each other: a shifted or mirrored interface never fits.
        lean = rng.uniform(0.05, 0.12) * rng.choice([-1, 1])
        gaps = np.array([1 + lean, rng.uniform(1.25, 1.45), 1 - lean]) * rng.uniform(0.195, 0.21)
    ends = np.concatenate([[0.0], np.cumsum(gaps)])
    return ends - ends[-1] / 2 + rng.uniform(-0.02, 0.02), float(gaps.min())


def _size(pattern: int, gap: float, rng: np.random.Generator) -> Array:
    """Width and height of a feature."""
    wide, low, high = {
        1: (0.65, 0.6, 0.9),
        2: (0.80, 0.7, 1.0),
        3: (0.75, 0.5, 0.5),  # a semicircle is half as high as wide
        4: (0.75, 0.6, 0.8),
        5: (0.90, 0.6, 0.8),
        6: (0.55, 1.0, 1.0),  # a knob stays round
    }[pattern]
    few = 0.8 if gap > 0.3 else 1.0  # two features leave room enough for their own height
    width = wide * few * gap * rng.uniform(0.9, 1.0)
    return np.array([width, width * rng.uniform(low, high)])


def _profile(pattern: int) -> Array:
    """(n, 2) float: one feature of width 1 and height 1 standing on the line y = 0, from left to right."""
    t = np.linspace(0, 1, 25)[:, None]
    if pattern == 1:
        return np.array([[-0.5, 0], [-0.5, 1], [0.5, 1], [0.5, 0]])
    if pattern == 2:
        return np.array([[-0.5, 0], [0, 1], [0.5, 0]])
    if pattern == 3:
        return np.hstack([-np.cos(np.pi * t) / 2, np.sin(np.pi * t) * (t > 0) * (t < 1)])
    if pattern == 4:
        return np.array([[-0.3, 0], [-0.5, 1], [0.5, 1], [0.3, 0]])
    if pattern == 5:
        return np.hstack([t - 0.5, (1 - np.cos(2 * np.pi * t)) / 2])
    angle = np.radians(-145 + 290 * t)  # a circle on a neck as wide as its opening
    circle = np.hstack([np.sin(angle) / 2, 0.5 + np.cos(angle) / 2])
    return np.vstack([[circle[0, 0], 0], circle, [circle[-1, 0], 0]])


def _prism(polygon: Array, depth: float, middle: Array) -> tuple[Array, Ints]:
    """A polygon (counter-clockwise) extruded along z: vertices (2 n, 3) float, faces (4 n - 4, 3) int."""
    from manifold3d import triangulate

    n = len(polygon)
    cap = np.asarray(triangulate([polygon]), dtype=np.int64)
    near, far = np.arange(n), np.arange(n) + n
    after = np.roll(near, -1)
    sides = np.vstack([np.stack([near, after, after + n], axis=1), np.stack([near, after + n, far], axis=1)])
    vertices = np.vstack([np.column_stack([polygon, np.full(n, z)]) for z in (-depth / 2, depth / 2)])
    return vertices - middle, np.vstack([cap[:, ::-1], cap + n, sides])


def build_toy(root: str | Path, seed: int = 0, sizes: ToySizes | None = None) -> Path:
    """Write the toy data in Breaking Bad's layout; the same bytes for the same seed. Returns the folder."""
    root, sizes = expanded(root), sizes or ToySizes()
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise InputError(f"{root} exists and is not an empty folder; choose another one or remove it first")
    with replacing_folder(root, TOY) as folder:
        _write(folder, seed, sizes)
    return root


def _write(root: Path, seed: int, sizes: ToySizes) -> None:
    ranges = {
        "train": (TRAIN_PATTERNS, range(sizes.train)),
        "val": (TRAIN_PATTERNS, range(sizes.train, sizes.train + sizes.val)),
        "test": (TEST_PATTERNS, range(sizes.test)),
    }
    (root / "data_split").mkdir(parents=True)
    for split, (patterns, numbers) in ranges.items():
        names = {f"toy/pattern_{p}/{k:04d}": (p, k) for p in patterns for k in numbers}
        for name, (pattern, k) in names.items():
            for part in toy_object(pattern, np.random.default_rng([seed, pattern, k])):
                save_part(part, root / name / "fractured_0" / f"{part.name}.ply")
        text = "".join(f"{name}\n" for name in names)
        (root / "data_split" / f"toy.{split}.txt").write_text(text, encoding="utf-8", newline="\n")
