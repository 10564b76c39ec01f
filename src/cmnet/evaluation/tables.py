"""Scores as rows, and rows as JSON, console table, Markdown and LaTeX."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cmnet import __version__
from cmnet.evaluation.choices import CHOICES, INTERVALS, PAPER, PUBLISHED_CHOICES
from cmnet.evaluation.columns import Column, columns_of
from cmnet.evaluation.intervals import intervals
from cmnet.evaluation.predictions import Settings
from cmnet.evaluation.protocol import ObjectScore

if TYPE_CHECKING:
    from rich.table import Table

FORMAT = "cmnet.evaluation/1"
ALL = "all"


@dataclass(frozen=True)
class Row:
    """Means over the fractures of one method, subset and number of pieces, in the paper's units."""

    method: str
    subset: str  # or "all"
    pieces: str  # or "all"
    n: int  # fractures
    crd: float  # ×1e-2
    cd: float  # ×1e-3
    rmse_r: float  # degrees, Euler
    rmse_t: float  # ×1e-2
    geodesic_r: float  # degrees
    within_5: float  # % of the moved parts with a geodesic error below 5 degrees
    within_10: float  # % below 10 degrees
    pa_crd: float  # %
    pa_crd_low: float  # its 95 % interval
    pa_crd_high: float
    pa_cd: float  # %
    pa_cd_low: float
    pa_cd_high: float
    in_place: float  # %
    in_place_low: float
    in_place_high: float
    whole: float  # % of fractures with every part within the CRD of PA
    unplaced: int  # parts without an answer, in all
    placed: float  # % of the parts of a fracture with one, the anchor included
    foreign: int  # parts of other objects, in all
    foreign_out: float  # % of those that stay out; not a number where there are none
    joins: int  # used, in all
    precision: float  # % of those that are right; not a number where there are none
    seconds: float  # per fracture
    crd_mating: float  # ×1e-2, of the fractures that have mating points
    rmse_r_all: float  # degrees, Euler, of T_part_anchor, the anchor included
    rmse_t_all: float  # ×1e-2, likewise
    pa_crd_earned: float  # % of the parts but the anchor
    pa_cd_earned: float  # %
    intervals: dict[str, tuple[float, float]]  # of 95 %, by the name of the figure


ENDS = ("pa_crd", "pa_cd", "in_place")  # figures whose intervals are fields, too
ERRORS = ("crd", "cd", "rmse_r", "rmse_t", "geodesic_r", "within_5", "within_10", "crd_mating")
MEANS = (*ERRORS, "rmse_r_all", "rmse_t_all", *ENDS, "pa_crd_earned", "pa_cd_earned", "placed", "seconds")
LABELS = ("method", "subset", "pieces", "n")


def make_rows(scores: Sequence[ObjectScore], seed: int = 0) -> list[Row]:
    """Per method: all fractures, then each subset; within each of these all, then by number of pieces."""
    rows = []
    for method in dict.fromkeys(s.method for s in scores):
        mine = [s for s in scores if s.method == method]
        for subset in (ALL, *sorted({s.subset for s in mine})):
            group = [s for s in mine if subset in (ALL, s.subset)]
            rows.append(_row((method, subset, ALL), group, seed))
            for pieces in sorted({s.pieces for s in group}):
                some = [s for s in group if s.pieces == pieces]
                rows.append(_row((method, subset, str(pieces)), some, seed))
    return rows


def _row(labels: tuple[str, str, str], scores: Sequence[ObjectScore], seed: int) -> Row:
    joins, foreign = sum(s.joins for s in scores), sum(s.foreign for s in scores)
    method, subset, pieces = labels
    bounds = _intervals(scores, seed)
    return Row(
        method,
        subset,
        pieces,
        n=len(scores),
        whole=100 * float(np.mean([_whole(s) for s in scores])),
        unplaced=sum(s.unplaced for s in scores),
        foreign=foreign,
        foreign_out=100 * sum(s.foreign_out for s in scores) / foreign if foreign else math.nan,
        joins=joins,
        precision=100 * sum(s.joins_right for s in scores) / joins if joins else math.nan,
        **{name: _mean(name, scores) for name in MEANS},
        **{f"{name}_{end}": bound for name in ENDS for end, bound in zip(("low", "high"), bounds[name])},
        intervals=bounds,
    )


def _whole(score: ObjectScore) -> bool:
    return score.pa_crd > 100 - 1e-9


def _mean(name: str, scores: Sequence[ObjectScore]) -> float:
    """Over the scores that have the figure."""
    values = [value for s in scores if (value := getattr(s, name)) is not None]
    return float(np.mean(values)) if values else math.nan


def _intervals(scores: Sequence[ObjectScore], seed: int) -> dict[str, tuple[float, float]]:
    """Of all figures that are means, or shares of something, over the fractures."""
    ones = [1.0] * len(scores)
    shares = {name: ([getattr(s, name) or 0.0 for s in scores], ones) for name in MEANS}
    shares["crd_mating"] = shares["crd_mating"][0], [float(s.crd_mating is not None) for s in scores]
    shares["whole"] = [100.0 * _whole(s) for s in scores], ones
    shares["precision"] = [100.0 * s.joins_right for s in scores], [float(s.joins) for s in scores]
    values, counts = zip(*shares.values())
    bounds = intervals(values, counts, [s.object for s in scores], np.random.default_rng(seed))
    return dict(zip(shares, bounds))


def shown(rows: Sequence[Row]) -> list[Row]:
    """Without the rows over all subsets or all numbers of pieces where there is only one of them to sum up."""
    subsets = {row.subset for row in rows} - {ALL}
    counts = {row.pieces for row in rows} - {ALL}
    return [
        row
        for row in rows
        if not (row.subset == ALL and len(subsets) == 1) and not (row.pieces == ALL and len(counts) == 1)
    ]


def to_json(settings: Settings, rows: Sequence[Row], scores: Sequence[ObjectScore]) -> str:
    """The report as JSON. What is not finite becomes null."""
    report = {
        "format": FORMAT,
        "version": __version__,
        "protocol": {**asdict(settings), "choices": choices(settings)},
        "rows": [asdict(row) for row in rows],
        "objects": [{"path": score.path, "subset": score.subset, **asdict(score)} for score in scores],
    }
    return json.dumps(finite(report), indent=1, allow_nan=False) + "\n"


def finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def to_console(settings: Settings, rows: Sequence[Row]) -> "Table":
    """A table for the terminal."""
    from rich.table import Table

    table, columns = Table(), columns_of(settings)
    for label in LABELS:
        table.add_column(label, justify="right" if label == "n" else "left", no_wrap=True)
    for column in columns:
        table.add_column(f"{column.head}\n{column.unit}", justify="right", no_wrap=True)
    for before, row in zip([None, *rows], rows):
        if before and before.method != row.method:
            table.add_section()
        table.add_row(*_labels(row), *_figures(row, columns))
    return table


def to_markdown(settings: Settings, rows: Sequence[Row]) -> str:
    """A Markdown table with the choices under it."""
    columns = columns_of(settings)
    heads = [*LABELS, *(f"{column.head} ({column.unit})" for column in columns)]
    marks = ["---"] * (len(LABELS) - 1) + ["---:"] * (len(columns) + 1)
    lines = [heads, marks, *([*_labels(row), *_figures(row, columns, ranges=True)] for row in rows)]
    table = "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)
    return f"{table}\n\n{describe(settings)}\n\n" + "".join(
        f"- {choice}\n" for choice in (*choices(settings), INTERVALS)
    )


def to_latex(settings: Settings, rows: Sequence[Row]) -> str:
    """A LaTeX table (booktabs, amsmath) with the choices as comments above it."""
    columns = columns_of(settings)
    arrows = {"low": r"$\downarrow$", "high": r"$\uparrow$"}
    heads = [*LABELS, *(f"{column.tex_head} {arrows[column.better]}" for column in columns)]
    units = [*("" for _ in LABELS), *(f"({column.tex_unit})" for column in columns)]
    lines = [rf"\begin{{tabular}}{{lll{'r' * (len(columns) + 1)}}}", r"\toprule", _tex(heads), _tex(units)]
    for before, row in zip([None, *rows], rows):
        if before is None or before.method != row.method:
            lines.append(r"\midrule")
        figures = (cell.replace("–", "--") for cell in _figures(row, columns))
        lines.append(_tex([*map(_escaped, _labels(row)), *figures]))
    notes = [f"% {line}" for line in (describe(settings), *choices(settings))]
    return "\n".join([*notes, *lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def choices(settings: Settings) -> list[str]:
    """What the figures of this task rest on, under this protocol."""
    return list((PUBLISHED_CHOICES if settings.protocol == PAPER else CHOICES)[settings.task])


def describe(settings: Settings) -> str:
    """The settings in one line."""
    return ", ".join(f"{name}: {value}" for name, value in asdict(settings).items() if value is not None)


def _labels(row: Row) -> list[str]:
    return [str(getattr(row, label)) for label in LABELS]


def _figures(row: Row, columns: Sequence[Column], ranges: bool = False) -> list[str]:
    """What a row shows; `ranges` adds the interval to every figure."""
    cells = []
    for column in columns:
        cell = _number(getattr(row, column.field), column.decimals)
        if ranges:
            low, high = (_number(bound, column.decimals) for bound in row.intervals[column.field])
            cell += f" [{low}, {high}]"
        cells.append(cell)
    return cells


def _number(value: float, decimals: int) -> str:
    return f"{value:.{decimals}f}" if math.isfinite(value) else "–"


def _tex(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _escaped(text: str) -> str:
    return "".join(f"\\{c}" if c in "&%$#_{}" else c for c in text)
