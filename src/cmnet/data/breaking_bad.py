"""Finding fractures in Breaking Bad's folder layout (v1, v2 and anything laid out alike).

    ROOT/everyday/Bottle/OBJECT/fractured_0/piece_0.obj     subset / category / object / fracture / pieces (.obj, .ply)
    ROOT/artifact/OBJECT/mode_3/piece_0.obj                 the other subsets have no categories
    ROOT/data_split/everyday.train.txt                      one object a line: everyday/Bottle/OBJECT; or one fracture:
                                                            everyday/Bottle/OBJECT/mode_0, with or without its number
                                                            of pieces before it: 003 everyday/Bottle/OBJECT/mode_0

    ROOT/SET/OBJECT/any names, contacts.json                real scans: any folder with a file that says where its
    ROOT/SET/OBJECT/any names, gt_pose.json                 pieces belong (see cmnet.data.stored)

v2 (volume constrained) is the same tree under other roots; `subset` may be a path such as volume_constrained/everyday.
"""

import logging
import math
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cmnet.errors import InputError
from cmnet.parts.load import FORMATS, natural_key
from cmnet.reading import expanded

log = logging.getLogger("cmnet")

FRACTURES = ("fractured_", "fracture_", "mode_")  # folder names of the layout; v1's own manual says fracture_
BROKEN = (2, 1_000_000)  # any number of pieces that is a fracture at all
IN_PLACE = "contacts.json"  # beside scans that are stored in their assembled places: which of them touch
POSE = "gt_pose.json"  # beside two scans: the pose that takes the second to its place on the first
SCAN = "scan"  # the last word of the name of such an object, which takes the place of a fracture's
COMPRESSED = "compressed_fracture.npy"  # what the distributed archives hold before decompress.py has run


@dataclass(frozen=True)
class FractureFolder:
    """One broken object: a folder of pieces in their assembled places."""

    path: Path
    name: str  # relative to the root, with forward slashes; of a scan followed by /scan
    files: tuple[Path, ...]  # in natural order
    subset: str
    category: str  # empty where the subset has none
    object_id: str


def find_fractures(
    root: str | Path,
    subset: str | None = None,
    split: str | None = None,
    pieces: tuple[int, int] | None = (2, 2),
) -> list[FractureFolder]:
    """All fractures below `root`, in natural order of their names.

    subset : folder below the root to keep to
    split  : keep to the objects and fractures that data_split/SUBSET.SPLIT.txt lists, or a .txt file of that path
    pieces : fewest and most pieces, inclusive; None takes any number
    """
    root = expanded(root)
    if not root.is_dir():
        raise InputError(f"no such folder: {root}; give the folder that holds the subsets and data_split")
    listed = _listed(root, subset, split, pieces) if split else {}
    starts = list(listed) or [_subset_folder(root, subset)]
    found = [f for start in starts for f in _walk(root, start)]
    if not found:
        raise InputError(_nothing_found(root, starts))
    _refuse_other_version(found, listed)
    found = _with_known_places(sorted({f.name: f for f in found}.values(), key=lambda f: natural_key(f.name)))
    kept = [f for f in found if pieces is None or pieces[0] <= len(f.files) <= pieces[1]]
    if not kept:
        raise InputError(_wrong_counts(root, found, pieces))
    return kept


def _with_known_places(found: list[FractureFolder]) -> list[FractureFolder]:
    """Without the folders whose pieces have no known place, if there are scans that do have one."""
    if not any(is_scan(f.path) for f in found):
        return found
    unknown = [f.name for f in found if not (is_scan(f.path) or f.path.name.startswith(FRACTURES))]
    if unknown:
        told = "nothing says where these fragments belong (%s or %s), so they are left out: %d folders, the first is %s"
        log.warning(told, IN_PLACE, POSE, len(unknown), unknown[0])
    return [f for f in found if f.name not in unknown]


def is_scan(folder: Path) -> bool:
    """Whether a file in it says where the pieces belong."""
    return not folder.name.startswith(FRACTURES) and any((folder / name).is_file() for name in (IN_PLACE, POSE))


def _subset_folder(root: Path, subset: str | None) -> Path:
    folder = root / subset if subset else root
    if not folder.is_dir():
        there = sorted(e.name for e in os.scandir(root) if e.is_dir() and e.name != "data_split")
        raise InputError(f"no subset {subset!r} in {root}; there is: {', '.join(there) or 'no folder at all'}")
    return folder


def _listed(root: Path, subset: str | None, split: str, pieces: tuple[int, int] | None) -> dict[Path, int | None]:
    """The objects and fractures that the split files name, and how many pieces they are said to have."""
    base = (root / subset).parent if subset else root
    entries = {folder: n for file in _lists(base, subset, split) for folder, n in _entries(file, base, pieces).items()}
    kept = {folder: n for folder, n in entries.items() if subset is None or folder.is_relative_to(root / subset)}
    if not kept:
        raise InputError(f"{split} lists nothing of this subset and number of pieces; ask for others, or leave it out")
    return kept


def _lists(base: Path, subset: str | None, split: str) -> list[Path]:
    if split.endswith(".txt"):
        if not (file := expanded(split)).is_file():
            raise InputError(f"no list at {file}; give a file of one object or fracture a line, or the name of a split")
        return [file]
    pattern = f"{Path(subset).name if subset else '*'}.{split}.txt"
    lists = sorted((base / "data_split").glob(pattern))
    if not lists:
        there = ", ".join(p.name for p in sorted((base / "data_split").glob("*.txt"))) or "no list at all"
        raise InputError(f"no split file {base / 'data_split' / pattern}; there is: {there}")
    return lists


def _entries(file: Path, base: Path, pieces: tuple[int, int] | None) -> dict[Path, int | None]:
    """What a list names. Lines of other numbers of pieces are passed over, all others must be found on disk."""
    lines = [line.strip() for line in file.read_text(encoding="utf-8", errors="replace").splitlines()]
    told = [_name_and_count(line) for line in lines if line and not line.startswith("#")]
    low, high = pieces or (0, math.inf)
    wanted = [(name, n) for name, n in told if n is None or low <= n <= high]
    names = [name for name, _ in wanted]
    subset = file.name.split(".")[0]
    # Lines start with the subset in v1; lists made by hand often leave it out.
    folders = [base / name if (base / name).is_dir() else base / subset / name for name in names]
    missing = [n for n, folder in zip(names, folders) if not folder.is_dir() or n.startswith("/") or ".." in n]
    if missing:
        raise InputError(
            f"{file} lists {len(missing)} of {len(names)} objects that are not in {base}, first {missing[0]}; "
            "unpack them or take their lines out"
        )
    return dict(zip(folders, (n for _, n in wanted)))


def _name_and_count(line: str) -> tuple[str, int | None]:
    """Of `003 everyday/Bottle/OBJECT/mode_0`; the number may be left out."""
    told = re.fullmatch(r"(\d{1,6})\s+(.+)", line)
    return (told[2], int(told[1])) if told else (line, None)


def _refuse_other_version(found: list[FractureFolder], listed: dict[Path, int | None]) -> None:
    """The lists of v1 and v2 name fractures alike that are not."""
    for fracture in found:
        if listed.get(fracture.path) not in (None, len(fracture.files)):
            raise InputError(
                f"{fracture.name} has {len(fracture.files)} pieces, not {listed[fracture.path]} as the list says; "
                "take the list of this version of the data (v1, or v2 with constrained volumes)"
            )


def _walk(root: Path, folder: Path) -> Iterator[FractureFolder]:
    """Fractures below one folder. Folders that hold pieces are not searched further."""
    try:
        entries = [e for e in os.scandir(folder) if not e.name.startswith(".")]
    except OSError as error:
        raise InputError(f"cannot read folder {folder}: {error.strerror}; change its permissions") from error
    names = [e.name for e in entries if e.is_file()]
    files = _pieces(names, folder.name.startswith(FRACTURES) or is_scan(folder))
    if files:
        yield _fracture(root, folder, files)
        return
    for entry in entries:
        if entry.is_dir():
            yield from _walk(root, folder / entry.name)


def _pieces(names: list[str], known: bool) -> list[str]:
    """The piece files among a folder's files: one per piece, .ply before .obj where a piece comes in both.

    known : the folder is an object's, so that all its meshes and clouds are pieces, whatever their names
    """
    best: dict[str, str] = {}
    for name in names:
        stem, suffix = os.path.splitext(name)
        if suffix.lower() in FORMATS and (known or stem.startswith("piece")):
            rival = best.get(stem)
            if rival is None or FORMATS.index(suffix.lower()) < FORMATS.index(os.path.splitext(rival)[1].lower()):
                best[stem] = name
    return sorted(best.values(), key=natural_key)


def _fracture(root: Path, folder: Path, files: list[str]) -> FractureFolder:
    parts = (*folder.relative_to(root).parts, *([SCAN] if is_scan(folder) else []))
    *above, object_id = ("", *parts[:-1])
    subset, category = ("/".join(above[1:-1]), above[-1]) if len(above) > 2 else ("/".join(above[1:]), "")
    name = "/".join(parts) or folder.name
    return FractureFolder(folder, name, tuple(folder / f for f in files), subset, category, object_id)


def _nothing_found(root: Path, starts: list[Path]) -> str:
    compressed = any(COMPRESSED in files for start in starts[:3] for _, _, files in os.walk(start))
    if compressed:
        return f"the fractures in {root} are still compressed; run the dataset's own decompress.py first"
    return (
        f"no fracture in {root}: no folder below it holds piece_*.obj or piece_*.ply files, or scans beside a "
        f"{IN_PLACE} or {POSE}; the layout is SUBSET/CATEGORY/OBJECT/fractured_0/piece_0.obj"
    )


def _wrong_counts(root: Path, found: list[FractureFolder], pieces: tuple[int, int] | None) -> str:
    counts = Counter(len(f.files) for f in found)
    listing = ", ".join(f"{n} of {k} piece{'s' if k > 1 else ''}" for k, n in sorted(counts.items()))
    low, high = pieces or (0, 0)
    wanted = f"{low}" if low == high else f"{low} or more" if high == BROKEN[1] else f"{low} to {high}"
    return f"no fracture of {wanted} pieces in {root}; found {listing}; ask for other numbers of pieces"
