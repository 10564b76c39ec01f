"""Loops that are compiled where arrays would be too large or too wasteful."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compiled by the first call, and kept on disk for the next process if there is a place for it.

    What is kept is made anew when the function's own file changes, but not when another file does that it calls into:
    after such an edit, remove the `__pycache__` folders.
    """
    try:
        return njit(cache=True, error_model="numpy")(function)
    except RuntimeError:  # neither beside this file nor in the user's cache folder may anything be written
        return njit(error_model="numpy")(function)
