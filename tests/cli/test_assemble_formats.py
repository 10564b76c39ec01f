"""The same fragments give the same poses, however they are stored."""

import json

import numpy as np
import pytest
import trimesh

from breaking import broken, solid_bar
from cmnet.cli import main
from cmnet.geometry.pose import Pose

NAMES = ("Scherbe 1", "Scherbe 2 (Rand)", "Öse", "Stück groß", "fond de vase", "Ä", "10", "la più piccola")


def scattered(parts, rng):
    """The parts in millimetres, each somewhere else, as meshes by name."""
    moved = [part.moved(Pose.random(rng, 2.0)) for part in parts]
    return {name: trimesh.Trimesh(120 * p.vertices, p.faces, process=False) for name, p in zip(NAMES, moved)}


def store(meshes, folder, rng):
    """As .stl files in a folder, and as one .glb scene whose nodes put every mesh where the .stl file has it."""
    scene = trimesh.Scene()
    (folder / "Funde von heute").mkdir()
    for name, mesh in meshes.items():
        mesh.export(folder / "Funde von heute" / f"{name}.stl")
        T = Pose.random(rng, 50.0)
        inner = trimesh.Trimesh(T.inverse().apply(mesh.vertices), mesh.faces, process=False)
        scene.add_geometry(inner, node_name=name, transform=T.matrix())
    scene.export(folder / "scene.glb")


def poses(source, out):
    assert main(["assemble", str(source), "-o", str(out), "--quiet"]) == 0
    content = json.loads((out / "assembly.json").read_text(encoding="utf-8"))
    assert not content["unplaced"]
    return {part["name"]: Pose.from_matrix(part["pose"]) for part in content["parts"]}


def same_poses(parts, folder, rng):
    meshes = scattered(parts, rng)
    store(meshes, folder, rng)
    stl, glb = poses(folder / "Funde von heute", folder / "a"), poses(folder / "scene.glb", folder / "b")
    assert stl.keys() == glb.keys() == meshes.keys()
    for name, mesh in meshes.items():
        apart = stl[name].apply(mesh.vertices) - glb[name].apply(mesh.vertices)
        assert np.linalg.norm(apart, axis=1).max() < 0.12  # a thousandth of the object
        assert stl[name].angle_to(glb[name]) < 0.1


def test_two_files_and_a_scene(tmp_path):
    rng = np.random.default_rng(0)
    same_poses(broken(solid_bar(), rng), tmp_path, rng)


@pytest.mark.slow
def test_eight_files_and_a_scene(tmp_path):
    from cmnet.data.fracture import fracture, prepare
    from cmnet.data.shapes import make_shape

    rng = np.random.default_rng(3)
    intact = prepare(make_shape("bowl", rng), "bowl", check_crossings=False)
    same_poses(fracture(intact, 8, rng, "impact").parts, tmp_path, rng)
