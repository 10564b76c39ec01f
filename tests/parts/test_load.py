import os
import struct

import numpy as np
import pytest
import trimesh

import cmnet
from cmnet.errors import InputError
from cmnet.parts import claims, pictures
from cmnet.parts.load import FORMATS, load_part, load_parts, natural_key
from cmnet.parts.part import Part
from cmnet.parts.polygons import COLORS

BALL = trimesh.creation.icosphere(2)


MESHES = (".ply", ".obj", ".stl", ".off", ".glb", ".gltf")


def export(mesh, path):
    """trimesh writes a .gltf file as several."""
    if path.suffix != ".gltf":
        return mesh.export(path)
    return [
        (path.parent / name.replace("model", path.stem)).write_bytes(c) for name, c in mesh.export(None, "gltf").items()
    ]


@pytest.mark.parametrize("suffix", MESHES)
def test_every_format_gives_the_same_watertight_part(tmp_path, suffix):
    export(BALL, tmp_path / f"ball{suffix}")
    part = load_part(tmp_path / f"ball{suffix}")
    assert part.name == "ball"
    assert part.file == tmp_path / f"ball{suffix}"
    assert part.vertices.shape == BALL.vertices.shape
    assert trimesh.Trimesh(part.vertices, part.faces, process=False).is_watertight
    assert part.area == pytest.approx(BALL.area, rel=1e-5)


@pytest.mark.parametrize("suffix", [".ply", ".stl", ".off", ".glb"])
@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 0.9])
def test_truncated_files_are_refused_in_one_sentence(tmp_path, suffix, share, caplog):
    file = tmp_path / f"ball{suffix}"
    BALL.export(file)
    file.write_bytes(file.read_bytes()[: int(share * file.stat().st_size)])
    with pytest.raises(InputError, match="export") as caught:
        load_part(file)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not caplog.records


@pytest.mark.parametrize("suffix", FORMATS)
def test_rubbish_is_refused(tmp_path, suffix):
    file = tmp_path / f"x{suffix}"
    file.write_bytes(np.random.default_rng(0).bytes(3000))
    with pytest.raises(InputError):
        load_part(file)


def test_missing_files_and_unknown_types_are_refused(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        load_part(tmp_path / "nothing.ply")
    (tmp_path / "a.pkl").write_bytes(b"cos\nsystem\n")
    with pytest.raises(InputError, match=r"\.pkl.*\.ply, \.obj"):
        load_part(tmp_path / "a.pkl")


@pytest.mark.parametrize("order", ["little", "big"])
def test_polygons_of_any_number_of_corners(tmp_path, order):
    sign = "<" if order == "little" else ">"
    corners = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (1, 5, 7, 3), (0, 2, 6), (0, 6, 4)]
    head = f"ply\nformat binary_{order}_endian 1.0\nelement vertex 8\n"
    head += "".join(f"property float {c}\n" for c in "xyz") + "".join(f"property uchar {c}\n" for c in COLORS)
    head += f"element face {len(faces)}\nproperty uchar flags\nproperty list uchar int vertex_indices\nend_header\n"
    body = b"".join(struct.pack(f"{sign}3f3B", *corner, 10, 20, 30) for corner in corners)
    body += b"".join(struct.pack(f"{sign}BB{len(f)}i", 1, len(f), *f) for f in faces)
    (tmp_path / "box.ply").write_bytes(head.encode() + body)
    part = load_part(tmp_path / "box.ply")
    assert len(part.faces) == 12
    assert part.volume == pytest.approx(1)
    assert part.colors[0].tolist() == [10, 20, 30, 255]
    (tmp_path / "box.ply").write_bytes(head.encode() + body[:-3])
    with pytest.raises(InputError, match="damaged"):
        load_part(tmp_path / "box.ply")


def test_what_scanners_append_to_a_stl_is_passed_over(tmp_path):
    (tmp_path / "a.stl").write_bytes(BALL.export(file_type="stl") + b"made by a scanner")
    assert len(load_part(tmp_path / "a.stl").faces) == len(BALL.faces)


def test_a_nan_in_a_file_is_named(tmp_path):
    BALL.export(tmp_path / "a.obj")
    lines = (tmp_path / "a.obj").read_text().splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("v "))
    lines[first] = "v nan 0 0"
    (tmp_path / "a.obj").write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match=r"a\.obj: 1 of"):
        load_part(tmp_path / "a.obj")


def test_doubled_internal_faces_are_dropped_on_loading(tmp_path):
    inside = np.array([[0, 5, 9], [3, 7, 11]])
    faces = np.vstack([BALL.faces, inside, inside[:, ::-1]])
    trimesh.Trimesh(BALL.vertices, faces, process=False).export(tmp_path / "a.obj")
    assert len(load_part(tmp_path / "a.obj").faces) == len(BALL.faces)


def test_a_folder_is_read_in_natural_order(tmp_path):
    for k in (10, 2, 1):
        BALL.export(tmp_path / f"piece_{k}.ply")
    (tmp_path / "notes.txt").write_text("not a mesh")
    (tmp_path / ".hidden.ply").write_text("not a mesh")
    assert [p.name for p in load_parts(tmp_path)] == ["piece_1", "piece_2", "piece_10"]
    assert [p.name for p in load_parts(str(tmp_path))] == ["piece_1", "piece_2", "piece_10"]


def test_natural_order_mixes_numbers_and_words():
    names = ["b", "a10", "a9b", "a9", "10", "9"]
    assert sorted(names, key=natural_key) == ["9", "10", "a9", "a9b", "a10", "b"]


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"no fragments in .* empty"):
        load_parts(tmp_path)
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(InputError, match=r"notes\.txt"):
        load_parts(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        load_parts(tmp_path / "nowhere")


def test_meshes_arrays_files_and_parts_may_be_mixed(tmp_path):
    BALL.export(tmp_path / "ball.ply")
    ready = Part("ready", np.asarray(BALL.vertices), np.asarray(BALL.faces))
    parts = load_parts([BALL, BALL.vertices, tmp_path / "ball.ply", ready, trimesh.PointCloud(BALL.vertices)])
    assert [p.faces is None for p in parts] == [False, True, False, False, True]
    assert parts[3] is ready
    assert len({p.name for p in parts}) == 5
    assert len(load_parts(BALL)) == len(load_parts(np.asarray(BALL.vertices))) == len(load_parts(ready)) == 1


def test_points_given_twice_count_once():
    cloud = np.asarray(BALL.vertices)
    part = load_parts([np.vstack([cloud, cloud[::-1], cloud])])[0]
    assert np.array_equal(part.vertices, cloud)


def test_loading_copies():
    cloud = np.array(BALL.vertices)
    part = load_parts([cloud])[0]
    cloud[:] = 0
    assert part.vertices.any()


def test_a_file_alone_is_taken_apart_into_its_bodies(tmp_path):
    balls = [BALL.copy().apply_translation([3 * k, 0, 0]) for k in range(3)]
    trimesh.util.concatenate(balls).export(tmp_path / "sherds.stl")
    parts = load_parts(tmp_path / "sherds.stl")
    assert [p.name for p in parts] == ["sherds_1", "sherds_2", "sherds_3"]
    assert all(np.allclose(p.vertices.mean(axis=0), [3 * k, 0, 0], atol=1e-5) for k, p in enumerate(parts))
    assert len(load_parts(tmp_path)) == 3  # a folder of one file
    BALL.export(tmp_path / "other.ply")
    assert [len(p.faces) for p in load_parts(tmp_path)] == [len(BALL.faces), 3 * len(BALL.faces)]


def test_a_hollow_stays_with_the_body_around_it_and_crumbs_go(tmp_path, caplog):
    hollow = trimesh.Trimesh(BALL.vertices / 2, BALL.faces[:, ::-1], process=False)
    crumb = BALL.copy().apply_scale(0.01).apply_translation([0, 5, 0])
    neighbour = BALL.copy().apply_translation([4, 0, 0])
    trimesh.util.concatenate([BALL, hollow, crumb, neighbour]).export(tmp_path / "a.ply")
    parts = load_parts(tmp_path / "a.ply")
    assert sorted(len(p.faces) for p in parts) == [len(BALL.faces), 2 * len(BALL.faces)]
    assert "1 loose crumb" in caplog.text


def test_loose_triangles_are_no_fragments(tmp_path):
    corners = BALL.triangles * np.linspace(1, 2, len(BALL.faces))[:, None, None]
    corners = np.concatenate([corners, corners + 5])
    faces = np.arange(3 * len(corners)).reshape(-1, 3)
    loose = trimesh.Trimesh(corners.reshape(-1, 3), faces, process=False)
    loose.export(tmp_path / "a.ply")
    with pytest.raises(InputError, match=r"a\.ply falls into 640 bodies, more than 500"):
        load_parts(tmp_path / "a.ply")
    scene = trimesh.Scene()
    for k in range(501):
        scene.add_geometry(trimesh.Trimesh(BALL.vertices, BALL.faces), geom_name="ball", node_name=str(k))
    with pytest.raises(InputError, match="falls into 501 bodies"):
        load_parts(scene)


def test_files_in_very_many_pieces_are_refused_before_they_take_minutes(tmp_path, monkeypatch):
    monkeypatch.setattr(claims, "MOST_MATERIALS", 3)
    monkeypatch.setattr(claims, "MOST_SOLIDS", 3)
    text = BALL.export(file_type="obj")
    (tmp_path / "a.obj").write_text(text.replace("\nf ", "\nusemtl x\nf "))
    with pytest.raises(InputError, match="holds more than 3 changes of material"):
        load_part(tmp_path / "a.obj")
    (tmp_path / "a.stl").write_text(4 * BALL.export(file_type="stl_ascii"))
    with pytest.raises(InputError, match="holds more than 3 solids"):
        load_part(tmp_path / "a.stl")
    (tmp_path / "b.stl").write_text(3 * BALL.export(file_type="stl_ascii"))
    assert len(load_part(tmp_path / "b.stl").faces) == len(BALL.faces)


def test_names_of_thousands_of_digits_are_sorted_like_others():
    names = ["9" * 5000, "a" + "1" * 5000, "a2", "10"]
    assert sorted(names, key=natural_key) == ["10", "9" * 5000, "a2", "a" + "1" * 5000]


def test_a_home_of_nobody_is_a_path_like_others():
    with pytest.raises(InputError, match="no such file or folder: ~nobody-here/x"):
        load_parts("~nobody-here/x")


def test_the_nodes_of_a_scene_are_parts_in_the_places_it_gives_them(tmp_path):
    scene = trimesh.Scene()
    turn = trimesh.transformations.rotation_matrix(1.0, [1, 2, 3], [0.5, 0, 0])
    mirror = np.diag([-2.0, 2.0, 2.0, 1.0])
    scene.add_geometry(BALL, node_name="Scherbe 10", transform=turn)
    scene.add_geometry(BALL, node_name="Scherbe 9 <größer>", transform=mirror)
    scene.export(tmp_path / "scene.glb")
    small, large = load_parts(tmp_path / "scene.glb")[::-1]
    assert (small.name, large.name) == ("Scherbe 10", "Scherbe 9 <größer>")
    assert np.allclose(small.triangles, trimesh.transform_points(BALL.triangles.reshape(-1, 3), turn).reshape(-1, 3, 3))
    assert large.volume == pytest.approx(8 * BALL.volume, rel=1e-5)
    assert trimesh.Trimesh(large.vertices, large.faces, process=False).is_watertight
    assert not small.repairs + large.repairs
    assert len(load_parts(scene)) == 2
    BALL.export(tmp_path / "other.ply")
    assert [len(p.faces) for p in load_parts(tmp_path)] == [len(BALL.faces), 2 * len(BALL.faces)]


def test_parts_turned_inside_out_are_turned_back_and_it_is_said(tmp_path):
    trimesh.Trimesh(BALL.vertices, BALL.faces[:, ::-1], process=False).export(tmp_path / "a.stl")
    part = load_part(tmp_path / "a.stl")
    assert part.volume > 0
    assert part.repairs == ("was inside out: turned round",)
    assert not load_parts(BALL)[0].repairs


def test_colours_stay_with_their_vertices(tmp_path):
    ball = BALL.copy()
    ball.visual.vertex_colors = np.random.default_rng(0).integers(0, 256, (len(ball.vertices), 4)).astype(np.uint8)
    wanted = {tuple(np.round(v, 4)): tuple(c) for v, c in zip(ball.vertices, ball.visual.vertex_colors)}
    for suffix in (".ply", ".glb"):
        ball.export(tmp_path / f"a{suffix}")
        part = load_part(tmp_path / f"a{suffix}")
        assert {tuple(np.round(v, 4)): tuple(c) for v, c in zip(part.vertices, part.colors)} == wanted


def textured():
    from PIL import Image

    box = trimesh.creation.box()
    picture = Image.fromarray(np.random.default_rng(0).integers(0, 256, (8, 8, 3)).astype(np.uint8))
    material = trimesh.visual.material.SimpleMaterial(image=picture)
    return trimesh.Trimesh(
        box.vertices,
        box.faces,
        visual=trimesh.visual.TextureVisuals(box.vertices[:, :2] + 0.5, material),
        process=False,
    )


@pytest.mark.parametrize("suffix", [".glb", ".obj"])
def test_textures_are_kept_for_the_output(tmp_path, suffix):
    mesh = textured()
    mesh.export(tmp_path / f"a{suffix}")
    part = load_part(tmp_path / f"a{suffix}")
    assert part.visual.visual.uv.shape == (len(part.visual.vertices), 2)
    assert part.colors.shape == (len(part.vertices), 4)
    moved = part.moved(cmnet.Pose(np.eye(3), np.array([5.0, 0, 0])))
    assert moved.visual.bounds[0, 0] == pytest.approx(4.5)
    assert part.visual.bounds[0, 0] == pytest.approx(-0.5)
    two = trimesh.util.concatenate([mesh, mesh.copy().apply_translation([3, 0, 0])])
    two.export(tmp_path / f"a{suffix}")
    assert [len(p.visual.faces) for p in load_parts(tmp_path / f"a{suffix}")] == [12, 12]


@pytest.mark.parametrize("suffix", [".glb", ".obj"])
def test_large_pictures_are_shrunk_and_larger_ones_left_out(tmp_path, suffix, monkeypatch, caplog):
    textured().export(tmp_path / f"a{suffix}")
    monkeypatch.setattr(pictures, "KEPT", 16)
    material = load_part(tmp_path / f"a{suffix}").visual.visual.material
    assert (getattr(material, "baseColorTexture", None) or material.image).size == (4, 4)
    assert "a: its pictures have 0 million pixels and are shrunk" in caplog.text
    monkeypatch.setattr(pictures, "READ", 63)
    assert load_part(tmp_path / f"a{suffix}").visual is None
    assert "are left out" in caplog.text


def test_a_damaged_picture_does_not_cost_the_shape(tmp_path):
    textured().export(tmp_path / "a.obj")
    (tmp_path / "material_0.png").write_bytes(b"no picture")
    assert len(load_part(tmp_path / "a.obj").faces) == 12


def test_files_may_not_refer_to_others_outside_their_folder(tmp_path):
    secret = tmp_path / "secret.bin"
    (tmp_path / "inside").mkdir()
    export(BALL, tmp_path / "inside/ball.gltf")
    buffer = next(p for p in (tmp_path / "inside").iterdir() if p.suffix == ".bin")
    buffer.rename(secret)
    text = (tmp_path / "inside/ball.gltf").read_text()
    for name in ("../secret.bin", "http://127.0.0.1:9/x.bin", str(secret), "file://" + str(secret), "..%2Fsecret.bin"):
        (tmp_path / "inside/ball.gltf").write_text(text.replace(buffer.name, name))
        with pytest.raises(InputError, match="not a file beside it"):
            load_part(tmp_path / "inside/ball.gltf")
    (tmp_path / "inside/link.bin").symlink_to(secret)
    (tmp_path / "inside/ball.gltf").write_text(text.replace(buffer.name, "link.bin"))
    with pytest.raises(InputError, match="not a file beside it"):
        load_part(tmp_path / "inside/ball.gltf")


def test_names_are_fit_to_be_shown(tmp_path):
    for name in ("a\x1b[31mb.ply", os.fsdecode(b"caf\xe9.ply"), "\u202eb.ply"):
        BALL.export(tmp_path / "x.ply")
        (tmp_path / "x.ply").rename(tmp_path / name)
    names = sorted(p.name for p in load_parts(tmp_path))
    assert names == ["_b", "a_[31mb", "caf_"]


def test_equal_names_become_distinct(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        BALL.export(tmp_path / folder / "a.ply")
    assert [p.name for p in load_parts([tmp_path / "one/a.ply", tmp_path / "two/a.ply"])] == ["a", "a_2"]


@pytest.mark.parametrize("item", [np.zeros((5, 2)), np.zeros(3), ["words"], object()])
def test_other_things_are_refused(item):
    with pytest.raises(InputError):
        load_parts([item])
    with pytest.raises(InputError):
        load_parts(5)


def test_normals_of_a_ply_cloud_are_read(tmp_path):
    rows = "\n".join(" ".join(f"{x:.6f}" for x in [*v, *(2 * v)]) for v in BALL.vertices)
    names = "".join(f"property float {x}\n" for x in ("x", "y", "z", "nx", "ny", "nz"))
    header = f"ply\nformat ascii 1.0\nelement vertex {len(BALL.vertices)}\n{names}end_header\n"
    (tmp_path / "c.ply").write_text(header + rows + "\n")
    part = load_part(tmp_path / "c.ply")
    assert part.faces is None
    assert np.allclose(part.normals, BALL.vertices, atol=1e-5)
