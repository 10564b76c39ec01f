"""Kinds of command-line values that more than one verb takes."""

import argparse
from collections.abc import Sequence

from cmnet.errors import InputError


def pieces(text: str) -> tuple[int, int]:
    """'2' or '2-8' as lowest and highest number of pieces."""
    low, dash, high = text.partition("-")
    if not (low.isdecimal() and (high.isdecimal() or not dash)):
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number such as 2 nor a range such as 2-8")
    span = int(low), int(high or low)
    if not 2 <= span[0] <= span[1]:
        raise argparse.ArgumentTypeError(f"{text!r} is empty or starts below 2 pieces")
    return span


def duration(text: str) -> float:
    """'90', '90s', '20m' or '1.5h' as seconds."""
    factor = {"s": 1.0, "m": 60.0, "h": 3600.0}.get(text[-1:])
    number = text[:-1] if factor else text
    try:
        seconds = float(number) * (factor or 1.0)
    except ValueError:
        seconds = -1.0
    if seconds <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no duration; write 90s, 20m or 1.5h")
    return seconds


def natural(text: str) -> int:
    """A positive whole number."""
    if not (text.isdecimal() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return int(text)


def seed(text: str) -> int:
    """A whole number of at least 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 0")
    return int(text)


def overrides(texts: Sequence[str]) -> dict[str, str]:
    """What `--set NAME=VALUE` says, several times, by name."""
    for text in texts:
        if "=" not in text:
            raise InputError(f"--set {text} has no value; write --set NAME=VALUE")
    return {name: value for name, _, value in (text.partition("=") for text in texts)}
