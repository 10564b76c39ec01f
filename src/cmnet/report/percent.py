"""How a probability is written, in the terminal and in the report."""

from __future__ import annotations

UNKNOWN = "unknown"


def percent(p: float | None) -> str:
    """A whole number, and never 0 % or 100 %: nothing is certain."""
    if p is None:
        return UNKNOWN
    if not 0.01 <= p < 0.995:
        return "under 1 %" if p < 0.5 else "over 99 %"
    return f"{round(100 * p)} %"


def unbroken(text: str) -> str:
    """The same text for a page, whose lines do not end between a number and its sign."""
    return text.replace(" %", "\u00a0%")
