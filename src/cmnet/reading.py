"""What somebody else wrote, paths and JSON: read within limits, and every fault is one sentence."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from cmnet.errors import InputError

LARGEST = 2**28  # bytes of a file
DIGITS = 300  # of a whole number; what we read counts things, or is a float with digits to spare


def expanded(path: str | Path) -> Path:
    """The path with ~ spelled out, where it means somebody. (Path.expanduser fails where it does not.)"""
    return Path(os.path.expanduser(path))


def read_json(path: Path, advice: str) -> Any:
    """What a JSON file in UTF-8 holds. advice : what to do where it cannot be read, the end of a sentence"""
    try:
        with path.open("rb") as stream:
            content = stream.read(LARGEST + 1)
    except (OSError, ValueError) as error:  # ValueError: a path that no file can have
        raise InputError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}; {advice}") from error
    return parse_json(content, str(path), advice)


def parse_json(content: bytes | str, what: str, advice: str) -> Any:
    """The same of content that is read already. what : its name in messages"""
    if len(content) > LARGEST:
        raise InputError(f"{what} is longer than {LARGEST >> 20} MB; {advice}")
    try:
        text = content if isinstance(content, str) else content.decode("utf-8-sig")  # Windows begins files with a mark
        return json.loads(text, parse_int=_whole)
    except UnicodeDecodeError as error:
        raise InputError(f"cannot read {what}: it is not text; {advice}") from error
    except json.JSONDecodeError as error:
        where = f" in line {error.lineno}" if "\n" in text else ""
        raise InputError(f"{what} is not JSON: {error.msg}{where}; {advice}") from error
    except RecursionError as error:
        raise InputError(f"{what} is nested too deeply; {advice}") from error
    except OverflowError as error:
        raise InputError(f"{what} holds a {error}; {advice}") from error


def _whole(digits: str) -> int:
    if len(digits) > DIGITS:
        raise OverflowError(f"number of {len(digits)} digits")
    return int(digits)
