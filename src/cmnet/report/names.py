"""File names made from the names of parts, which may be anything."""

import re
import unicodedata
from collections.abc import Sequence

LONGEST = 100  # bytes of a file's stem
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # Windows opens devices by these


def file_stems(names: Sequence[str]) -> list[str]:
    """For every name a stem that is safe and distinct on any system: letters of all scripts, digits and a few signs."""
    taken: set[str] = set()
    stems = []
    for name in names:
        stem = safe_stem(name)
        distinct, k = stem, 2
        while distinct.casefold() in taken:
            distinct, k = f"{stem}_{k}", k + 1
        taken.add(distinct.casefold())
        stems.append(distinct)
    return stems


def safe_stem(name: str) -> str:
    """The name without anything that a path, a shell or a system could take for something else."""
    text = unicodedata.normalize("NFC", name)
    kept = "".join(c if c.isalnum() or c in " -_.()" else "_" for c in text)
    kept = kept.encode("utf-8")[:LONGEST].decode("utf-8", "ignore").strip(" .")
    if not kept.strip("_"):
        return "part"
    return f"_{kept}" if RESERVED.fullmatch(kept) or kept.startswith("-") else kept
