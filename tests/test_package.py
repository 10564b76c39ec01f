"""Importing is cheap, the public names are there, the house rules hold."""

import ast
import subprocess
import sys
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


def imports(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text())))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return plain | {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}


def test_rooms_import_only_what_they_may():
    for path in (SOURCE / "geometry").glob("*.py"):
        ours = {name for name in imports(path) if name.startswith("cmnet")}
        assert all(name.startswith("cmnet.geometry") for name in ours), path
    for path in (SOURCE / "model").glob("*.py"):
        assert not {name for name in imports(path) if name.split(".")[0] in ("lightning", "gtsam")}, path
    for path in SOURCE.rglob("*.py"):
        assert "pickle" not in imports(path), path
