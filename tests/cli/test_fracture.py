import json
from pathlib import Path

import pytest
import trimesh

from cmnet.cli import main


def test_a_shape_is_broken_into_files(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(["fracture", "shape:mug", "-o", str(tmp_path / "out"), "--pieces", "3", "--seed", "2"]) == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "fracture.json",
        *(f"piece_{k}.ply" for k in range(3)),
    ]
    assert "3 pieces" in capsys.readouterr().out
    assert main(["fracture", "shape:mug", "-o", str(tmp_path / "out"), "--pieces", "2"]) == 2
    assert "--force" in capsys.readouterr().err
    assert main(["fracture", "shape:mug", "-o", str(tmp_path / "out"), "--pieces", "2", "--force"]) == 0
    assert len(list((tmp_path / "out").glob("*.ply"))) == 2


def test_force_keeps_the_pieces_until_there_are_new_ones_and_all_other_files(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main(["fracture", "shape:mug", "-o", str(out), "--pieces", "3"]) == 0
    (out / "piece_of_mine.ply").write_text("mine")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert main(["fracture", "shape:mug", "-o", str(out), "--pieces", "99", "--force"]) == 2
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert main(["fracture", "shape:mug", "-o", str(out), "--pieces", "2", "--force"]) == 0
    assert sorted(path.name for path in out.iterdir()) == [
        "fracture.json",
        "piece_0.ply",
        "piece_1.ply",
        "piece_of_mine.ply",
    ]


def test_a_mesh_file_is_broken_and_repairs_are_stated(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    ball = trimesh.creation.icosphere(3)
    trimesh.Trimesh(ball.vertices, ball.faces[1:], process=False).export(tmp_path / "ball.ply")
    arguments = [
        "fracture",
        str(tmp_path / "ball.ply"),
        "-o",
        str(tmp_path / "out"),
        "--mechanism",
        "impact",
        "--wear",
        "light",
    ]
    assert main(arguments) == 0
    assert "repaired" in capsys.readouterr().out
    facts = json.loads((tmp_path / "out/fracture.json").read_text())
    assert facts["mechanism"] == "impact"
    assert facts["wear"]["erosion"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.ply"], "no such file"),
        (["shape:unicorn"], "choose one of"),
        (["shape:cup", "--pieces", "99"], "between 2 and 50"),
        (["shape:cup", "--mechanism", "laser"], "choose one of"),
        (["shape:cup", "--wear", "gentle"], "not understood"),
        (["shape:cup", "--seed", "-1"], "negative"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: list, message: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    assert main(["fracture", *arguments, "-o", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error


def test_a_file_that_is_no_mesh(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    (tmp_path / "note.ply").write_text("not a mesh")
    assert main(["fracture", str(tmp_path / "note.ply"), "-o", str(tmp_path / "out")]) == 2
    assert "note.ply" in capsys.readouterr().err


def test_files_are_read_as_fragments_are(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    ball = trimesh.creation.icosphere(2)
    trimesh.Trimesh(ball.vertices, ball.faces[:, ::-1], process=False).export(tmp_path / "turned.gltf.glb")
    assert main(["fracture", str(tmp_path / "turned.gltf.glb"), "-o", str(tmp_path / "out"), "--pieces", "2"]) == 0
    assert "was inside out: turned round" in capsys.readouterr().out
    trimesh.PointCloud(ball.vertices).export(tmp_path / "cloud.ply")
    (tmp_path / "a.zip").write_bytes(b"PK")
    (tmp_path / "a.dae").write_text("<COLLADA/>")
    (tmp_path / "far.off").write_text("OFF\n1000000000 1000000000 0\n0 0 0\n")
    words = {"cloud.ply": "is a point cloud", "a.zip": "not read", "a.dae": "not read", "far.off": "promises"}
    for name, said in words.items():
        assert main(["fracture", str(tmp_path / name), "-o", str(tmp_path / "none")]) == 2
        assert said in capsys.readouterr().err
