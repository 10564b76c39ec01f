"""The command line: one file per verb. A verb imports what it needs when it runs, so `--help` answers at once."""

import argparse
import io
import logging
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module

from cmnet import __version__
from cmnet.cli.ending import UNFORESEEN, in_good_order, unforeseen
from cmnet.errors import InputError

VERBS = ("assemble", "view", "demo", "fracture", "dataset", "train", "evaluate", "info")

EPILOG = """\
worked examples:
  cmnet demo                                          put the broken vessel together that comes along
  cmnet assemble fragments/ -o result                 put your own fragments together
  cmnet dataset toy -o data/toy                       make the paper's toy data
  cmnet train --preset cmnet-base --data data/toy -o runs/toy
  cmnet evaluate data/toy --split test --weights runs/toy/last.safetensors
  cmnet COMMAND --help                                more about one command
"""


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="cmnet",
        description="Puts broken objects back together.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"cmnet {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="COMMAND", required=True)
    for verb in VERBS:
        module = import_module(f"cmnet.cli.{verb}")
        summary = (module.__doc__ or verb).strip().splitlines()[0]
        sub = verbs.add_parser(
            verb,
            help=summary,
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(sub)
        sub.set_defaults(run=module.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb. Bad input ends in one sentence and exit code 2, an interruption in 130, a fault of ours in 70."""
    logging.basicConfig(level=logging.WARNING, format="cmnet: %(message)s")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a console that lacks a letter shows "?"; stderr has a way of its own
    args = build_parser().parse_args(argv)
    with in_good_order():
        return _run(args)


def _run(args: argparse.Namespace) -> int:
    try:
        return int(args.run(args) or 0)
    except InputError as error:
        return _say(str(error), 2)
    except KeyboardInterrupt:
        return _say("interrupted", 128 + signal.SIGINT)
    except BrokenPipeError:  # `cmnet ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except Exception as error:
        return _say(unforeseen(error), UNFORESEEN)


def _say(text: str, code: int) -> int:
    """Write one line, without the control characters that a file's name may hold. → the exit code"""
    line = "".join(c if c.isprintable() else "?" for c in text)
    print(f"cmnet: {line}", file=sys.stderr)  # noqa: T201
    return code
