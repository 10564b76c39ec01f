"""How sure the result is, in plain words; and the order in which the parts come together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cmnet.report.percent import percent
from cmnet.solving.assembly import Assembly

FEW = 3  # names that are listed one by one


@dataclass(frozen=True)
class Step:
    """One part joins what is there already.

    join : the index of the join that holds it, None for the first part of a group or where no join explains it
    sure : the confidence of the weakest join between this part and the first one; None like `join`, or if unknown
    """

    part: int
    group: int
    join: int | None
    sure: float | None


def steps(assembly: Assembly) -> list[Step]:
    """Group by group, from the part at rest, always along the surest used join (a maximum spanning tree)."""
    return [step for g in range(len(assembly.groups)) for step in _grow(assembly, g)]


def _grow(assembly: Assembly, group: int) -> list[Step]:
    waiting = set(assembly.groups[group])
    joins = [(k, join) for k, join in enumerate(assembly.joins) if join.used and waiting.issuperset(join.parts)]
    first = next((k for k in assembly.groups[group] if np.array_equal(assembly.poses[k], np.eye(4))), min(waiting))
    sure: dict[int, float | None] = {first: 1.0}
    order = [Step(first, group, None, None)]
    waiting.remove(first)
    while waiting:
        open_joins = [(join.sure, -k) for k, join in joins if len(waiting.intersection(join.parts)) == 1]
        if not open_joins:
            return order + [Step(k, group, None, None) for k in sorted(waiting)]
        index = -max(open_joins)[1]
        i, j = assembly.joins[index].parts
        here, there = (i, j) if j in waiting else (j, i)
        sure[there] = _least([sure[here], assembly.joins[index].confidence])
        order.append(Step(there, group, index, sure[there]))
        waiting.remove(there)
    return order


def _least(confidences: Sequence[float | None]) -> float | None:
    known = [confidence for confidence in confidences if confidence is not None]
    return min(known) if len(known) == len(confidences) else None


def headline(assembly: Assembly, names: Sequence[str]) -> str:
    """One sentence: how many parts are placed, how sure that is, what stays out."""
    clauses = [_placed(assembly, len(names)), _weakest(assembly), _left_out([names[k] for k in assembly.unplaced])]
    return "; ".join(clause for clause in clauses if clause) + "."


def _placed(assembly: Assembly, count: int) -> str:
    placed = sum(len(group) for group in assembly.groups)
    if not placed:
        return f"None of the {count} parts could be placed"
    groups = "in one group" if len(assembly.groups) == 1 else f"in {len(assembly.groups)} groups"
    if placed == count:
        return ("Both" if count == 2 else f"All {count}") + f" parts placed {groups}"
    return f"{placed} of {count} parts placed {groups}"


def _weakest(assembly: Assembly) -> str:
    held = [assembly.joins[step.join].confidence for step in steps(assembly) if step.join is not None]
    if not held:
        return ""
    least = _least(held)
    if least is None:
        return "how sure that is, is unknown"
    if len(held) == 1:
        return f"the join that holds them together is {percent(least)} sure"
    them = "it" if len(assembly.groups) == 1 else "them"
    return f"the weakest join that holds {them} together is {percent(least)} sure"


def _left_out(names: Sequence[str]) -> str:
    if not names:
        return ""
    if len(names) > FEW:
        return f"{len(names)} parts fit nowhere we are sure of"
    listed = names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
    return f"{listed} {'fits' if len(names) == 1 else 'fit'} nowhere we are sure of"
