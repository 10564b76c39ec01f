"""Point clouds in plain text: one point a line, its coordinates first."""

import re
import warnings
from pathlib import Path

import numpy as np

from cmnet.errors import InputError
from cmnet.geometry.types import Array
from cmnet.parts.body import Body, as_colors

WHOLE = r"[+-]?\d+(,\d+)?([eE][+-]?\d+)?"
COMMAS = re.compile(rf"(?=.*\d,\d)\s*{WHOLE}([;\s]+{WHOLE}){{2,}}\s*;?\s*")  # a point with commas for decimal points
UNIT = 0.02  # normals have lengths that differ from 1 by no more, at the median


def read_xyz(path: Path) -> Body:
    """A cloud from lines of `x y z`, then perhaps normals, colours, or both; a line of column names may come first."""
    rows = _rows(path)
    rows = rows[np.isfinite(rows[:, :3]).all(axis=1)]
    normals, colors = _extras(rows[:, 3:])
    return Body(
        path.stem, np.ascontiguousarray(rows[:, :3]), None, normals, None if colors is None else as_colors(colors)
    )


def _rows(path: Path) -> Array:
    """(n, c) float: the numbers of the file, c ≥ 3."""
    text = path.read_text(encoding="utf-8", errors="replace").replace("\ufeff", "")
    if any(COMMAS.fullmatch(line) for line in text.splitlines()[:20]):
        text = text.replace(",", ".")
    lines = [line for line in re.sub("[,;\t]", " ", text).splitlines() if line.strip()]
    start = next((k for k, line in enumerate(lines[:20]) if _is_point(line)), None)
    if start is None:
        raise InputError(f"{path} holds no points: its first lines are not three or more numbers; export it again")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            rows = np.loadtxt(lines[start:], dtype=np.float64, comments=("#", "//"), ndmin=2)
    except (ValueError, UserWarning) as error:
        raise InputError(
            f"{path} cannot be read as .xyz: its lines do not all hold the same number of numbers; export it again"
        ) from error
    return rows


def _is_point(line: str) -> bool:
    words = line.split()
    try:
        return len(words) >= 3 and all(np.isfinite(float(word)) for word in words)
    except ValueError:
        return False


def _extras(columns: Array) -> tuple[Array | None, Array | None]:
    """Normals (n, 3) and colours (n, 3) among the columns after the coordinates, told apart by their values."""
    opaque = columns.shape[1] % 3 == 1 and (columns[:, -1] == 255).all()  # red, green, blue, opacity
    first = 0 if opaque else columns.shape[1] % 3  # otherwise a lone column is an intensity and comes first
    triples = [columns[:, k : k + 3] for k in range(first, columns.shape[1] - 2, 3)]
    normals = next((t for t in triples if _like_normals(t)), None)
    colors = next((t for t in triples if t is not normals and ((t >= 0) & (t <= 255)).all()), None)
    return normals, colors


def _like_normals(triple: Array) -> bool:
    lengths = np.linalg.norm(triple, axis=1)
    return abs(float(np.median(lengths)) - 1) < UNIT and bool((triple < 0).any())
