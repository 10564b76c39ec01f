"""The tables that confidences are computed with: every number has a name, every table is of one network.

Those that were fitted with a network are kept in the file of its weights. What the names stand for is said in
`cmnet.pairing.judge.confidence`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from cmnet.errors import InputError

Table = Mapping[str, float]

ADVICE = "take its judgement away with cmnet.model.weights.with_judgement(file, None), and fit it again"


@dataclass(frozen=True)
class Judgement:
    """Tables for three questions; log odds are linear in what is seen.

    one_look  : whether a pose is right, by what one look sees of it
    two_looks : the same of a pose that two looks have examined; None: what is seen from afar counts
    belonging : whether this is the place of a part that is known to belong there; None: judged as any other part
    fitted_on : what the tables were fitted on, in words
    """

    one_look: Table
    two_looks: Table | None = None
    belonging: Table | None = None
    fitted_on: str = ""


GEOMETRY = Judgement(
    {
        "constant": -15.32,
        "rim": 1.89,
        "closure": 4.74,
        "contact": 0.98,
        "gap": -4.63,
        "near": -2.80,
        "inside": -1.26,
        "hold": 1.19,
        "grip": 2.27,
    },
    fitted_on="generated objects, looked at in all three ways, half of the objects worn: `cmnet dataset build --preset "
    "training --objects 54` with --seed 77, and with --seed 78 --wear light",
)
NAMES = {  # of the tables of a network that says what is broken
    "one_look": (*GEOMETRY.one_look, "relief", "width", "broken"),
    "two_looks": ("constant", "surer", "relief"),
    "belonging": ("constant", "alone"),
}


def judgement_from(stored: Any, source: str) -> Judgement:
    """The tables of a network as they were stored, in any order; refused if a name is missing or unknown.

    source : begins what is said of a fault
    """
    if not isinstance(stored, dict) or not isinstance(stored.get("fitted_on"), str):
        raise InputError(f"{source}: its judgement does not say what it was fitted on; {ADVICE}")
    _check_names("its judgement", stored, (*NAMES, "fitted_on"), source)
    tables = {kind: _table(kind, stored[kind], source) for kind in NAMES if stored[kind] is not None}
    if "one_look" not in tables:
        raise InputError(f"{source}: its judgement has no table one_look; {ADVICE}")
    return Judgement(**tables, fitted_on=stored["fitted_on"])


def _table(kind: str, stored: Any, source: str) -> dict[str, float]:
    if not isinstance(stored, dict):
        raise InputError(f"{source}: {kind} is no table of numbers; {ADVICE}")
    _check_names(kind, stored, NAMES[kind], source)
    for name, value in stored.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            raise InputError(f"{source}: {name} in {kind} is no finite number; {ADVICE}")
    return {name: float(stored[name]) for name in NAMES[kind]}


def _check_names(what: str, found: Iterable[str], wanted: Iterable[str], source: str) -> None:
    found, wanted = set(found), set(wanted)
    for name in sorted(found ^ wanted):
        fault = "lacks" if name in wanted else "holds the unknown name"
        raise InputError(f"{source}: {what} {fault} {name}; {ADVICE}")
