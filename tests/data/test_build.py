import json
from pathlib import Path

import numpy as np
import pytest
import trimesh
from scipy.spatial import cKDTree

from cmnet.data.breaking_bad import find_fractures
from cmnet.data.build import Plan, benchmark_plan, build_dataset, build_object
from cmnet.data.fracture import fracture
from cmnet.data.generated import Recipe
from cmnet.data.scan import Condition
from cmnet.data.stored import read_stored
from cmnet.data.wear import Wear
from cmnet.errors import InputError
from cmnet.parts.save import ply_bytes

PLAN = Plan(Recipe(shapes=("cup", "spoon"), pieces=(2, 3)), objects=3, seed=1)


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def test_the_bytes_do_not_depend_on_the_workers_and_a_build_goes_on_where_it_was(tmp_path: Path) -> None:
    assert sorted(build_dataset(tmp_path / "one", PLAN, workers=1)) == [0, 1, 2]
    # The second build is interrupted: one object is complete, another lacks its last file.
    build_object(tmp_path / "two", PLAN, 0)
    build_object(tmp_path / "two", PLAN, 2)
    (tmp_path / "two/everyday/Cup/cup_000002/fractured_0/fracture.json").unlink()
    before = (tmp_path / "two/everyday/Cup/cup_000000/fractured_0/piece_0.ply").stat().st_mtime_ns
    assert sorted(build_dataset(tmp_path / "two", PLAN, workers=2)) == [0, 1, 2]
    assert (tmp_path / "two/everyday/Cup/cup_000000/fractured_0/piece_0.ply").stat().st_mtime_ns == before
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_layout_lists_and_labels(tmp_path: Path) -> None:
    plan = Plan(Recipe(shapes=("bone",), pieces=(4, 4)), 2, 0, 2, (("clean", None), ("worn", Wear(noise=0.001))))
    build_object(tmp_path, plan, 1)
    folder = tmp_path / "clean/Bone/bone_000001/fractured_1"
    facts = json.loads((folder / "fracture.json").read_text())
    names = [path.stem for path in sorted(folder.glob("*.ply"))]
    assert facts["pieces"] == names == [f"piece_{k}" for k in range(4)]
    assert facts["format"] == "cmnet.fracture/1"
    assert {"seed", "mechanism", "wear"} <= set(facts)
    for contact in facts["contacts"]:
        assert contact["area"] > 0
        assert set(contact["parts"]) <= set(names)
    assert (
        json.loads((tmp_path / "worn/Bone/bone_000001/fractured_1/fracture.json").read_text())["wear"]["noise"] == 0.001
    )


def test_every_object_is_in_exactly_one_list(tmp_path: Path) -> None:
    plan = Plan(Recipe(shapes=("cup",)), objects=60)
    builder = build_dataset(tmp_path, plan)
    with pytest.raises(InputError):
        next(build_dataset(tmp_path, Plan(Recipe(shapes=("mug",)), objects=0)))
    for index in range(60):  # all marked as done, so that only the lists are written
        done = tmp_path / f"everyday/Cup/cup_{index:06d}/fractured_0"
        done.mkdir(parents=True)
        (done / "fracture.json").touch()
    assert list(builder) == list(range(60))
    lists = [(tmp_path / f"data_split/everyday.{split}.txt").read_text().split() for split in ("train", "val", "test")]
    assert sorted(line for lines in lists for line in lines) == [f"everyday/Cup/cup_{k:06d}" for k in range(60)]
    assert len(lists[0]) > len(lists[1]) + len(lists[2]) > 0


def test_another_recipe_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    list(build_dataset(tmp_path, Plan(Recipe(shapes=("spoon",), pieces=(2, 2)), objects=1)))
    with pytest.raises(InputError, match="another recipe"):
        list(build_dataset(tmp_path, Plan(Recipe(shapes=("spoon",), pieces=(2, 2)), objects=1, seed=5)))


def test_the_benchmark_is_all_test_clean_and_worn() -> None:
    plan = benchmark_plan()
    assert plan.only_test
    assert [name for name, _ in plan.subsets] == ["clean", "worn"]
    assert plan.recipe.pieces == (2, 20)


def test_mating_vertices_coincide_bit_by_bit_in_the_files(tmp_path: Path) -> None:
    broken = fracture(trimesh.creation.icosphere(3), 2, np.random.default_rng(0))
    found = []
    for part in broken.parts:
        (tmp_path / "x.ply").write_bytes(ply_bytes(part))
        mesh = trimesh.load(tmp_path / "x.ply", process=False)
        assert np.array_equal(mesh.vertices, part.vertices)
        assert np.array_equal(mesh.faces, part.faces)
        found.append({tuple(row) for row in mesh.vertices})
    on_break = {tuple(row) for row in broken.parts[1].vertices[np.unique(broken.parts[1].faces[broken.broken[1]])]}
    assert on_break <= found[0] & found[1]


def test_a_scanned_build_keeps_the_poses_and_says_what_is_foreign(tmp_path: Path) -> None:
    recipe = Recipe(shapes=("spoon",), pieces=(3, 3))
    scanned = Plan(recipe, 1, scan=Condition(points=500, missing=1, foreign=1))
    for name, plan in (("plain", Plan(recipe, 1)), ("scanned", scanned)):
        list(build_dataset(tmp_path / name, plan))
    plain, made = (find_fractures(tmp_path / name, pieces=(3, 3))[0] for name in ("plain", "scanned"))
    stored = read_stored(made)
    assert stored.foreign == (2,)
    assert all(len(part.vertices) == 500 and part.faces is None for part in stored.parts)
    whole = np.concatenate([part.vertices for part in read_stored(plain).parts])
    for part in stored.parts[:2]:
        assert cKDTree(whole).query(part.vertices)[0].max() < 0.1
    facts = json.loads((made.path / "fracture.json").read_text())
    assert facts["scan"]["missing"] == 1
    assert {name for contact in facts["contacts"] for name in contact["parts"]} <= {f"piece_{k}" for k in range(2)}
    with pytest.raises(InputError, match="another recipe"):
        list(build_dataset(tmp_path / "plain", scanned))
