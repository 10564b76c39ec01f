"""Importing is cheap, the public names are there, the house rules hold."""

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import cmnet

SOURCE = Path(cmnet.__file__).parent


def test_public_names_exist():
    for name in cmnet.__all__:
        assert getattr(cmnet, name) is not None
    with pytest.raises(AttributeError):
        _ = cmnet.nothing


@pytest.mark.parametrize("code", ["import cmnet", "from cmnet.cli import build_parser; build_parser().format_help()"])
def test_import_and_help_load_nothing_heavy(code):
    heavy = "{'torch', 'numpy', 'scipy', 'trimesh', 'lightning', 'rich'} & set(sys.modules)"
    script = f"import sys; {code}; print(sorted({heavy}))"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout.strip() == "[]"


# For all but geometry:
COMMON = {"__init__", "__version__", "cluster", "errors", "files", "folders", "processes", "reading", "settings"}
COMMON |= {"judgement", "values", "versions"}
ROOMS = {  # what may be imported along with each of them: some of those above it, so that there are no cycles
    "geometry": set(),
    "parts": {"geometry"},
    "model": {"geometry"},
    "pairing": {"geometry", "parts"},
    "matched": {"geometry", "pairing"},
    "solving": {"geometry", "parts", "pairing", "matched"},
    "assembling": {"geometry", "parts", "pairing", "solving"},
    "assembler": {"geometry", "parts", "model", "pairing", "matched", "solving", "assembling"},
    "saved": {"geometry", "parts", "model", "pairing", "solving", "assembling"},
    "session": {"geometry", "parts", "model", "pairing", "matched", "solving", "assembling", "assembler", "saved"},
    "data": {"geometry", "parts"},
    "training": {"geometry", "model", "data"},
    "evaluation": {"geometry", "parts", "model", "pairing", "solving", "data"},
    "report": {"geometry", "parts", "model", "pairing", "matched", "solving"},
    "cli": {"model", "report"},  # only presets and how figures are worded; a command imports the rest when it runs
}


def imports(nodes: Iterable[ast.AST]) -> set[str]:
    """Full names of all that is imported, such as `cmnet.parts.part.Part`."""
    nodes = list(nodes)
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    origins = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    return plain | {f"{'.' * node.level}{node.module}.{alias.name}" for node in origins for alias in node.names}


def at_once(node: ast.AST) -> Iterator[ast.AST]:
    """What runs when a module is imported: not what is in functions, nor what only type checkers read."""
    for child in ast.iter_child_nodes(node):
        later = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        if not later and not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield child
            yield from at_once(child)


def rooms(names: set[str]) -> set[str]:
    return {name.split(".")[1] for name in names if name.startswith("cmnet.")}


def test_rooms_import_only_what_they_may():
    order = list(ROOMS)
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        assert room in COMMON | ROOMS.keys(), f"{path}: say in ROOMS what it may import"
        others = ROOMS.get(room, set()) | (COMMON if room != "geometry" else set())
        assert rooms(imports(at_once(ast.parse(path.read_text())))) <= others | {room}, path
    assert all(others <= set(order[: order.index(room)]) for room, others in ROOMS.items())


def test_what_is_never_imported_even_late():
    for path in SOURCE.rglob("*.py"):
        names = imports(ast.walk(ast.parse(path.read_text())))
        packages = {name.split(".")[0] for name in names}
        assert not packages & {"", "pickle"}, path  # "": names are absolute
        if SOURCE / "model" in path.parents:
            assert not packages & {"lightning", "gtsam"}, path
        if SOURCE / "geometry" in path.parents:
            assert rooms(names) <= {"geometry"}, path
