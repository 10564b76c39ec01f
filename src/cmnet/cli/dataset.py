"""Make data sets, and look into them."""

import argparse
from importlib import import_module

SUBVERBS = ("toy", "build", "stats")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="subverb", metavar="WHAT", required=True)
    for verb in SUBVERBS:
        module = import_module(f"cmnet.cli.dataset_{verb}")
        text = (module.__doc__ or "").strip()
        sub = verbs.add_parser(
            verb,
            help=text.partition("\n")[0],
            description=text,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(sub)
        sub.set_defaults(run_subverb=module.run)


def run(args: argparse.Namespace) -> int:
    return int(args.run_subverb(args))
