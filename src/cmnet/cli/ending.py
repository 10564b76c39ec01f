"""How a command ends when it is not done: by a signal, or by an error that nobody foresaw."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

UNFORESEEN = 70  # exit code, as sysexits.h has it for faults of the program itself


@contextmanager
def in_good_order() -> Iterator[None]:
    """Ctrl-C and SIGTERM end what runs as an error would: files in work are removed, predictions are kept.

    Meanwhile a second signal changes nothing; a third ends the process at once. What a shell ignores for commands in
    the background stays ignored.
    """
    ours = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    try:
        taken = {number: signal.signal(number, _first) for number in ours if signal.getsignal(number) == ours[number]}
    except ValueError:  # not the main thread, which alone hears signals
        taken = {}
    try:
        yield
    finally:
        for number, handler in taken.items():
            if signal.getsignal(number) is _first:
                signal.signal(number, handler)


def _first(number: int, frame: FrameType | None) -> None:
    signal.signal(number, _second)
    raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)


def _second(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)


def unforeseen(error: Exception) -> str:
    """One sentence about an error that is no fault of the user's, and where its traceback was saved."""
    import tempfile
    import traceback

    from cmnet import __version__

    trace = "".join(traceback.format_exception(error))
    told = f"cmnet {__version__}, Python {sys.version}, {sys.platform}\n{sys.argv}\n\n{trace}"
    what = f"this is a fault of cmnet, not yours ({type(error).__name__})"
    try:
        with tempfile.NamedTemporaryFile(  # which nobody else may read
            "w", prefix="cmnet-", suffix=".txt", delete=False, encoding="utf-8", errors="backslashreplace"
        ) as file:
            file.write(told)
    except OSError:
        print(told, file=sys.stderr)  # noqa: T201
        return f"{what}; please report the lines above"
    return f"{what}; please report what is in {file.name}"
