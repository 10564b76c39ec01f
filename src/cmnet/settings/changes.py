"""Settings by name, as `--set` and config.yaml write them: `first.tolerances.touch`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from difflib import get_close_matches
from math import isfinite
from typing import Any, get_type_hints

from cmnet.errors import InputError
from cmnet.settings.settings import Settings
from cmnet.values import parsed

MOST = 1_000_000_000  # no number of a setting is larger
MAY_BE_NONE = ("acceptance", "touching")  # settings, or groups of them, that 0 turns off


def to_dict(settings: Any, prefix: str = "") -> dict[str, Any]:
    """Every setting by its name, in order."""
    every: dict[str, Any] = {}
    for field in fields(settings):
        value, name = getattr(settings, field.name), prefix + field.name
        every |= to_dict(value, f"{name}.") if is_dataclass(value) else {name: value}
    return every


def with_changes(settings: Settings, changes: Mapping[str, Any]) -> Settings:
    """A copy with some settings replaced; texts are parsed. Unknown names and impossible values: an InputError."""
    known = to_dict(settings)
    for name, value in changes.items():
        if name not in known:
            ending = sorted((other for other in known if other.endswith(f".{name}")), key=len)
            near = ending[:6] or get_close_matches(name, known, 3, cutoff=0.0)
            raise InputError(f"no setting is called {name!r}; the nearest are {', '.join(near)}")
        settings = _changed(settings, name, name.split("."), value)
    return settings


def _changed(group: Any, name: str, path: list[str], value: Any) -> Any:
    """The group with the value at the end of the path."""
    if len(path) > 1:
        return replace(group, **{path[0]: _changed(getattr(group, path[0]), name, path[1:], value)})
    new = parsed(name, value, get_type_hints(type(group))[path[0]])
    numbers, usual = (x if isinstance(x, tuple) else (x,) for x in (new, getattr(group, path[0])))
    for number in numbers:
        _refuse_absurd(name, number, usual[0])
    return replace(group, **{path[0]: new})


def _refuse_absurd(name: str, number: float, usual: float) -> None:
    """InputError for a number that nothing can be done with; what is usually negative is a cosine."""
    if isinstance(number, bool):
        return
    if usual < 0:
        within, what = -1 <= number <= 1, "lie between -1 and 1"
    elif any(part in MAY_BE_NONE for part in name.split(".")):
        within, what = 0 <= number <= MOST, f"lie between 0 and {MOST}"
    else:
        within, what = 0 < number <= MOST, f"be more than 0 and at most {MOST}"
    if not (isfinite(number) and within):
        raise InputError(f"{name} = {number!r} is not possible; it must {what}")
