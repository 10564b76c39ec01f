"""Files that a mesh file refers to (buffers, materials, textures): only those beside it, never anything remote."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from cmnet.errors import InputError


def file_beside(path: Path, name: str) -> Path:
    """The file called `name` in the folder of `path` or below; InputError for anything elsewhere or missing."""
    folder = path.parent.resolve()
    for candidate in (name.strip(), unquote(name.strip())):
        if "://" in candidate or "\0" in candidate:
            break
        try:
            found = (folder / candidate.replace("\\", "/")).resolve()
            if found.is_relative_to(folder) and found.is_file():
                return found
        except OSError:  # a name that no file can have
            break
    raise InputError(
        f"{path} refers to {name[:80]!r}, which is not a file beside it; put the file there or export one .glb"
    )


class Beside:
    """What trimesh asks for the content of referenced files."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file_name = path.name

    def get(self, name: str) -> bytes:
        return file_beside(self.path, name).read_bytes()

    __getitem__ = get

    def keys(self) -> list[str]:
        return [p.name for p in self.path.parent.iterdir() if p.is_file()]
