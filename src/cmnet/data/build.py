"""Writing a data set of broken objects in Breaking Bad's layout.

    ROOT/SUBSET/Category/ID/fractured_k/piece_j.ply, fracture.json     ROOT/data_split/SUBSET.train.txt, ...

The same recipe and seed give the same bytes, whatever the number of workers; an interrupted build goes on where it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path, PurePath

import numpy as np

from cmnet.data.fracture import Fracture
from cmnet.data.generated import RECIPES, Recipe, break_object, object_name, scanned, worn
from cmnet.data.scan import Condition
from cmnet.data.shapes import category
from cmnet.data.wear import PRESETS as WEARS
from cmnet.data.wear import Wear
from cmnet.errors import InputError
from cmnet.files import write_text
from cmnet.folders import Contents
from cmnet.parts.save import save_part
from cmnet.processes import each

SPLITS = ("train", "val", "test")
FRACTURE = Contents("fracture.json", lambda text: [f"{PurePath(name).name}.ply" for name in json.loads(text)["pieces"]])


@dataclass(frozen=True)
class Plan:
    """A data set to be built. Every subset holds the same fractures, under its own wear."""

    recipe: Recipe
    objects: int
    seed: int = 0
    fractures: int = 1  # fractures an object
    subsets: tuple[tuple[str, Wear | None], ...] = (("everyday", None),)
    only_test: bool = False  # all objects into the test list, as for the benchmark
    scan: Condition | None = None  # how the pieces are scanned in the end; None = not at all


def benchmark_plan(objects: int = 120) -> Plan:
    """The benchmark: shapes and random streams that no training recipe uses, once fresh and once worn."""
    return Plan(RECIPES["benchmark"], objects, 0, 1, (("clean", None), ("worn", WEARS["light"])), only_test=True)


def build_dataset(root: Path, plan: Plan, workers: int = 1) -> Iterator[int]:
    """Build what is missing under `root`; yields the number of every finished object, those found finished first."""
    if plan.objects < 1 or plan.fractures < 1 or workers < 1:
        raise InputError("objects, fractures and workers must be at least 1")
    _claim(root, plan)
    _write_splits(root, plan)
    todo = []
    for index in range(plan.objects):
        if _is_done(root, plan, index):
            yield index
        else:
            todo.append(index)
    for index, _ in each(partial(build_object, root, plan), todo, workers, start="spawn"):
        yield index


def build_object(root: Path, plan: Plan, index: int) -> None:
    """Make, break, wear and write one object."""
    for k, made in enumerate(break_object(plan.recipe, plan.seed, index, plan.fractures)):
        for subset, wear in plan.subsets:
            broken = made.fracture
            if wear is not None:
                broken = worn(broken, plan.recipe, wear, plan.seed, index, k)
            if plan.scan is not None:
                broken = scanned(broken, plan.recipe, plan.scan, plan.seed, index, k)
            facts = {
                "seed": plan.seed,
                "object": index,
                "fracture": k,
                "shape": made.shape,
                "stream": plan.recipe.stream,
                "scan": None if plan.scan is None else asdict(plan.scan),
            }
            write_fracture(
                _folder(root, plan, subset, index) / f"fractured_{k}", broken, facts, wear or plan.recipe.wear
            )


def write_fracture(folder: Path, broken: Fracture, facts: dict[str, object], wear: Wear | None) -> None:
    """Write the pieces, then `fracture.json`, whose presence says that the folder is complete."""
    for part in broken.parts:
        save_part(part, folder / f"{part.name}.ply")
    names = [part.name for part in broken.parts]
    touching = np.argwhere(np.triu(broken.contacts) > 0)
    content = {
        "format": "cmnet.fracture/1",
        **facts,
        "mechanism": broken.mechanism,
        "pieces": names,
        "foreign": names[len(names) - broken.foreign :],
        "contacts": [{"parts": [names[i], names[j]], "area": float(broken.contacts[i, j])} for i, j in touching],
        "wear": None if wear is None else asdict(wear),
        "repairs": list(broken.repairs),
    }
    write_text(folder / "fracture.json", json.dumps(content, indent=1) + "\n")


def _folder(root: Path, plan: Plan, subset: str, index: int) -> Path:
    shape, name = object_name(plan.recipe, index)
    return root / subset / category(shape) / name


def _is_done(root: Path, plan: Plan, index: int) -> bool:
    folders = [_folder(root, plan, subset, index) for subset, _ in plan.subsets]
    return all(
        (folder / f"fractured_{k}" / "fracture.json").is_file() for folder in folders for k in range(plan.fractures)
    )


def _claim(root: Path, plan: Plan) -> None:
    """Write the plan beside the data, or make sure that it is the one the data were begun with."""
    told = asdict(plan) if plan.scan else {key: value for key, value in asdict(plan).items() if key != "scan"}
    text = json.dumps({"format": "cmnet.dataset/1", **told, "objects": None}, indent=1) + "\n"
    path = root / "recipe.json"
    if path.exists() and path.read_text(encoding="utf-8") != text:
        raise InputError(f"{root} holds a data set of another recipe (see {path}); use its options or another folder")
    write_text(path, text)


def _write_splits(root: Path, plan: Plan) -> None:
    for subset, _ in plan.subsets:
        lists: dict[str, list[str]] = {split: [] for split in SPLITS}
        for index in range(plan.objects):
            lists[_split(plan, index)].append(_folder(Path(), plan, subset, index).as_posix())
        for split in ("test",) if plan.only_test else SPLITS:
            lines = lists[split]
            write_text(root / "data_split" / f"{subset}.{split}.txt", "".join(f"{line}\n" for line in sorted(lines)))


def _split(plan: Plan, index: int) -> str:
    """80 % train, 10 % val, 10 % test, by the object, whatever the number of objects."""
    if plan.only_test:
        return "test"
    draw = np.random.default_rng([plan.recipe.stream, plan.seed, index, 0, 0]).random()
    return "train" if draw < 0.8 else "val" if draw < 0.9 else "test"
