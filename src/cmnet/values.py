"""Values of settings, from texts and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from cmnet.errors import InputError


def checked(cls: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """`values` as fields of the dataclass `cls`: texts are parsed, lists become tuples, anything else is refused."""
    hints = get_type_hints(cls)
    names = [f.name for f in fields(cls)]
    unknown = sorted(set(values) - set(names))
    if unknown:
        raise InputError(f"no setting is called {unknown[0]!r}; the settings are {', '.join(names)}")
    return {name: parsed(name, value, hints[name]) for name, value in values.items()}


def parsed(name: str, value: Any, kind: Any) -> Any:
    """One value as `kind`: bool, int, float, a choice of texts, a tuple of these, or one of these or None."""
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise InputError(f"{name} = {value!r} is not possible; choose one of {', '.join(get_args(kind))}")
        return value
    if get_origin(kind) is tuple:
        items, kinds = value.split(",") if isinstance(value, str) else value, get_args(kind)
        if kinds[-1] is Ellipsis and isinstance(items, list | tuple):
            kinds = kinds[:1] * len(items)
        if not isinstance(items, list | tuple) or len(items) != len(kinds):
            raise InputError(f"{name} needs {len(kinds)} numbers, got {value!r}")
        return tuple(parsed(name, item, inner) for item, inner in zip(items, kinds))
    if type(None) in get_args(kind):
        inner = next(k for k in get_args(kind) if k is not type(None))
        return None if value in (None, "none") else parsed(name, value, inner)
    if kind is bool:
        words = {"true": True, "false": False, "on": True, "off": False, "1": True, "0": False}
        if str(value).lower() not in words:
            raise InputError(f"{name} = {value!r} is not possible; choose true or false")
        return words[str(value).lower()]
    try:
        return kind(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} = {value!r} is not possible; it must be a number ({kind.__name__})") from None
