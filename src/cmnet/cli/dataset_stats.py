"""Show how a folder of broken objects looks in numbers: the quantiles of piece sizes, contacts, roughness and walls.

worked examples:
  cmnet dataset stats data/everyday
  cmnet dataset stats data/everyday --against data/breaking_bad/everyday --plot stats.png --json stats.json
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

Quantiles = Mapping[str, Sequence[float]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("root", type=Path, help="a folder in Breaking Bad's layout, or a part of one")
    parser.add_argument(
        "--against", type=Path, help="another folder to compare with (default: what Breaking Bad measures)"
    )
    parser.add_argument("--limit", type=int, default=300, help="measure at most this many fractures (default 300)")
    parser.add_argument("--json", type=Path, help="write the quantiles to this file")
    parser.add_argument("--plot", type=Path, help="draw the quantiles to this image (needs the extra: figures)")


def run(args: argparse.Namespace) -> int:
    import json

    from rich.console import Console

    from cmnet.data.stats import BREAKING_BAD, QUANTILES
    from cmnet.errors import InputError
    from cmnet.files import write_text

    console = Console()
    if args.limit < 1:
        raise InputError(f"--limit must be at least 1, not {args.limit}")
    table, counts = _measure(args.root, args.limit, console)
    other: Quantiles = BREAKING_BAD
    name = "Breaking Bad everyday"
    if args.against is not None:
        other, name = _measure(args.against, args.limit, console)[0], str(args.against)
    console.print(_text(table, other, str(args.root), name))
    console.print("pieces: " + ", ".join(f"{n}: {k}" for n, k in sorted(counts.items())))
    if args.json is not None:
        rows = {key: {"here": list(map(float, table[key])), "there": list(map(float, other[key]))} for key in table}
        content = {
            "format": "cmnet.stats/1",
            "root": str(args.root),
            "against": name,
            "quantiles": QUANTILES,
            "rows": rows,
        }
        write_text(args.json, json.dumps(content, indent=1) + "\n")
    if args.plot is not None:
        _plot(args.plot, table, other, str(args.root), name)
        console.print(f"plot in {args.plot}")
    return 0


def _measure(root: Path, limit: int, console: Console) -> tuple[Quantiles, Counter[int]]:
    from rich.progress import track

    from cmnet.data.breaking_bad import BROKEN, find_fractures
    from cmnet.data.stats import measure_folder, quantile_table

    total = min(limit, len(find_fractures(root, pieces=BROKEN)))
    stats = list(track(measure_folder(root, limit), f"measuring {root}", total=total, console=console, transient=True))
    return quantile_table(stats), Counter(s.pieces for s in stats)


def _text(table: Quantiles, other: Quantiles, name: str, other_name: str) -> Table:
    from rich.table import Table

    from cmnet.data.stats import QUANTILES, TITLES

    text = Table("quantile", *(f"{100 * q:.0f} %" for q in QUANTILES), title=f"{name}, and below each row {other_name}")
    for key, title in TITLES.items():
        text.add_row(title, *(f"{value:.4f}" for value in table[key]))
        text.add_row("", *(f"{value:.4f}" for value in other[key]), style="dim", end_section=True)
    return text


def _plot(path: Path, table: Quantiles, other: Quantiles, name: str, other_name: str) -> None:
    from cmnet.errors import InputError

    try:
        import matplotlib
    except ImportError as error:
        raise InputError("plots need matplotlib; install it with: pip install 'cmnet[figures]'") from error
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import numpy as np

    from cmnet.data.stats import TITLES

    figure, axis = plt.subplots(figsize=(9, 4.5), layout="constrained")
    for offset, values, label, colour in ((0.16, table, name, "C0"), (-0.16, other, other_name, "C1")):
        for row, key in enumerate(TITLES):
            q = np.maximum(np.asarray(values[key]), 1e-5)
            y = len(TITLES) - row + offset
            axis.plot(q[[0, 4]], [y, y], color=colour, lw=1)
            axis.plot(q[[1, 3]], [y, y], color=colour, lw=5, label=label if row == 0 else None)
            axis.plot(q[2], y, "o", color="white", ms=4, mec=colour)
    axis.set_yticks(range(len(TITLES), 0, -1), list(TITLES.values()))
    axis.set_xscale("log")
    axis.set_xlabel("5, 25, 50, 75 and 95 % quantile")
    axis.legend(loc="lower left")
    figure.savefig(path, dpi=130)
    plt.close(figure)
