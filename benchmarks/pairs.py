"""How well two parts are put together by their surfaces, on broken objects whose true places are known.

    python benchmarks/pairs.py ROOT --half held-out --json benchmarks/results/pairs.json

Of every fracture the two parts that touch most are moved at random and put back. A join is right within 5 degrees and
0.02 of the object's largest side. With --pairs mixed, further pairs of the same fracture, touching or not, and one
of parts of different objects are tried as well: what a confidence must hold out against; with --groups, parts against
groups of others too, which lie a little beside their places. With --pairs belonging --look both, the small parts of a
fracture are sought on all the others with patience, as what is left over is; of these only the place must be right.
Seconds are of processor time: of a pair, and of preparing one part. With --weights, the network suggests poses and says
what is broken. With --look both, what the first look or the coarse one finds is examined by both, as where groups are
matched.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from cmnet.assembler import Assembler
from cmnet.data.breaking_bad import FractureFolder
from cmnet.data.objects import contact_areas
from cmnet.data.stored import read_stored
from cmnet.evaluation.selection import drawn
from cmnet.geometry.pose import Pose
from cmnet.matched import breaks_of, judgement_of
from cmnet.model.weights import NO_WEIGHTS
from cmnet.pairing.pair import candidates
from cmnet.pairing.surface.combined import combine
from cmnet.pairing.surface.frames import pose_of_parts, pose_of_surfaces
from cmnet.pairing.surface.surface import Surface, prepare, unit_of
from cmnet.pairing.two_looks import Twice, examine_twice, of_like_relief, seek, worth_showing
from cmnet.parts.part import Part
from cmnet.parts.points import sample_parts
from cmnet.settings import COARSE, FINE, FIRST, Acceptance, Scale
from reporting import show

ACCEPTANCE = Acceptance()  # as it is by default
TURN, SHIFT = 5.0, 0.02  # degrees, and shares of the object's largest side: what counts as right,
PLACE = 0.05  # and as the right place of a part that is known to belong there
LOOKS = {"first": (FIRST,), "coarse": (COARSE,), "fine": (FINE,), "both": (FIRST, COARSE)}
JOLT_TURN, JOLT_SHIFT = 0.5, 0.002  # degrees and shares of the size by which parts of a group lie beside their places
SMALL = 0.03  # share of the surface below which parts are tried on all the others
BELONGING = "belonging"
ACCEPTED = 0.5  # least confidence of a join that is accepted


@dataclass(frozen=True, eq=False)
class Case:
    """One broken object with its parts moved at random; T[k] carries part k from its true place to where it lies."""

    name: str
    parts: list[Part]
    T: list[Pose]
    contact: np.ndarray
    size: float
    rng: np.random.Generator


def load_case(fracture: FractureFolder) -> Case:
    parts = read_stored(fracture).parts
    contact = contact_areas(sample_parts(parts, 5000))
    size = float(np.ptp(np.concatenate([p.vertices for p in parts]), axis=0).max())
    rng = np.random.default_rng(int.from_bytes(hashlib.sha256(fracture.name.encode()).digest()[:8]))
    T = [Pose.random(rng, size) for _ in parts]
    return Case(fracture.name, [p.moved(t) for p, t in zip(parts, T)], T, contact, size, rng)


def pairs_of(case: Case, others: int) -> list[tuple[int, int, str]]:
    """Indices of parts, the larger part first, and what the pair is: most touching, or any other."""
    upper = [(i, j) for i in range(len(case.parts)) for j in range(i)]
    upper.sort(key=lambda ij: -case.contact[ij])
    rest = upper[1:]
    extra = [rest[k] for k in case.rng.permutation(len(rest))[:others]]
    named = [(*upper[0], "most"), *((*ij, "other") for ij in extra)]
    return [(i, j, k) if case.parts[i].area >= case.parts[j].area else (j, i, k) for i, j, k in named]


def groups_of(case: Case, count: int) -> list[tuple[list[int], int]]:
    """Parts that hang together, and one more part, which may touch them or not."""
    found = []
    for _ in range(count if len(case.parts) > 2 else 0):
        order = [int(k) for k in case.rng.permutation(len(case.parts))]
        size = int(case.rng.integers(2, len(order)))
        group, rest = [order[1]], order[2:]
        while len(group) < size and (beside := [k for k in rest if case.contact[k, group].any()]):
            group.append(beside[0])
            rest.remove(beside[0])
        if len(group) > 1:
            found.append((group, order[0]))
    return found


def small_parts(case: Case) -> list[tuple[list[int], int]]:
    """All parts but the small ones, at most half of all, and one of these."""
    areas = np.array([part.area for part in case.parts])
    small = [int(k) for k in np.argsort(areas) if areas[k] < SMALL * areas.sum()][: len(areas) // 2]
    group = [k for k in range(len(areas)) if k not in small]
    return [(group, k) for k in small]


def places(case: Case, group: list[int]) -> list[Pose]:
    """Where the parts of a group belong, seen from its first part; the others lie a little beside it."""
    T = []
    for k in group:
        true = case.T[group[0]] @ case.T[k].inverse()
        centre = true.apply(case.parts[k].vertices.mean(axis=0))
        off = Rotation.from_rotvec(np.radians(JOLT_TURN) * case.rng.normal(size=3)).as_matrix()
        shift = JOLT_SHIFT * case.size * case.rng.normal(size=3)
        T.append(Pose(off, centre - off @ centre + shift) @ true if T else true)
    return T


@dataclass(frozen=True, eq=False)
class Found:
    """A pose between parts, what speaks for it, and how sure it is."""

    T: Pose
    evidence: dict[str, Any]
    confidence: float


def find(a: list[Surface], b: list[Surface], learned: list[Pose], patient: bool) -> list[Found]:
    """Candidates of one pair, the surest first; a, b : the two parts in one look, or closely and from afar."""
    seen = list(zip(a, b))
    if patient:
        return seen_twice(seek(*seen, learned))
    poses = [candidates(*pair, [pose_of_surfaces(*pair, T) for T in learned]) for pair in seen]
    if len(seen) == 1:
        return [Found(pose_of_parts(*seen[0], c.T_a_b), asdict(c.evidence), c.confidence) for c in poses[0]]
    shown = [
        pose_of_parts(*pair, c.T_a_b)
        for pair, found in zip(seen, poses)
        for c in found
        if worth_showing(c.evidence, pair[0].judgement)
    ]
    return seen_twice(examine_twice(*seen, [*shown, *of_like_relief(*seen[0])]))


def seen_twice(both: list[Twice]) -> list[Found]:
    said = [{"close": asdict(c.close), "far": asdict(c.far), "relief": c.relief} for c in both]
    return [Found(c.T_i_j, evidence, c.confidence) for c, evidence in zip(both, said)]


def measure(
    a: list[Surface],
    b: list[Surface],
    learned: list[Pose],
    truth: Pose | None,
    size: float,
    patient: bool = False,
) -> dict[str, Any]:
    """Candidates of one pair, each with its error. No truth: the two do not belong together."""
    start = time.process_time()
    found = find(a, b, learned, patient)
    seconds = time.process_time() - start
    rows = []
    for candidate in found:
        T, middle = candidate.T, b[0].T_part_surface.t
        turn = 180.0 if truth is None else T.angle_to(truth)
        shift = 1.0 if truth is None else float(np.linalg.norm(T.apply(middle) - truth.apply(middle)) / size)
        right = shift < PLACE if patient else turn < TURN and shift < SHIFT
        row = {"turn": turn, "shift": shift, "right": right, "confidence": candidate.confidence}
        rows.append({**row, "evidence": candidate.evidence})
    return {"seconds": seconds, "candidates": rows}


def run(
    case: Case,
    todo: list[tuple[int, int, str]],
    grouped: list[tuple[list[int], int]],
    foreign: Part | None,
    looks: tuple[Scale, ...],
    assembler: Assembler | None,
    patient: bool = False,
) -> list[dict[str, Any]]:
    unit, rows = unit_of(case.parts), []
    start = time.process_time()
    parts = [*case.parts, *([] if foreign is None else [foreign])]
    described = assembler.describe(parts) if assembler else []
    breaks = [breaks_of(d) for d in described] or [None] * len(parts)
    judgement = judgement_of(assembler and assembler.net)
    needed = {k for i, j, _ in todo for k in (i, j)} | {k for group, j in grouped for k in (*group, j)}
    surfaces = {k: [prepare(parts[k], unit, look, 0, breaks[k], judgement) for look in looks] for k in needed}
    prepared = (time.process_time() - start) / max(len(surfaces), 1)

    def learned(i: int, j: int) -> list[Pose]:
        return assembler.suggestions(described, [(i, j)])[i, j] if assembler else []

    def row(kind: str, contact: float, measured: dict[str, Any]) -> dict[str, Any]:
        about = {"name": case.name, "pieces": len(case.parts), "kind": kind, "contact": contact / unit**2}
        return {**about, "prepared": prepared, **measured}

    for i, j, what in todo:
        truth = case.T[i] @ case.T[j].inverse()
        measured = measure(surfaces[i], surfaces[j], learned(i, j), truth, case.size)
        rows.append(row(what, float(case.contact[i, j]), measured))
    for group, j in grouped:
        T = places(case, group)
        whole = [combine([surfaces[k][n] for k in group], T) for n in range(len(looks))]
        suggested = [T_k @ pose for k, T_k in zip(group, T) for pose in learned(k, j)[: ACCEPTANCE.from_pair]]
        truth = case.T[group[0]] @ case.T[j].inverse()
        measured = measure(whole, surfaces[j], suggested[: ACCEPTANCE.from_groups], truth, case.size, patient)
        rows.append(row(BELONGING if patient else "group", float(case.contact[group, j].sum()), measured))
    if foreign is not None:
        i, j = todo[0][0], len(parts) - 1
        alien = [prepare(foreign, unit, look, 0, breaks[j], judgement) for look in looks]
        rows.append(row("foreign", 0.0, measure(surfaces[i], alien, learned(i, j), None, case.size)))
    return rows


def summary(rows: list[dict[str, Any]]) -> dict[str, float]:
    """One line of the table."""
    best = [row["candidates"][0] for row in rows if row["candidates"]]
    taken = [c for c in best if c["confidence"] >= ACCEPTED]
    n = len(rows)
    return {
        "n": n,
        "within 1°": sum(c["right"] and c["turn"] < 1 for c in best) / n,
        "within 5°": sum(c["right"] for c in best) / n,
        "among": sum(any(c["right"] for c in row["candidates"]) for row in rows) / n,
        "accepted": len(taken) / n,
        "precision": sum(c["right"] for c in taken) / len(taken) if taken else float("nan"),
        "seconds": sum(row["seconds"] for row in rows) / n,
        "prepare": sum(row["prepared"] for row in rows) / n,
    }


def table(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    most = [row for row in rows if row["kind"] == "most"]
    lines = {f"{k} pieces": [r for r in most if r["pieces"] == k] for k in sorted({r["pieces"] for r in most})}
    lines["all"] = most
    kinds = (("other", "other pairs"), ("group", "groups"), (BELONGING, BELONGING), ("foreign", "foreign pairs"))
    for kind, name in kinds:
        lines[name] = [r for r in rows if r["kind"] == kind]
    return {name: summary(part) for name, part in lines.items() if part}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, help="folder in Breaking Bad's layout")
    parser.add_argument("--half", choices=("development", "held-out", "all"), default="development", help="objects")
    parser.add_argument("--pieces", type=int, nargs="+", default=[2, 4, 6, 8], help="numbers of pieces")
    parser.add_argument("--limit", type=int, default=None, help="fractures per number of pieces, at most")
    parser.add_argument("--pairs", choices=("most", "mixed", BELONGING), default="most")
    parser.add_argument("--others", type=int, default=2, help="further pairs of a fracture, if mixed (default: 2)")
    parser.add_argument("--groups", type=int, default=0, help="parts against groups of others (default: none)")
    parser.add_argument("--json", type=Path, default=None, help="write the table and one line a pair there")
    parser.add_argument("--log", type=Path, default=None, help="write every candidate with its evidence there")
    parser.add_argument("--look", choices=tuple(LOOKS), default="first", help="how closely (default: %(default)s)")
    parser.add_argument("--weights", default=NO_WEIGHTS, help="default: %(default)s, geometry alone")
    args = parser.parse_args()
    if args.pairs == BELONGING and args.look != "both":
        parser.error("--pairs belonging goes with --look both")
    assembler = None if args.weights == NO_WEIGHTS else Assembler(args.weights)
    rows: list[dict[str, Any]] = []
    before: Part | None = None
    half = None if args.half == "all" else args.half
    mixed = args.pairs == "mixed"
    for fracture in drawn(args.root.expanduser(), half, args.pieces, args.limit):
        case = load_case(fracture)
        others, foreign = (args.others, before) if mixed else (0, None)
        if args.pairs == BELONGING:
            rows += run(case, [], small_parts(case), None, LOOKS[args.look], assembler, patient=True)
        else:
            todo, grouped = pairs_of(case, others), groups_of(case, args.groups)
            rows += run(case, todo, grouped, foreign, LOOKS[args.look], assembler)
        before = case.parts[0]
        if args.log:
            args.log.write_text(json.dumps(rows), encoding="utf-8")
    lines = table(rows)
    show(lines)
    if args.json:
        short = [
            {"name": r["name"], "pieces": r["pieces"], "kind": r["kind"], "seconds": round(r["seconds"], 3)}
            | {k: round(r["candidates"][0][k], 4) for k in ("turn", "shift", "confidence") if r["candidates"]}
            for r in rows
        ]
        limit = [] if args.limit is None else ["--limit", str(args.limit)]
        told = ["--half", args.half, "--pieces", *map(str, args.pieces), *limit, "--pairs", args.pairs]
        told += ["--others", str(args.others)] if mixed else []
        told += ["--groups", str(args.groups)] if args.groups else []
        told += ["--look", args.look, "--weights", Path(args.weights).name]
        command = " ".join(
            ["python", "benchmarks/pairs.py", "ROOT", *told, "--json", f"benchmarks/results/{args.json.name}"]
        )
        result = {"command": command, "table": lines, "pairs": short}
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
