"""Predictions on disk: made once, at a price, and scored as often as one likes.

A file is JSON lines. The first line holds the format and the settings, every other line one prediction:

    {"format": "cmnet.predictions/1", "protocol": {"data": "breaking_bad", "points": 5000, ...}}
    {"name": "everyday/Vase/...", "method": "cmnet", "parts": [0, 1], "anchor": 1, "poses": [[[...]], ...], ...}
"""

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cmnet.errors import InputError
from cmnet.files import write_text
from cmnet.geometry.pose import Pose
from cmnet.geometry.types import Array, Bools
from cmnet.pairing.join import FIGURES, Join
from cmnet.reading import parse_json

FORMAT = "cmnet.predictions/1"
RIGID = 1e-4  # how far R Rᵀ may be from the identity in a file
HOW_TO_REPLACE = "predict again with --overwrite, or name another file with --predictions"


@dataclass(frozen=True)
class Settings:
    """Everything a figure depends on. Predictions made with other settings, except for the limit, are stale."""

    data: str  # the folder, as given
    subset: str | None = None  # None = every subset
    split: str | None = None  # None = every fracture found
    pieces: str = "all"  # "2", "2-8" or "all"
    points: int = 5000  # per object, split by area
    network_points: int | None = None  # per object, that the network gets where parts are solved; None = as trained
    seed: int = 0
    half: str | None = None  # only objects of the development or the held-out half; None = all
    method: str = "cmnet"
    weights: str | None = None  # None = the method has none
    weights_sha256: str | None = None
    solver: str | None = None  # None = no solver, the network alone
    one_object: bool = False  # whether the solver is told that all parts belong to one object
    protocol: str = "strict"  # or the paper's: what is sampled, counted and shown
    task: str = "pairs"  # the most-touching pair of each fracture, or the whole assembly
    scan: str | None = None  # under which condition the parts are scanned; None = as stored
    anchor: str = "largest"  # by surface area
    limit: int | None = None  # judge so many fractures only; None = all


@dataclass(frozen=True, eq=False)
class Prediction:
    """One method's answer to one puzzle.

    parts   : (p,) which parts of the object
    anchor  : index into `parts`; its pose is the identity
    poses   : (p, 4, 4) float, T_anchor_part in the coordinates in which the parts entered; NaN = not placed
    centres : (p, 3) float, the parts' means in the assembled object, to notice that the data changed
    joins   : what the answer rests on and what else was considered, if the method says; indices into `parts`
    """

    name: str
    method: str
    parts: tuple[int, ...]
    anchor: int
    poses: Array
    centres: Array
    seconds: float
    joins: tuple[Join, ...] = ()

    def __post_init__(self) -> None:
        p = len(self.parts)
        if self.poses.shape != (p, 4, 4) or self.centres.shape != (p, 3) or not 0 <= self.anchor < p:
            raise ValueError(
                f"{self.name}: {p} parts need poses ({p}, 4, 4), centres ({p}, 3) and one of them as anchor"
            )
        if not np.allclose(self.poses[self.anchor], np.eye(4), atol=1e-6):
            raise ValueError(f"{self.name}: poses are given in the anchor's frame, so the anchor's is the identity")
        placed = self.poses[self.placed]
        R = placed[:, :3, :3]
        if not (np.allclose(R @ R.mT, np.eye(3), atol=RIGID) and (np.linalg.det(R) > 0).all()):
            raise ValueError(f"{self.name}: a pose is not a rigid motion")
        if not np.allclose(placed[:, 3], [0, 0, 0, 1]):
            raise ValueError(f"{self.name}: the last row of a pose is not 0 0 0 1")

    @property
    def placed(self) -> Bools:
        """(p,) bool: which parts have a pose."""
        return np.array([np.isfinite(pose).all() for pose in self.poses])


def write_predictions(path: Path, settings: Settings, predictions: Iterable[Prediction]) -> None:
    """Write the file atomically."""
    header = {"format": FORMAT, "protocol": asdict(settings)}
    lines = [json.dumps(line) for line in (header, *map(_to_json, predictions))]
    write_text(path, "\n".join(lines) + "\n")


def read_predictions(path: Path, settings: Settings) -> list[Prediction]:
    """The predictions in a file. One that was made with other settings is refused."""
    made_with, predictions = _read(path)
    _refuse_stale(path, made_with, asdict(settings))
    return predictions


def read_with_settings(path: Path) -> tuple[Settings, list[Prediction]]:
    """The predictions in a file and the settings that they were made with."""
    made_with, predictions = _read(path)
    try:
        return Settings(**made_with), predictions
    except TypeError as error:
        raise InputError(f"{path} was made by another version of cmnet ({error}); {HOW_TO_REPLACE}") from error


def _read(path: Path) -> tuple[dict[str, Any], list[Prediction]]:
    try:
        rows = enumerate(Path(path).read_bytes().splitlines(), start=1)
        header, *lines = [parse_json(row, f"{path}, row {k},", HOW_TO_REPLACE) for k, row in rows]
        made_with = dict(header["protocol"]) if header["format"] == FORMAT else None
        predictions = [_from_json(line) for line in lines]
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    except InputError:
        raise
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is no complete file of predictions ({error}); {HOW_TO_REPLACE}") from error
    if made_with is None:
        raise InputError(f"{path} is not in the format {FORMAT}; {HOW_TO_REPLACE}")
    return made_with, predictions


def export(
    path: Path, settings: Settings, known: Sequence[Prediction], fresh: Iterable[Prediction], every: float = 30.0
) -> list[Prediction]:
    """Add fresh predictions to the known ones and keep the file up to date every so many seconds.

    An interruption therefore loses little: the next run with the same settings goes on where this one stopped.
    """
    kept, written = list(known), time.monotonic()
    try:
        for prediction in fresh:
            kept.append(prediction)
            if time.monotonic() - written > every:
                write_predictions(path, settings, kept)
                written = time.monotonic()
    finally:
        if len(kept) > len(known):
            write_predictions(path, settings, kept)
    return kept


def _refuse_stale(path: Path, made_with: dict[str, Any], settings: dict[str, Any]) -> None:
    made_with = {**asdict(Settings("")), **made_with}  # a setting that did not exist yet was at its default
    names = sorted((made_with.keys() | settings.keys()) - {"limit"})  # which objects, not what is predicted for them
    differences = [
        f"{name} = {made_with.get(name)!r}, not {settings.get(name)!r}"
        for name in names
        if made_with.get(name) != settings.get(name)
    ]
    if differences:
        raise InputError(f"{path} was predicted with {'; '.join(differences)}. To replace it {HOW_TO_REPLACE}")


def _to_json(prediction: Prediction) -> dict[str, Any]:
    poses = [pose.tolist() if placed else None for pose, placed in zip(prediction.poses, prediction.placed)]
    arrays = {"parts": list(prediction.parts), "poses": poses, "centres": prediction.centres.tolist()}
    return {**vars(prediction), **arrays, "joins": [_join_to_json(join) for join in prediction.joins]}


def _join_to_json(join: Join) -> dict[str, Any]:
    figures = {name: getattr(join, name) for name in FIGURES}
    return {
        "parts": [int(k) for k in join.parts],
        "T_i_j": join.T_i_j.matrix().tolist(),
        **{name: None if figure is None else float(figure) for name, figure in figures.items()},
        "used": bool(join.used),
    }


def _from_json(line: dict[str, Any]) -> Prediction:
    unplaced = np.full((4, 4), np.nan)
    poses = np.array([unplaced if pose is None else pose for pose in line["poses"]], dtype=np.float64)
    centres = np.array(line["centres"], dtype=np.float64)
    joins = tuple(_join_from_json(join) for join in line.get("joins", ()))
    return Prediction(**{**line, "parts": tuple(line["parts"]), "poses": poses, "centres": centres, "joins": joins})


def _join_from_json(line: dict[str, Any]) -> Join:
    i, j = line["parts"]
    return Join(**{**line, "parts": (i, j), "T_i_j": Pose.from_matrix(line["T_i_j"])})
