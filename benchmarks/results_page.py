"""Write docs/results.md, README's figures and the model card's from benchmarks/results: all their numbers are there.

    python benchmarks/results_page.py

What has not been measured is not on the page. `tests/test_results.py` sees to it that page and figures agree.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cmnet.data.breaking_bad import FractureFolder
from cmnet.evaluation.intervals import interval
from cmnet.evaluation.protocol import ObjectScore
from cmnet.evaluation.selection import HALVES, half_of
from cmnet.evaluation.tables import make_rows
from cmnet.files import write_text
from cmnet.model.weights import DEFAULT, SHIPPED

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "results.md"
README = ROOT / "README.md"
CARD = SHIPPED / f"{DEFAULT}.json"
MARKS = ("<!-- results: written by benchmarks/results_page.py -->\n", "<!-- /results -->\n")

# Whole assemblies of one data set: what is measured, and by which file. The first one brings the row for chance.
METHODS = {
    "cmnet, with the network": "base",
    "the same, told that it is one object": "one",
    "cmnet, geometry alone": "none",
    "the published solver, same network": "paper",
}
SETS = {
    "benchmark_clean": "The generated benchmark, clean: categories never trained on, 2 to 20 pieces",
    "benchmark_worn": "The generated benchmark, worn: eroded edges, lost chips, noise",
    "fresh_clean": "Fresh objects of the benchmark, clean: measured once",
    "fresh_worn": "Fresh objects of the benchmark, worn: measured once",
    "two_clean": "Two pieces, clean: the benchmark's categories, of which it has few in two pieces",
    "two_worn": "Two pieces, worn",
    "breaking_bad_all": "Breaking Bad's sample, all fractures; never trained on",
    "breaking_bad": "Breaking Bad's sample, objects held out while cmnet was written; never trained on",
}
BUILT = "Made by `cmnet dataset build -o benchmark --preset benchmark --objects 40`.\n"
TRIED = "While cmnet was written, these objects were looked at: how parts are placed in the end, told that it is one\n"
TRIED += "object, was once chosen by them among three ways. No constant was fitted on them.\n"
FRESH = "The objects 40 to 63 of the same recipe, which nobody looked at while cmnet was written, named before they\n"
FRESH += "were measured. Made by `cmnet dataset build -o benchmark --preset benchmark --objects 64`;\n"
FRESH += (
    "listed by `for s in clean worn; do grep -E '(4|5|6)[0-9]$' $s.test.txt > $s.fresh.txt; done` in `data_split`.\n"
)
TWO = "Made by `cmnet dataset build -o {} --shapes amphora,bell,bone,bust,candlestick,jug,tablet,tray --pieces 2-2 "
TWO += "--objects 40 --seed 1 --wear {}`.\n"
WORN = "Made by `cmnet dataset build -o dev --preset training --objects 27 --seed 907 --pieces 3-14 --wear light`.\n"
DATA = {
    "benchmark_clean": BUILT,
    "benchmark_worn": BUILT + TRIED,
    "fresh_clean": FRESH,
    "fresh_worn": FRESH,
    "two_clean": TWO.format("two_clean", "none"),
    "two_worn": TWO.format("two_worn", "light"),
    "breaking_bad_all": "Fractures of 2 to 8 pieces. While cmnet was written, it was tried out on some of one half of\n"
    "the objects (*development*); the other half was measured only.\n",
    "breaking_bad": "Fractures of 2 to 8 pieces, evenly spaced over all of the half.\n",
}
SHORT = {
    "benchmark_clean": "generated, clean",
    "benchmark_worn": "generated, worn",
    "fresh_clean": "generated, fresh, clean",
    "fresh_worn": "generated, fresh, worn",
    "breaking_bad_all": "Breaking Bad, all of the sample",
    "breaking_bad": "Breaking Bad, held-out objects",
}
WEAR = {  # by section, what is compared there, clean and worn
    "benchmark_worn": [("The same objects", ["benchmark"])],
    "fresh_worn": [
        ("The same objects", ["fresh"]),
        ("All objects of the benchmark, fresh or not", ["benchmark", "fresh"]),
    ],
    "two_worn": [("The same objects", ["two"])],
}
REAL = """Clouds as scanned, with normals. `tuwien`: the broken Venus and cake of TU Wien, laser scans that lie in their
places to about 5° and 2 %, two pieces of Venus only roughly. `pairs`: six objects in two parts; the true place of
`FrescoRepair` is a guess. They are for academic use and do not come with cmnet. *In place*: off by less than 5° and 2 %
of the object's size, in the frame of the largest part; joins are judged alike.
"""
RIGHT = re.compile(r"right: off by less than (\S+)° and (\S+) of")  # in the choices of a file
LONG = ("geodesic, median",)  # columns of a table that README leaves out
PUBLISHED = {  # PA_CD, %, on the everyday set, trained on it
    "DGL": 31.0,
    "Jigsaw": 57.3,
    "PuzzleFusion++": 71.0,
    "CMNet": 77.3,
}

HEADER = """# Results

Measured on two cores without a GPU. Every table names the command that made it and the file its figures come from
(`benchmarks/results/`); `python benchmarks/results_page.py` writes this page from those files. Intervals are
95 % bootstrap intervals over objects. **PA_CRD** is the share of parts that lie in their places (mean distance of a
point from its true place below 0.1 of the object's size, largest part fixed), **PA_CD** the same by chamfer distance,
which forgives thin parts turned around. A part that is left out counts as lying in the middle, which hardly ever is its
place; **placed** is the share of parts that are not left out: what is placed and not in its place is a mistake.
**Joins right** is the share of the joins used that are right. How far off these may be is said with the tables;
`cmnet evaluate` allows 5° and 2 % of the object's size.

By default cmnet takes nothing for granted: there may be foreign parts, and what is not sure stays out. The published
methods know that all parts are of one object, and place every one. Told the same (`--one-object`), cmnet also places
what is less likely than not, down to guesses: more parts are right, and fewer of the joins.
"""


def read(name: str) -> dict[str, Any] | None:
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    marks = ["---"] + ["---:"] * (len(columns) - 1)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (columns, marks, *rows)) + "\n"


def source(name: str, result: Mapping[str, Any]) -> str:
    """How a figure was made."""
    return f"`{result['command']}` → `{name}.json`\n"


def when_right(results: Iterable[Mapping[str, Any]]) -> str:
    """How far a join that is right may be off, as the files of these results say."""
    told = {m.groups() for r in results for choice in r["protocol"]["choices"] if (m := RIGHT.search(choice))}
    limits = " or ".join(f"{turn}° and {100 * float(size):g} %" for turn, size in sorted(told))
    return f"A join is right that is off by less than {limits} of the object's size.\n" if told else ""


def number(value: float | None, digits: int = 1, unit: str = "") -> str:
    return "–" if value is None or value != value else f"{value:.{digits}f}{unit}"


def percent(share: float | None) -> str:
    return "–" if share is None or share != share else f"{100 * share:.1f} %"


def section(title: str, *blocks: str) -> str:
    return "\n".join([f"## {title}\n", *blocks])


def two_parts() -> str | None:
    if (result := read("pairs")) is None:
        return None
    rows = [
        [name, str(line["n"]), *(percent(line[k]) for k in ("within 1°", "within 5°", "accepted", "precision"))]
        for name, line in result["table"].items()
    ]
    columns = ("of fractures of", "pairs", "within 1°", "within 5°", "accepted", "of these right")
    told = "The two parts of a fracture that touch most, put together without any network.\n"
    return section("Two parts, geometry alone", told, table(columns, rows), source("pairs", result))


def assemblies(key: str, title: str) -> str | None:
    """One data set: all methods over all of it, then the best of them by number of pieces."""
    results = {name: result for name, file in METHODS.items() if (result := read(f"{key}_{file}"))}
    if not results:
        return None
    best = next(iter(results.values()))
    lines = {name: row_of(result, "cmnet", "all") for name, result in results.items()}
    lines["chance"] = row_of(best, "chance", "all")
    blocks = [DATA[key] + when_right(results.values())]
    blocks += [table(OVERALL, [overall(name, line) for name, line in lines.items()])]
    for name in distinct_results(lines, results):
        by_count = rows_by_count(results[name])
        if len(by_count) > 1:
            blocks += [f"By number of pieces ({name}):\n"]
            blocks += [table(OVERALL, [overall(f"{line['pieces']} pieces", line) for line in by_count])]
    for what, sets in WEAR.get(key, ()):
        if costs := wear_costs(sets):
            blocks += [f"{what}, clean and worn: wear costs {costs}.\n"]
    if key == "breaking_bad_all":
        blocks += ["By half of the objects (cmnet, with the network):\n", table(OVERALL, rows_by_half(best))]
        told = ", ".join(f"{name} {value:.1f} %" for name, value in PUBLISHED.items())
        blocks += [f"Published PA_CD on the everyday set, by networks trained on it: {told}.\n"]
    blocks += [source(f"{key}_{METHODS[name]}", result) for name, result in results.items()]
    return section(title, *blocks)


def distinct_results(lines: Mapping[str, Mapping[str, Any]], results: Mapping[str, Any]) -> list[str]:
    """The first method, and the same told more where that changes anything."""
    first, *rest = results
    told = [name for name in rest if METHODS[name] == "one"]
    return [first, *(name for name in told if lines[name]["pa_crd"] != lines[first]["pa_crd"])]


def wear_costs(sets: Sequence[str]) -> str | None:
    """How much less of the same objects of these data sets is in place when they are worn."""
    told = []
    for name, file in (("", "base"), (", told that it is one object", "one")):
        before, after = (pa_of_sets([f"{key}_{state}_{file}" for key in sets]) for state in ("clean", "worn"))
        if before.keys() != after.keys() or not before:
            continue
        lost = [before[path] - after[path] for path in sorted(before)]
        low, high = interval(lost, sorted(before), np.random.default_rng(0))
        told.append(f"{number(sum(lost) / len(lost))} points ({number(low)} – {number(high)}){name}")
    return "; ".join(told) or None


def pa_of_sets(names: Sequence[str]) -> dict[str, float]:
    """`pa_of_objects` of all these results; of none where one is missing."""
    results = [result for name in names if (result := read(name))]
    if len(results) < len(names):
        return {}
    return {path: pa for result in results for path, pa in pa_of_objects(result).items()}


def pa_of_objects(result: Mapping[str, Any]) -> dict[str, float]:
    """PA_CRD by cmnet, %, of every fracture, by its path without the subset."""
    return {o["path"].partition("/")[2]: o["pa_crd"] for o in result["objects"] if o["method"] == "cmnet"}


def rows_by_count(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """cmnet's rows, one for each number of pieces."""
    counts = [r["pieces"] for r in result["rows"] if r["method"] == "cmnet" and r["subset"] == "all"]
    return [row_of(result, "cmnet", count) for count in counts if count != "all"]


def rows_by_half(result: Mapping[str, Any]) -> list[list[str]]:
    """cmnet's rows, one for the objects it was tried out on while it was written, one for those held out."""
    found = [o for o in result["objects"] if o["method"] == "cmnet"]
    some = {half: [o for o in found if half_of(fracture_at(o["path"])) == half] for half in HALVES}
    halves = {half: {"objects": objects, "rows": rows_of(objects)} for half, objects in some.items()}
    return [overall(half, row_of(part, "cmnet", "all")) for half, part in halves.items()]


def rows_of(objects: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows that the command makes of these scores."""
    fields = [field.name for field in dataclasses.fields(ObjectScore)]
    # What was not counted when the file was made is no number.
    scores = [ObjectScore(**{k: o.get(k, math.nan) for k in fields}) for o in objects]
    return [dataclasses.asdict(row) for row in make_rows(scores)]


def fracture_at(path: str) -> FractureFolder:
    subset, *category, object_id, _ = path.split("/")
    return FractureFolder(Path(path), path, (), subset, "/".join(category), object_id)


OVERALL = ("", "n", "PA_CRD", "95 %", "placed", "PA_CD", "geodesic, median", "whole objects", "joins right")


def row_of(result: Mapping[str, Any], method: str, pieces: str) -> dict[str, Any]:
    row = next(r for r in result["rows"] if (r["method"], r["subset"], r["pieces"]) == (method, "all", pieces))
    return {**row, "median": median_turn(result, method, pieces)}


def median_turn(result: Mapping[str, Any], method: str, pieces: str) -> float:
    """The median over fractures of their mean turn, degrees."""
    turns = sorted(
        o["geodesic_r"] for o in result["objects"] if o["method"] == method and pieces in ("all", str(o["pieces"]))
    )
    return (turns[(len(turns) - 1) // 2] + turns[len(turns) // 2]) / 2


def overall(name: str, row: Mapping[str, Any]) -> list[str]:
    return [
        name,
        str(row["n"]),
        number(row["pa_crd"], 1, " %"),
        f"{number(row['pa_crd_low'])} – {number(row['pa_crd_high'])}",
        number(row["placed"], 1, " %"),
        number(row["pa_cd"], 1, " %"),
        number(row["median"], 2, "°"),
        number(row["whole"], 0, " %"),
        number(row["precision"], 1, " %") if row["joins"] else "–",
    ]


FIGURES = {
    "PA_CRD %": "pa_crd",
    "PA_CD %": "pa_cd",
    "CRD ×1e-2": "crd",
    "CD ×1e-3": "cd",
    "RMSE(R)°": "rmse_r",
    "RMSE(T) ×1e-2": "rmse_t",
    "whole %": "whole",
    "joins right %": "precision",
}


def every_figure(name: str, row: Mapping[str, Any]) -> list[str]:
    return [name, str(row["n"]), *(number(row[key]) for key in FIGURES.values())]


def solvers() -> str | None:
    """The solver against the published one, by every figure, on the same fractures."""
    files = {"robust": "base", "robust, one object": "one", "published": "paper"}
    results = {key: [read(f"{key}_{file}") for file in files.values()] for key in SHORT}
    rows = [
        every_figure(f"{SHORT[key]}: {name}", row_of(result, "cmnet", "all"))
        for key, found in results.items()
        if found[0] and found[-1]
        for name, result in zip(files, found, strict=True)
        if result
    ]
    if not rows:
        return None
    told = (
        "The same network and the same fractures as above, by all figures. A part that stays out counts as lying in\n"
    )
    told += "the middle.\n"
    return section("The solver against the published one", told, table(("", "n", *FIGURES), rows))


def in_all(row: Mapping[str, Any]) -> bool:
    """Whether a row is about all fractures."""
    return (row["subset"], row["pieces"]) == ("all", "all")


def stages() -> str | None:
    if (result := read("stages")) is None:
        return None
    lines = [row for row in result["rows"] if in_all(row)]
    rows = [[*every_figure(line["method"], line), number(line["seconds"])] for line in lines]
    whole = {o["path"]: o["cd"] for o in result["objects"] if o["method"] == lines[0]["method"]}
    worst = max(whole, key=lambda path: whole[path])
    told = "All stages, all of them told that it is one object, each left out in turn, and the published solver, on\n"
    told += "the same fractures. A part that stays out counts as lying in the middle, which costs more in CD than a\n"
    told += "wrong place nearby; with all stages\n"
    told += f"{percent(whole[worst] / sum(whole.values()))} of the CD is that of one fracture, `{worst}`.\n"
    same = [line["method"] for line in lines[1:] if line["pa_crd"] == lines[0]["pa_crd"]]
    if same:
        told += f"On these fractures the same parts are in place {' and '.join(same)}.\n"
    shown = table(("", "n", *FIGURES, "seconds"), rows)
    return section("What every stage is worth", told, shown, source("stages", result))


def lost() -> str | None:
    """Whether parts stay out for want of a pose or of evidence."""
    if (result := read("lost")) is None:
        return None
    keys = ("parts", "believed", "found", "both", "accepted", "right")
    rows = [[name, *(str(line[k]) for k in keys)] for name, line in result["table"].items()]
    told = "Small parts of worn development objects on the rest, of which other small ones are missing: of how many\n"
    told += "the true pose would be believed (at least a half) if somebody pointed to it, of how many it is found,\n"
    told += "and what is accepted. Where the true pose is believed and not found, the search is to blame; where it is\n"
    told += f"not believed, what can be seen of the contact. {WORN}"
    columns = ("share of all surface", "parts", "believed", "found", "both", "accepted", "of these right")
    return section("Why worn parts stay out", told, table(columns, rows), source("lost", result))


def piles() -> str | None:
    if (result := read("piles")) is None:
        return None
    keys = ("pure", "exact", "foreign out", "precision", "PA_CRD", "placed")
    rows = [
        [name, str(line["piles"]), number(line["pieces"]), *(percent(line[k]) for k in keys)]
        for name, line in result["table"].items()
    ]
    columns = ("pile of", "piles", "pieces", "no group mixed", "a group an object", "foreign piece out")
    columns = (*columns, "joins right", "PA_CRD", "placed")
    told = "The pieces of two to four objects in one heap, every other time with a piece of yet another object. "
    told += "\nGeometry alone.\n" if "--weights none" in result["command"] else "\n"
    return section("Mixed piles", told, table(columns, rows), source("piles", result))


def confidence() -> str | None:
    found = {name: result for name in ("reliability", "reliability_fresh") if (result := read(name))}
    if not found:
        return None
    # What both hold counts as the later one says.
    sources = {name: kinds for result in found.values() for name, kinds in result["sources"].items()}
    rows = [
        [f"{name}, {kind}", str(f["joins"]), percent(f["claimed"]), percent(f["right"]), number(f["error"], 3)]
        for name, kinds in sources.items()
        for kind, f in kinds.items()
    ]
    columns = ("joins", "n", "claimed", "right", "reliability error")
    picture = "![Confidence against the share that is right](images/reliability.png)\n"
    told = "Confidence was fitted on other generated objects, never on these. *Accepted*: it claims at least a half.\n"
    sizes = {100 * result.get("tolerance", {"size": 0.03})["size"] for result in found.values()}
    told += f"A join is right that is off by less than 5° and {' or '.join(f'{size:g} %' for size in sorted(sizes))} "
    told += "of the object's size. The picture is by the\nfirst command.\n"
    return section("Confidence", told, picture, table(columns, rows), *(source(*result) for result in found.items()))


def conditions() -> str | None:
    """Accuracy and honesty under every condition of scanning."""
    if (result := read("conditions")) is None:
        return None
    rows = [
        [
            name,
            str(line["n"]),
            number(line["pa_crd"], 1, " %"),
            number(line["in_place"], 1, " %"),
            f"{number(line['in_place_low'])} – {number(line['in_place_high'])}",
            number(line["placed"], 1, " %"),
            number(line["foreign_out"], 1, " %"),
            str(line["joins"]),
            *(percent(line["claims"]["used"][key]) for key in ("claimed", "right")),
            *(number(line["claims"][kind]["error"], 3) for kind in ("used", "all")),
        ]
        for name, line in result["table"].items()
    ]
    columns = ("condition", "n", "PA_CRD", "in place", "95 %", "placed", "foreign out", "joins used", "claimed")
    columns = (*columns, "right", "reliability error", "of all joins")
    size = f"{100 * result['tolerance']['size']:g} %"
    told = "The same fractures as they come from scanners: [the conditions](fracture.md#conditions) of\n"
    told += (
        f"`cmnet evaluate --scan`. *In place*: off by less than {result['tolerance']['degrees']:g}° and {size} of the\n"
    )
    told += "object's size, in the frame of the largest part. *Foreign out*: foreign parts that stay out. Joins are\n"
    told += "judged alike; one with a foreign part is wrong.\n"
    return section("As scanned", told, table(columns, rows), source("conditions", result))


def real_scans() -> str | None:
    """Real scans, object by object."""
    found = {name: result for name, file in METHODS.items() if (result := read(f"real_{file}"))}
    if not found:
        return None
    rows = [
        [
            f"{o['path'].removesuffix('/scan')}: {name}",
            str(o["pieces"]),
            *(number(o[key], 1, " %") for key in ("in_place", "placed")),
            *(str(o[key]) for key in ("joins", "joins_right")),
            number(o["seconds"]),
        ]
        for name, result in found.items()
        for o in result["objects"]
        if o["method"] == "cmnet"
    ]
    columns = ("", "pieces", "in place", "placed", "joins used", "of these right", "seconds")
    sources = [source(f"real_{METHODS[name]}", result) for name, result in found.items()]
    return section("Real scans", REAL, table(columns, rows), *sources)


def exactness() -> str | None:
    """Whether ± means what it says."""
    if (result := read("uncertainty")) is None:
        return None
    keys = ("length %", "true length %", "degrees", "true degrees")
    rows = [
        [name, str(f["n"]), number(f["normalised"], 2), number(f["median"], 2), percent(f["within"])]
        + [number(f[key], 3) for key in keys]
        for name, f in result["table"].items()
    ]
    columns = ("", "n", "true / claimed", "median", "in 90 %", "± length %", "true", "± degrees", "true")
    told = (
        "What ± claims against the true error, on generated objects that it was not fitted on, geometry alone: joins\n"
    )
    told += (
        "that are used and right to 5°, and parts against the one that stays. *True / claimed*: the root of the mean\n"
    )
    told += (
        "of eᵀ C⁻¹ e / 6, which an honest covariance C makes 1, with a median of 0.89 and 90 % *in 90 %*. Lengths:\n"
    )
    told += (
        "root mean squares, in per cent of the object's largest side. The mean is what a few errors far out make of\n"
    )
    told += "it: most poses are better than they claim.\n"
    return section("How exactly parts lie", told, table(columns, rows), source("uncertainty", result))


def features_worth() -> str | None:
    """What it is worth to look at each feature of a contact."""
    if (result := read("confidence")) is None:
        return None
    keys = ("pairs", "possible", "accepted", "right")
    rows = [[name, *(str(line[k]) for k in keys), number(line["loss"], 3)] for name, line in result["table"].items()]
    told = "Pairs of generated parts, clean and worn, judged by a confidence that was fitted on other objects: by all\n"
    told += "that a contact shows, and without some of it. *Possible*: the true pose is among the candidates. Loss:\n"
    told += "the mean negative log likelihood of what is true; less is better.\n"
    columns = ("", "pairs", "possible", "accepted", "of these right", "loss")
    return section("What a contact shows", told, table(columns, rows), source("confidence", result))


def speed() -> str | None:
    if (result := read("speed")) is None:
        return None
    rows = [
        [str(r["pieces"]), str(r["faces"]), number(r["seconds"]), number(r["megabytes"], 0), str(r["placed"])]
        for r in result["rows"]
    ]
    columns = ("pieces", "faces", "seconds", "MB at most", "placed")
    told = "Geometry alone.\n" if "--weights none" in result["command"] else ""
    return section("Time and memory", told, table(columns, rows), source("speed", result))


def nearest() -> str | None:
    if (result := read("nearest")) is None:
        return None
    rows = [[asked, str(r["questions"]), number(r["ratio"])] for asked, r in result["rows"].items()]
    columns = ("samples asked for, within so many units", "questions", "faster by a factor of")
    told = "Joins are examined by the nearest samples of the other part: cells against a tree, the same answers.\n"
    return section("Nearest samples", told, table(columns, rows), source("nearest", result))


def toy() -> str | None:
    if (result := read("toy")) is None:
        return None
    keys = ("crd", "cd", "rmse_r", "rmse_t", "geodesic_r")
    lines = {name: means["test"] for name, means in result["mean"].items()}
    lines |= {f"{name}, published": line for name, line in result["published"].items()}
    rows = [[name, *(number(line.get(k), 2) for k in keys)] for name, line in lines.items()]
    columns = ("", "CRD ×1e-2", "CD ×1e-3", "RMSE(R)°", "RMSE(T) ×1e-2", "geodesic°")
    told = "Trained on patterns 1 to 3, tested on 4 to 6 (supplement A.2), points only; means over the seeds.\n"
    told += "Published figures are of the authors' own patterns.\n"
    return section("The toy experiment", told, table(columns, rows), source("toy", result))


def training() -> str | None:
    """The network alone on two parts: as shipped, and trained further on other objects of the same data."""
    files = {"cmnet-base": "network_base", "trained further on the other half": "network_trained"}
    results = {name: result for name, file in files.items() if (result := read(file))}
    if not results:
        return None
    lines = {name: row_of(result, "cmnet", "all") for name, result in results.items()}
    lines["chance"] = row_of(next(iter(results.values())), "chance", "all")
    keys = {"within_5": " %", "within_10": " %", "median": "°", "crd": "", "cd": "", "rmse_r": "°", "rmse_t": ""}
    rows = [[name, str(r["n"]), *(number(r[k], 1, unit) for k, unit in keys.items())] for name, r in lines.items()]
    columns = ("", "n", "within 5°", "within 10°", "geodesic, median", "CRD ×1e-2", "CD ×1e-3", "RMSE(R)")
    told = "The pose of the two parts that touch most, as the plain weighted SVD of the network's matches gives it,\n"
    told += "without surfaces: what a little training on the data's own objects changes. Not shipped.\n"
    made = [
        f"Trained by `{result['trained']}`, with the objects of the development half as `data_split/*.train.txt`\n"
        "and the held-out ones, which are measured here, as `*.val.txt`.\n"
        for result in results.values()
        if "trained" in result
    ]
    made += [source(files[name], result) for name, result in results.items()]
    return section("Training on Breaking Bad", told, table((*columns, "RMSE(T) ×1e-2"), rows), *made)


def page() -> str:
    sections = [two_parts(), *(assemblies(key, title) for key, title in SETS.items())]
    sections += [
        solvers(),
        stages(),
        lost(),
        piles(),
        conditions(),
        real_scans(),
        confidence(),
        exactness(),
        features_worth(),
        speed(),
        nearest(),
        toy(),
        training(),
    ]
    return "\n".join([HEADER, *(text for text in sections if text)])


def summary() -> str:
    """What README says."""
    blocks = [summary_of_pairs(), summary_of_assemblies(), summary_of_speed()]
    blocks.append("More, and how each figure was made: [docs/results.md](docs/results.md).\n")
    return "\n".join(block for block in blocks if block)


def summary_of_pairs() -> str | None:
    if (result := read("pairs")) is None:
        return None
    line = result["table"]["all"]
    return (
        f"Two parts, without any network: of {line['n']} fractures of Breaking Bad's sample, the two parts that touch\n"
        f"most are joined to within 1° in {percent(line['within 1°'])}; it accepts {percent(line['accepted'])} of the "
        f"joins, and {percent(line['precision'])} of these are\nright.\n"
    )


def summary_of_assemblies() -> str | None:
    rows, every = [], []
    for key, name in SHORT.items():
        results = {method: result for method, file in METHODS.items() if (result := read(f"{key}_{file}"))}
        lines = {method: row_of(result, "cmnet", "all") for method, result in results.items()}
        if results:
            lines["chance"] = row_of(next(iter(results.values())), "chance", "all")
        rows += [[name, *brief(overall(method, line))] for method, line in lines.items()]
        every += results.values()
    told = "Whole objects. PA: share of parts in their places; placed: share of parts that are not left out.\n"
    told += f"{when_right(every)}\n"
    return told + table(("data", "method", *brief(OVERALL)[1:]), rows) if rows else None


def brief(cells: Sequence[str]) -> list[str]:
    """What README shows of a row."""
    return [cell for column, cell in zip(OVERALL, cells, strict=True) if column not in LONG]


def summary_of_speed() -> str | None:
    if (result := read("speed")) is None:
        return None
    told = ", ".join(f"{r['pieces']} pieces in {r['seconds']:.0f} s" for r in result["rows"])
    alone = " (geometry alone)" if "--weights none" in result["command"] else ""
    return f"On two cores{alone}: {told}.\n"


def readme(text: str) -> str:
    """README with its figures replaced."""
    before, rest = text.split(MARKS[0])
    return before + MARKS[0] + "\n" + summary() + "\n" + MARKS[1] + rest.split(MARKS[1])[1]


def card(text: str) -> str:
    """The model card with its results replaced: what the whole of cmnet does with these weights."""
    told = json.loads(text)
    limits = told.pop("limits")
    told["results"] = {
        name + more: {"n": row["n"]} | {k: round(row[k], 1) for k in ("pa_crd", "pa_crd_low", "pa_crd_high", "pa_cd")}
        for key, name in SHORT.items()
        for file, more in (("base", ""), ("one", ", told that it is one object"))
        if (result := read(f"{key}_{file}")) and (row := row_of(result, "cmnet", "all"))
    }
    return json.dumps({**told, "limits": limits}, indent=1) + "\n"


if __name__ == "__main__":
    write_text(CARD, card(CARD.read_text(encoding="utf-8")))
    write_text(PAGE, page())
    write_text(README, readme(README.read_text(encoding="utf-8")))
