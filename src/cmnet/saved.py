"""A session on disk: one JSON file with what was found and decided, beside the parts as arrays. Nothing in it is run.

Parts are written once, in a file named by what it holds. The JSON file is renamed into its place when it is whole: a
process that is killed while it saves leaves the session as it was.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from cmnet import __version__
from cmnet.assembling.memo import Answer, Memo
from cmnet.errors import InputError
from cmnet.files import replacing, write_text
from cmnet.geometry.pose import Pose
from cmnet.model.network import CMNet
from cmnet.model.weights import fingerprint
from cmnet.pairing.join import Join
from cmnet.pairing.judge.uncertainty import Uncertainty
from cmnet.parts.part import Part
from cmnet.reading import expanded, read_json

FORMAT = "cmnet.session/1"
FILE = "session.json"
ARRAYS = ("vertices", "faces", "normals", "colors")
ADVICE = "give the folder of a saved session, or start anew with `cmnet.Session(parts)`"

Saved = dict[str, Any]


def write(folder: Path, parts: Sequence[Part], weights: str | Path | CMNet, found: Mapping[str, Any]) -> None:
    """Save a session, over what was saved there before. found : what JSON can hold"""
    if isinstance(weights, CMNet):
        raise InputError("a session can be saved if its weights have a name or a file; save them, and start with that")
    stored = _store(folder, parts)
    content = {
        "format": FORMAT,
        "cmnet": __version__,
        "weights": str(weights),
        "weights_sha256": fingerprint(weights),
        "arrays": stored,
        "parts": [{"name": p.name, **_origin(p), "repairs": list(p.repairs)} for p in parts],
        **found,
    }
    write_text(folder / FILE, json.dumps(content, ensure_ascii=True) + "\n")
    for other in folder.glob("parts-*.npz"):
        if other.name != stored:
            other.unlink(missing_ok=True)


def read(folder: str | Path) -> tuple[Saved, list[Part]]:
    """What was saved, and the parts. An InputError where files have changed since, or hold something else."""
    path = expanded(folder) / FILE
    saved = read_json(path, ADVICE)
    if not isinstance(saved, dict) or saved.get("format") != FORMAT:
        raise InputError(f"{path} holds no session of this version of cmnet ({FORMAT}); {ADVICE}")
    with sound(path):
        if fingerprint(saved["weights"]) != saved["weights_sha256"]:
            raise InputError(f"{path} was made with other weights than {saved['weights']} are now; {ADVICE}")
        return saved, _stored(path.parent / Path(saved["arrays"]).name, saved["parts"])


@contextmanager
def sound(path: Path) -> Iterator[None]:
    """An InputError where what was saved is not laid out as it should be."""
    try:
        yield
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise InputError(f"{path} is damaged; {ADVICE}") from error


def _origin(part: Part) -> Saved:
    """The file that a part was read from, and its hash, by which changes are noticed."""
    file = None if part.file is None or not part.file.is_file() else part.file.resolve()
    return {"file": file and str(file), "sha256": file and hashlib.sha256(file.read_bytes()).hexdigest()}


def _store(folder: Path, parts: Sequence[Part]) -> str:
    """Write the arrays of the parts, unless they are there; the name of their file."""
    arrays = {
        f"{k}.{name}": a for k, part in enumerate(parts) for name in ARRAYS if (a := getattr(part, name)) is not None
    }
    digest = hashlib.sha256()
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype} {array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    path = folder / f"parts-{digest.hexdigest()[:16]}.npz"
    if not path.exists():
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.savez(file, **arrays)
    return path.name


def _stored(path: Path, entries: Sequence[Mapping[str, Any]]) -> list[Part]:
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} cannot be read ({error}); {ADVICE}") from error
    parts = []
    for k, entry in enumerate(entries):
        file = entry["file"] and Path(entry["file"])
        if file and file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() != entry["sha256"]:
            raise InputError(f"{file} has changed since the session was saved; put the old file back, or start anew")
        own: dict[str, Any] = {name: arrays.get(f"{k}.{name}") for name in ARRAYS}
        parts.append(Part(str(entry["name"]), file=file or None, repairs=tuple(entry["repairs"]), **own))
    return parts


def memo_to_json(memo: Memo) -> Saved:
    answers = [
        {
            "kind": kind,
            "groups": [sorted(group) for group in groups],
            "T": [[k, _rows(T)] for k, T in answer.T.items()],
            "joins": [_join(join) for join in answer.joins],
        }
        for (kind, groups), answer in memo.answers.items()
    ]
    return {"count": memo.count, "answers": answers}


def memo_from_json(saved: Saved) -> Memo:
    memo = Memo(count=int(saved["count"]))
    for entry in saved["answers"]:
        groups = frozenset(frozenset(map(int, group)) for group in entry["groups"])
        T = {int(k): Pose.from_matrix(rows) for k, rows in entry["T"]}
        memo.answers[str(entry["kind"]), groups] = Answer(T, tuple(map(_read_join, entry["joins"])))
    return memo


def _join(join: Join) -> list[Any]:
    known = join.uncertainty
    exact = None if known is None else [known.covariance.tolist(), known.length, known.degrees]
    figures = [join.confidence, join.contact_area, join.gap_rms, join.penetration]
    return [join.number, list(join.parts), _rows(join.T_i_j), figures, exact]


def _read_join(saved: Sequence[Any]) -> Join:
    number, (i, j), rows, (confidence, contact, gap, depth), exact = saved
    known = None if exact is None else Uncertainty(np.array(exact[0], dtype=np.float64), *exact[1:])
    T_i_j = Pose.from_matrix(rows)
    return Join((int(i), int(j)), T_i_j, confidence, contact, gap, depth, uncertainty=known, number=int(number))


def poses_to_json(learned: Mapping[tuple[int, int], Sequence[Pose]]) -> list[Any]:
    return [[list(pair), [_rows(T) for T in poses]] for pair, poses in learned.items()]


def poses_from_json(saved: Sequence[Any]) -> dict[tuple[int, int], list[Pose]]:
    return {(int(i), int(j)): [Pose.from_matrix(rows) for rows in poses] for (i, j), poses in saved}


def _rows(T: Pose) -> list[list[float]]:
    return [[float(x) for x in row] for row in T.matrix()]
