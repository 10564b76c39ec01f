"""What `cmnet assemble` prints: the parts before, the joins after."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cmnet.report.percent import UNKNOWN, percent

if TYPE_CHECKING:
    from rich.table import Table

    from cmnet.parts.part import Part
    from cmnet.parts.preflight import Preflight
    from cmnet.solving.assembly import Assembly

MOST_ROWS = 60  # of a table


def parts_table(seen: Preflight) -> Table:
    """What each part looks like. Names are shown as they are, whatever they contain."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title="the parts", caption="lengths in the unit of the files", title_justify="left")
    table.add_column("part")
    for heading in ("faces", "closed", "size", "wall", "spacing"):
        table.add_column(heading, justify="right")
    for p in seen.looks[:MOST_ROWS]:
        count = f"{p.count:,} points" if p.holes is None else f"{p.count:,}"
        closed = {None: "cloud", 0: "yes"}.get(p.holes, f"{p.holes} hole{'s' if p.holes != 1 else ''}")
        wall = "thick" if p.wall is None else figure(p.wall)
        table.add_row(Text(p.name), count, closed, figure(p.size), wall, figure(p.spacing))
    _say_what_is_missing(table, len(seen.looks))
    return table


def joins_table(assembly: Assembly, parts: Sequence[Part]) -> Table:
    """The joins that hold the assembly together, the surest first."""
    from rich.table import Table
    from rich.text import Text

    used = [join for join in assembly.joins if join.used]
    table = Table(title="joins", caption="gap, overlap, contact and ± in the unit of the files", title_justify="left")
    for heading in ("part", "on part"):
        table.add_column(heading)
    for heading in ("confidence", "gap", "overlap", "contact", "exact to"):
        table.add_column(heading, justify="right")
    for join in used[:MOST_ROWS]:
        names = [Text(parts[k].name) for k in join.parts]
        lengths = [figure(x) for x in (join.gap_rms, join.penetration, join.contact_area)]
        off = UNKNOWN if join.uncertainty is None else f"± {figure(join.uncertainty.length)}"
        table.add_row(*names, percent(join.confidence), *lengths, off)
    _say_what_is_missing(table, len(used))
    return table


def summary(assembly: Assembly, parts: Sequence[Part], seconds: float) -> str:
    """One or two sentences: what was placed, what was not."""
    placed = len(parts) - len(assembly.unplaced)
    groups = len(assembly.groups)
    text = f"{placed} of {len(parts)} parts placed"
    if groups > 1:
        text += f" in {groups} groups that do not touch"
    text += f", in {seconds:.0f} s."
    if assembly.unplaced:
        names = [parts[i].name for i in assembly.unplaced]
        text += f" Not placed: {', '.join(names[:10])}{' ...' if len(names) > 10 else ''}."
    return text


def figure(x: float | None) -> str:
    """Three significant digits, written out where that is short."""
    if x is None:
        return UNKNOWN
    if x == 0 or not 1e-4 <= abs(x) < 1e7:
        return f"{x:.3g}"
    return f"{x:,.{max(0, 2 - math.floor(math.log10(abs(x))))}f}"


def _say_what_is_missing(table: Table, count: int) -> None:
    if count > MOST_ROWS:
        table.add_row(f"... and {count - MOST_ROWS} more")
