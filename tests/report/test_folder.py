import csv
import io
import json
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import trimesh

from cmnet.geometry.pose import Pose
from cmnet.pairing.join import FIGURES
from cmnet.parts.load import load_part, load_parts
from cmnet.parts.part import Part
from cmnet.report.document import Run
from cmnet.report.folder import RESULT, write_results
from cmnet.report.layout import offsets
from cmnet.report.measured import measure
from cmnet.report.part_colors import part_color
from cmnet.report.scene import glb_bytes
from cmnet.report.viewer_data import page_data
from cmnet.settings import Settings, to_dict
from cmnet.solving.assembly import Assembly
from results import NAMES, OFF, hand_made, unmeasured


@pytest.fixture
def written(tmp_path):
    assembly, parts = hand_made()
    write_results(tmp_path, assembly, parts, Run(seconds=1.5, inputs=("my: 'pile'\n",), seed=3), "pile")
    return tmp_path, assembly, parts


def test_assembly_json_keeps_the_contract(written):
    folder, assembly, _ = written
    content = json.loads((folder / "assembly.json").read_text(encoding="utf-8"))
    assert content["format"] == "cmnet.assembly/1"
    assert (content["weights"], content["solver"], content["seed"], content["seconds"]) == (
        "cmnet-base",
        "robust",
        3,
        1.5,
    )
    assert [p["name"] for p in content["parts"]] == list(NAMES)
    assert [p["group"] for p in content["parts"]] == [0, 0, 0, None]
    assert [p["placed"] for p in content["parts"]] == [True, True, True, False]
    assert np.array_equal([p["pose"] for p in content["parts"]], assembly.poses)
    assert content["unplaced"] == [NAMES[-1]]
    first, second = content["joins"]
    assert first["parts"] == [NAMES[0], NAMES[1]]
    assert first["used"]
    assert first["confidence"] == 0.97
    assert np.array_equal(first["pose"], assembly.joins[0].T_i_j.matrix())
    assert second["gap_rms"] is None  # infinite
    off = {"length": OFF.length, "degrees": OFF.degrees, "covariance": OFF.covariance.tolist()}
    assert first["uncertainty"] == off
    assert second["uncertainty"] is None
    assert [p["uncertainty"] for p in content["parts"][1:]] == [off, off, None]
    assert not np.any(content["parts"][0]["uncertainty"]["covariance"])  # it stays


def test_what_was_not_measured_is_null_and_empty(tmp_path):
    assembly, parts = hand_made()
    write_results(tmp_path, unmeasured(assembly), parts, Run(), "pile")
    for join in json.loads((tmp_path / "assembly.json").read_text(encoding="utf-8"))["joins"]:
        assert [join[name] for name in FIGURES] == [None] * 4
    for row in csv.DictReader((tmp_path / "joins.csv").open(encoding="utf-8")):
        assert [row[name] for name in FIGURES] == [""] * 4


def test_the_list_of_what_was_written(written):
    folder, _, _ = written
    (folder / "placed/own.ply").write_text("mine")
    files = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    assert set(RESULT.of(folder)) == files - {"placed/own.ply"}


def test_the_list_of_what_was_written_stays_in_the_folder(tmp_path):
    part = {"placed_file": "../notes.txt", "gap_file": "/etc/passwd"}
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "assembly.json").write_text(json.dumps({"parts": [part]}))
    assert RESULT.of(tmp_path) == ["assembly.json"]


def test_placed_parts_are_the_parts_moved_whatever_their_names(written):
    folder, assembly, parts = written
    content = json.loads((folder / "assembly.json").read_text(encoding="utf-8"))
    assert len(list((folder / "placed").iterdir())) == len(parts)
    assert all(p.resolve().is_relative_to(folder.resolve()) for p in folder.rglob("*"))
    for i, part in enumerate(parts):
        placed = load_part(folder / content["parts"][i]["placed_file"])
        moved = Pose.from_matrix(assembly.poses[i]).apply(part.vertices)
        assert np.allclose(placed.triangles, moved[part.faces])
    assert (folder / "placed/Scherbe Ü 1.ply").is_file()


def test_the_scene_has_a_node_for_every_part_in_its_place(written):
    folder, assembly, parts = written
    scene = trimesh.load(folder / "assembled.glb")
    shifts = offsets(assembly, parts)
    assert not shifts[:3].any()
    assert shifts[3].any()
    for i, part in enumerate(parts):
        matrix, key = scene.graph[part.name]
        placed = trimesh.transform_points(scene.geometry[key].vertices, matrix)
        moved = Pose.from_matrix(assembly.poses[i]).apply(part.vertices) + shifts[i]
        assert np.allclose(placed[scene.geometry[key].faces], moved[part.faces], atol=1e-4)
    assert sorted(p.name for p in load_parts(folder / "assembled.glb")) == sorted(NAMES)


@pytest.mark.parametrize("far", [1e6, 1e9])
def test_a_scene_far_from_its_origin_keeps_its_shape_and_says_how_far_it_is(far):
    assembly, parts = hand_made()
    away = Pose(np.eye(3), np.array([far, -far / 3, 4.0]))
    poses = np.array([away.matrix() @ pose @ away.inverse().matrix() for pose in assembly.poses])
    moved = replace(assembly, poses=poses)
    distant = [part.moved(away) for part in parts]
    scene = trimesh.load(io.BytesIO(glb_bytes(moved, distant)), file_type="glb")
    where = away.inverse().apply(np.array(scene.metadata["offset"])[None])[0]
    shifts = offsets(assembly, parts)
    for i, part in enumerate(parts):
        matrix, key = scene.graph[part.name]
        triangles = trimesh.transform_points(scene.geometry[key].triangles.reshape(-1, 3), matrix) + where
        wanted = Pose.from_matrix(assembly.poses[i]).apply(part.triangles.reshape(-1, 3)) + shifts[i]
        assert np.allclose(triangles, wanted, atol=1e-4 + 1e-15 * far)
        assert len(np.unique(scene.geometry[key].vertices, axis=0)) == len(part.vertices)


def test_tables(written):
    folder, assembly, _ = written
    rows = list(csv.DictReader((folder / "joins.csv").open(encoding="utf-8")))
    assert [(r["part_a"], r["part_b"], r["used"]) for r in rows] == [
        (NAMES[0], NAMES[1], "1"),
        (NAMES[1], NAMES[2], "0"),
    ]
    pose = np.array([[float(rows[0][f"T_a_b_{r}{c}"]) for c in range(4)] for r in range(3)])
    assert np.allclose(pose, assembly.joins[0].T_i_j.matrix()[:3], atol=1e-10)
    assert [rows[0][f"uncertainty_{what}"] for what in ("length", "degrees")] == ["0.2", "1.15"]
    assert rows[1]["uncertainty_length"] == ""
    lines = (folder / "config.yaml").read_text(encoding="utf-8").splitlines()
    config = {key: json.loads(value) for key, value in (line.split(": ", 1) for line in lines)}
    assert config["inputs"] == ["my: 'pile'\n"]
    assert config["seed"] == 3
    assert to_dict(Settings()).items() <= {k: tuple(v) if isinstance(v, list) else v for k, v in config.items()}.items()
    assert all(config[package] for package in ("numba", "gtsam", "torch"))


def test_a_name_is_no_formula_in_a_spreadsheet(tmp_path):
    assembly, parts = hand_made(("=1+1", "b", "c"))
    write_results(tmp_path, assembly, parts, Run(), "x")
    assert "'=1+1,b" in (tmp_path / "joins.csv").read_text()


def test_colours_and_textures_are_kept(tmp_path):
    assembly, parts = hand_made()
    rng = np.random.default_rng(0)
    colors = rng.integers(0, 256, (len(parts[0].vertices), 4)).astype(np.uint8)
    uv = rng.random((len(parts[1].vertices), 2))
    from PIL import Image

    picture = Image.fromarray(rng.integers(0, 256, (4, 4, 3)).astype(np.uint8))
    look = trimesh.visual.TextureVisuals(uv, image=picture)
    visual = trimesh.Trimesh(parts[1].vertices, parts[1].faces, visual=look, process=False)
    cloud = Part("cloud", parts[2].vertices, None, parts[2].vertices, colors=colors)
    parts = [replace(parts[0], colors=colors), replace(parts[1], visual=visual), cloud, parts[3]]
    write_results(tmp_path, assembly, parts, Run(), "x")
    assert np.array_equal(load_part(tmp_path / "placed/Scherbe Ü 1.ply").colors, colors)
    back = load_part(tmp_path / "placed/cloud.ply")
    assert np.array_equal(back.colors, colors)
    assert back.normals is not None
    scene = trimesh.load(tmp_path / "assembled.glb")
    shown = {name: scene.geometry[scene.graph[name][1]] for name in (p.name for p in parts)}
    assert np.array_equal(shown[NAMES[0]].visual.vertex_colors, colors)
    assert shown[NAMES[1]].visual.material.baseColorTexture.size == (4, 4)
    assert np.array_equal(shown["cloud"].colors, colors)


def test_a_part_has_one_colour_in_the_scene_and_on_the_page(tmp_path):
    assembly, parts = hand_made()
    parts[1] = replace(parts[1], faces=None)
    facts, _ = page_data(assembly, measure(assembly, parts), "x", "")
    scene = trimesh.load(io.BytesIO(glb_bytes(assembly, parts)), file_type="glb")
    for part, known in zip(parts, facts["parts"], strict=True):
        shape = scene.geometry[scene.graph[part.name][1]]
        light = shape.visual.material.baseColorFactor if part.faces is not None else shape.colors[0]
        shown = np.array([int(known["tone"][k : k + 2], 16) / 255 for k in (1, 3, 5)])
        assert np.allclose(light[:3] / 255, ((shown + 0.055) / 1.055) ** 2.4, atol=0.003)  # sRGB to light, as glTF is


def test_parts_side_by_side_can_be_told_apart():
    tones = [part_color(k) for k in range(200)]
    assert len(set(tones)) > 190
    assert all(re.fullmatch("#[0-9a-f]{6}", tone) for tone in tones)
    assert all(a != b for a, b in pairwise(tones))


def test_groups_and_loose_parts_lie_side_by_side():
    _, parts = hand_made(tuple("abcdef"))
    assembly = Assembly(np.tile(np.eye(4), (6, 1, 1)), [[0, 1], [2, 3]], [4, 5], [])
    shifts = offsets(assembly, parts)
    assert np.array_equal(shifts[2], shifts[3])
    spans = [np.concatenate([parts[i].vertices[:, 0] + shifts[i, 0] for i in g]) for g in ([0, 1], [2, 3], [4], [5])]
    assert all(a.max() < b.min() for a, b in pairwise(spans))
    nothing = Assembly(np.tile(np.eye(4), (2, 1, 1)), [], [0, 1], [])
    assert offsets(nothing, parts[:2]).shape == (2, 3)
