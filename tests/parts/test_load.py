import numpy as np
import pytest
import trimesh

from cmnet.errors import InputError
from cmnet.parts.health import is_watertight
from cmnet.parts.load import FORMATS, load_part, load_parts, natural_key
from cmnet.parts.part import Part

BALL = trimesh.creation.icosphere(2)


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_format_gives_the_same_watertight_part(tmp_path, suffix):
    BALL.export(tmp_path / f"ball{suffix}")
    part = load_part(tmp_path / f"ball{suffix}")
    assert part.name == "ball"
    assert part.file == tmp_path / f"ball{suffix}"
    assert part.vertices.shape == BALL.vertices.shape
    assert is_watertight(part.faces)
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
