"""Settings in words: a preset's name, `key=value,key=value`, or a preset followed by changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from cmnet.errors import InputError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")


def parse_preset(text: str, presets: Mapping[str, T], plain: T, what: str) -> T:
    """What the words say: `light`, `noise=0.001,points=5000`, or `light,missing=0.2`.

    plain : what `key=value` alone changes; its fields are whole or decimal numbers
    """
    words = [word.strip() for word in text.split(",") if word.strip()]
    preset = presets.get(words[0]) if words else None
    known = {field.name: type(getattr(plain, field.name)) for field in fields(plain)}
    changes: dict[str, Any] = {}
    for word in words[1:] if preset else words:
        key, _, value = word.partition("=")
        try:
            changes[key] = known[key](value)
        except (KeyError, ValueError):
            choices = f"{', '.join(presets)}, or {', '.join(f'{name}=VALUE' for name in known)}"
            raise InputError(f"{what} {word!r} is not understood; allowed are {choices}") from None
    return replace(preset or plain, **changes)
