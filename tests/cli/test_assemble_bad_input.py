"""Whatever is given: one clear sentence and exit code 2, or a warning and a sensible result. Never a traceback."""

import base64
import errno
import json
import os
import shutil
import struct
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import trimesh

import cmnet.assembler
import cmnet.parts.archive
import cmnet.parts.preflight
import cmnet.report.folder
from cmnet.cli import main
from cmnet.solving.assembly import Assembly

BALL = trimesh.creation.icosphere(3)
PLY, STL, GLB = (BALL.export(file_type=kind) for kind in ("ply", "stl", "glb"))
ASCII = trimesh.exchange.stl.export_stl_ascii(BALL)
OFF, OBJ = (BALL.export(file_type=kind).encode() for kind in ("off", "obj"))


def ply(vertices, faces="", counts=None, kind="ascii"):
    """A .ply file in text."""
    rows = "\n".join(" ".join(str(x) for x in v) for v in vertices)
    n, m = counts or (len(vertices), len(faces.splitlines()))
    head = f"ply\nformat {kind} 1.0\nelement vertex {n}\n" + "".join(f"property float {c}\n" for c in "xyz")
    return f"{head}element face {m}\nproperty list uchar int vertex_indices\nend_header\n{rows}\n{faces}\n".encode()


def gltf(**changes):
    """A scene with its buffer inside, changed here and there."""
    points = BALL.vertices.astype("<f4").tobytes()
    uri = "data:application/octet-stream;base64," + base64.b64encode(points).decode()
    scene = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "name": "a"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "mode": 0}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": len(BALL.vertices), "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteLength": len(points)}],
        "buffers": [{"byteLength": len(points), "uri": uri}],
    }
    return json.dumps(scene | changes).encode()


def accessor(**changes):
    return [{"bufferView": 0, "componentType": 5126, "count": len(BALL.vertices), "type": "VEC3"} | changes]


def pcd(points):
    return (
        f"VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH {points}\nHEIGHT 1\n"
        f"POINTS {points}\nDATA binary\n"
    ).encode() + bytes(1200)


def nan(content, value):
    lines = content.decode().splitlines()
    return "\n".join(f"v {value} 0 0" if k == 5 else line for k, line in enumerate(lines)).encode()


# What lies in the file, what it is called, and what the sentence says.
FILES = {
    "empty": (b"", "a.ply", "is an empty file"),
    "text renamed to .ply": (b"Dear diary,\ntoday I broke a vase.\n", "a.ply", "damaged or truncated"),
    "text renamed to .stl": (b"Dear diary,\ntoday I broke a vase.\n", "a.stl", "damaged or truncated"),
    "text renamed to .glb": (b"Dear diary,\ntoday I broke a vase.\n" * 3, "a.glb", "damaged or truncated"),
    "text renamed to .xyz": (b"Dear diary,\ntoday I broke a vase.\n", "a.xyz", "holds no points"),
    "an image renamed to .obj": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9, "a.obj", "a.obj"),
    "half a .ply": (PLY[: len(PLY) // 2], "a.ply", "truncated"),
    "half a .stl": (STL[: len(STL) // 2], "a.stl", "truncated"),
    "half a .glb": (GLB[: len(GLB) // 2], "a.glb", "truncated"),
    "half a .off": (OFF[: len(OFF) // 2], "a.off", "truncated"),
    "a .ply of nothing": (ply([]), "a.ply", "empty"),
    "a .glb without a mesh": (gltf(meshes=[], nodes=[{}]), "a.gltf", "empty"),
    "not a number": (nan(OBJ, "nan"), "a.obj", "not finite"),
    "infinite": (nan(OBJ, "inf"), "a.obj", "not finite"),
    "no area": (ply([(0, 0, 0), (1, 0, 0), (2, 0, 0)], "3 0 1 2"), "a.ply", "no area"),
    "all in one place": (ply([(1, 1, 1)] * 99), "a.ply", "export at least 32"),
    "ten points": (ply(np.eye(3).tolist() * 3 + [[5, 5, 5]]), "a.ply", "export at least 32"),
    "faces without vertices": (ply([(0, 0, 0), (1, 0, 0), (0, 1, 0)], "3 0 1 9"), "a.ply", "not there"),
    "two billion vertices": (ply([], "", (2_000_000_000, 1), "binary_little_endian"), "a.ply", "promises"),
    "two billion faces": (ply([(0, 0, 0)], "", (1, 2_000_000_000)), "a.ply", "promises"),
    "two billion faces of nothing": (
        ply([]).replace(b"element face 0\nproperty list uchar int vertex_indices\n", b"element face 2000000000\n"),
        "a.ply",
        "promises",
    ),
    "four billion triangles": (bytes(80) + struct.pack("<I", 2**32 - 1) + bytes(500), "a.stl", "promises"),
    "a billion in .off": (b"OFF\n1000000000 1000000000 0\n0 0 0\n", "a.off", "promises"),
    "a billion in .pcd": (pcd(10**9), "a.pcd", "promises"),
    "a billion in .gltf": (gltf(accessors=accessor(count=10**9)), "a.gltf", "promises"),
    "a billion in nothing": (
        gltf(accessors=accessor(count=10**9, sparse={})),
        "a.gltf",
        "packed",
    ),
    "the same a million times": (gltf(nodes=[{"mesh": 0}] * 100_000), "a.gltf", "promises"),
    "a packed scene": (gltf(extensionsRequired=["KHR_draco_mesh_compression"]), "a.gltf", "without compression"),
    "a buffer elsewhere": (gltf(buffers=[{"uri": "../../etc/passwd", "byteLength": 9}]), "a.gltf", "beside it"),
    "a remote buffer": (gltf(buffers=[{"uri": "http://localhost/x", "byteLength": 9}]), "a.gltf", "beside it"),
    "an old .gltf": (GLB[:4] + b"\1\0\0\0" + GLB[8:], "a.glb", "version 2"),
    "json too deep": (b"[" * 100_000, "a.gltf", "nested too deeply"),
    "an infinite count": (
        gltf(accessors=accessor(count=1)).replace(b'"count": 1', b'"count": 1e400'),
        "a.gltf",
        "damaged",
    ),
    "a count of 5000 digits": (gltf().replace(b'"count": ', b'"count": ' + b"9" * 5000), "a.gltf", "digits"),
    "a stray vertex": (nan(OBJ, "1e9"), "a.obj", "vertex "),
    "no zip": (b"Dear diary", "a.zip", "not a zip"),
    "an unknown type": (b"ISO-10303-21;", "a.step", "not read"),
    "no type": (b"x", "fragment", "not read"),
    "a packed .ply": (b"\x1f\x8b" + bytes(50), "a.ply.gz", "not read"),
    "half an .stl in text": (ASCII[: len(ASCII) // 2].encode(), "a.stl", "export the fragment again"),
    "two coordinates": (b"1.0 2.0\n" * 99, "a.xyz", "three or more numbers"),
    "lines only": (b"v 0 0 0\nv 1 0 0\nv 0 1 0\nl 1 2\n", "a.obj", "no faces"),
    "farther than anything": (nan(OBJ, "1e60"), "a.obj", "are a mistake"),
}


def run(tmp_path, capsys, *inputs):
    """Exit code and sentence of a run; nothing is left behind but what was there."""
    before = sorted(tmp_path.rglob("*"))
    code = main(["assemble", *map(str, inputs), "-o", str(tmp_path / "out")])
    shown = capsys.readouterr()
    if code == 2:
        assert shown.err.startswith("cmnet: ")
        assert shown.err.count("\n") == 1
        assert sorted(tmp_path.rglob("*")) == before
    assert "Traceback" not in shown.err + shown.out
    return code, shown.err + shown.out


@pytest.mark.parametrize("kind", FILES)
def test_files_that_cannot_be_used(kind, tmp_path, capsys):
    content, name, words = FILES[kind]
    (tmp_path / name).write_bytes(content)
    (tmp_path / "good.ply").write_bytes(PLY)
    code, said = run(tmp_path, capsys, tmp_path / "good.ply", tmp_path / name)
    assert code == 2
    assert words in said
    assert name in said


def zipped(path: Path, entries: dict) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def locked(path: Path) -> Path:
    """A zip whose entries say that they are encrypted."""
    content = bytearray(zipped(path, {"a.ply": PLY}).read_bytes())
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.find(mark) + at] |= 1
    path.write_bytes(content)
    return path


def nothing(folder):
    return folder / "nowhere"


def images(folder):
    (folder / "a").mkdir()
    for k in range(5):
        (folder / f"a/IMG_{k}.jpg").write_bytes(b"\xff\xd8\xff")
    return folder / "a"


def empty(folder):
    (folder / "a").mkdir()
    return folder / "a"


def alone(folder):
    (folder / "a.ply").write_bytes(PLY)
    return folder / "a.ply"


def folder_called_like_a_file(folder):
    (folder / "a/b.ply").mkdir(parents=True)
    return folder / "a"


def pipe(folder):
    os.mkfifo(folder / "a.ply")
    return folder / "a.ply"


def in_circles(folder):
    (folder / "a.ply").symlink_to(folder / "b.ply")
    (folder / "b.ply").symlink_to(folder / "a.ply")
    return folder / "a.ply"


def dangling(folder):
    (folder / "a.ply").symlink_to(folder / "nowhere.ply")
    return folder / "a.ply"


SOURCES = [
    (nothing, "no such file"),
    (empty, "it is empty"),
    (images, "it holds IMG_0.jpg, IMG_1.jpg, IMG_2.jpg ..., and pictures have to become 3D models first"),
    (alone, "at least 2 parts are needed"),
    (folder_called_like_a_file, "no fragments"),
    (pipe, "no files"),
    (dangling, "no such file"),
    (lambda folder: zipped(folder / "a.zip", {}), "it is empty"),
    (lambda folder: zipped(folder / "a.zip", {"../../a.ply": PLY}), "leads out"),
    (lambda folder: zipped(folder / "a.zip", {"a.xyz": b"0 0 0\n" * 2 * 10**7}), "far more than it holds"),
    (lambda folder: locked(folder / "a.zip"), "password"),
    (in_circles, "no such file"),
]


@pytest.mark.parametrize(("source", "words"), SOURCES)
def test_sources_that_hold_nothing_to_assemble(source, words, tmp_path, capsys):
    code, said = run(tmp_path, capsys, source(tmp_path))
    assert code == 2
    assert words in said


def test_names_that_would_speak_to_the_terminal(tmp_path, capsys):
    (tmp_path / "a\x1b[31m\nb.ply").write_bytes(b"")
    code, said = run(tmp_path, capsys, tmp_path / "a\x1b[31m\nb.ply")
    assert code == 2
    assert "a?[31m?b.ply is an empty file" in said


def test_no_permission_to_read(tmp_path, capsys, monkeypatch):
    (tmp_path / "a.ply").write_bytes(PLY)
    opened = Path.open

    def refuse(self, *words, **settings):
        if self.name == "a.ply":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self))
        return opened(self, *words, **settings)

    monkeypatch.setattr(Path, "open", refuse)
    code, said = run(tmp_path, capsys, tmp_path / "a.ply")
    assert code == 2
    assert "Permission denied; check its permissions" in said


@pytest.fixture
def pile(tmp_path):
    (tmp_path / "pile").mkdir()
    for k in range(3):
        BALL.copy().apply_scale([1, 1 + k / 9, 1]).export(tmp_path / f"pile/{k}.stl")
    return tmp_path / "pile"


@pytest.fixture(autouse=True)
def nothing_fits(monkeypatch):
    def assemble(self, parts, progress=None, **settings):
        return Assembly(np.tile(np.eye(4), (len(parts), 1, 1)), [], list(range(len(parts))), [])

    monkeypatch.setattr(cmnet.assembler.Assembler, "assemble_loaded", assemble)


def test_nothing_fits(tmp_path, pile, capsys):
    code, said = run(tmp_path, capsys, pile)
    assert code == 0
    assert "0 of 3 parts placed" in said
    assert "No two parts fit" in said


def test_a_full_disk(tmp_path, pile, capsys, monkeypatch):
    def full(assembly, parts):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(cmnet.report.folder, "glb_bytes", full)
    code, said = run(tmp_path, capsys, pile)
    assert code == 2
    assert "No space left on device" in said


def test_too_little_space_is_said_before_the_work(tmp_path, pile, capsys, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=3_000_000))
    monkeypatch.setattr(cmnet.assembler.Assembler, "assemble_loaded", None)
    code, said = run(tmp_path, capsys, pile)
    assert code == 2
    assert "too little space for the result: 3 MB are free" in said


def test_no_memory(tmp_path, pile, capsys, monkeypatch):
    def exhausted(self, parts, progress=None, **settings):
        raise MemoryError

    monkeypatch.setattr(cmnet.assembler.Assembler, "assemble_loaded", exhausted)
    code, said = run(tmp_path, capsys, pile)
    assert code == 2
    assert "do not fit into memory" in said


@pytest.mark.parametrize(
    ("out", "options", "words"),
    [
        ("pile", ["--force"], "lie in"),
        (".", ["--force"], "lie in"),
        ("pile/0.stl", [], "is a file"),
        ("pile/0.stl/out", [], "cannot write"),
        ("photos", [], "is there already"),
        ("photos", ["--force"], "not replaced"),
        ("out", ["--weights", "nothing.safetensors"], "no weights at"),
        ("out", ["--solver", "paper", "--weights", "none"], "use the robust solver"),
        ("out", ["--weights", "{pile}/0.stl"], "not a readable safetensors file"),
        ("out", ["--constraints", "nothing.json"], "cannot read nothing.json"),
        ("out", ["--constraints", "{pile}"], "Is a directory"),
        ("out", ["--constraints", "{pile}/0.stl"], "0.stl"),
        ("x" * 300, [], "name too long"),
    ],
)
def test_outputs_and_settings_that_cannot_be(tmp_path, pile, capsys, out, options, words):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos/holiday.jpg").write_bytes(b"")
    before = sorted(tmp_path.rglob("*"))
    options = [option.format(pile=pile) for option in options]
    assert main(["assemble", str(pile), "-o", str(tmp_path / out), *options]) == 2
    shown = capsys.readouterr()
    assert words in shown.err
    assert shown.err.count("\n") == 1
    assert not shown.out  # settings are checked before the parts are shown
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"format": "cmnet.constraints/1", "join": [["0", "One"]]}', "there is no part 'One'"),
        ('{"format": "cmnet.constraints/1", "joins": [["0", "1"]]}', "did you mean 'join'?"),
        ('{"format": "cmnet.constraints/1", "join": [["0", "1"]', "is not JSON"),
        ("[]", "not constraints"),
        ('{"format": "cmnet.constraints/1", "fix": [{"part": "0", "pose": [[1]]}]}', "4 rows of 4 numbers"),
    ],
)
def test_constraints_with_a_mistake(tmp_path, pile, capsys, text, words):
    (tmp_path / "known.json").write_text(text)
    known = ["--constraints", str(tmp_path / "known.json")]
    assert main(["assemble", str(pile), "-o", str(tmp_path / "out"), *known]) == 2
    shown = capsys.readouterr()
    assert words in shown.err
    assert f"{tmp_path}/known.json" in shown.err
    assert shown.err.count("\n") == 1
    assert not shown.out


def test_a_folder_on_the_way_that_may_not_be_entered(tmp_path, pile, capsys, monkeypatch):
    def refuse(self, **settings):
        if self.parent.name == "locked":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self))
        return stat(self, **settings)

    stat = Path.stat
    monkeypatch.setattr(Path, "stat", refuse)
    for arguments in (["locked/a.ply"], ["--weights", "locked/net.safetensors"]):
        assert main(["assemble", str(pile), *arguments, "-o", str(tmp_path / "out")]) == 2
        said = capsys.readouterr().err
        assert arguments[-1] in said
        assert "Permission denied" in said
        assert "write" not in said


@pytest.mark.parametrize("arguments", [[], ["x"], ["x", "-o", "y", "--seed", "-1"], ["x", "-o", "y", "--seed", "dice"]])
def test_words_that_are_missing_or_wrong(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["assemble", *arguments])
    assert stop.value.code == 2


def test_the_same_part_twice(tmp_path, pile, capsys):
    (pile / "copy.stl").write_bytes((pile / "0.stl").read_bytes())
    code, said = run(tmp_path, capsys, pile)
    assert code == 0
    assert "0 and copy are the same scan" in said


def test_another_unit(tmp_path, pile, capsys):
    BALL.copy().apply_scale(1000).export(pile / "3.stl")
    code, said = run(tmp_path, capsys, pile)
    assert code == 0
    assert "3 is about" in said
    assert "export all parts in one unit" in " ".join(said.split())


def test_inside_out_with_a_hole_and_too_coarse(tmp_path, pile, capsys):
    trimesh.Trimesh(BALL.vertices * [1, 2, 1], BALL.faces[5:, ::-1], process=False).export(pile / "turned.ply")
    trimesh.creation.box().export(pile / "coarse.obj")
    code, said = run(tmp_path, capsys, pile)
    assert code == 0
    for words in ("turned: was inside out: turned round", "1 hole", "coarse: so few faces"):
        assert words in said
    assert json.loads((tmp_path / "out/assembly.json").read_text())["warnings"]


def test_an_output_folder_whose_name_is_no_text(tmp_path, pile, capsys):
    out = tmp_path / os.fsdecode(b"caf\xe9")
    assert main(["assemble", str(pile), "-o", str(out), "--quiet"]) == 0
    assert "<title>caf_" in (out / "report.html").read_text(encoding="utf-8")


def test_homes_of_nobody_are_paths_like_others(tmp_path, pile, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["assemble", str(pile), "-o", "~nobody-here/out", "--quiet"]) == 0
    assert (tmp_path / "~nobody-here/out/assembly.json").is_file()
    assert main(["assemble", str(pile), "-o", "out", "--weights", "~nobody-here/w.safetensors"]) == 2
    assert "no weights at ~nobody-here/w.safetensors" in capsys.readouterr().err


def test_two_hundred_parts(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(cmnet.parts.preflight, "SAMPLES", 50)
    (tmp_path / "pile").mkdir()
    for k in range(200):
        np.savetxt(tmp_path / f"pile/{k}.xyz", trimesh.creation.icosphere(1).vertices * (1 + k / 100), fmt="%.4f")
    code, said = run(tmp_path, capsys, tmp_path / "pile")
    assert code == 0
    assert "200 parts make 19,900 pairs" in said
    assert "and 140 more" in said
