"""Build data sets of broken objects and look at their statistics."""

import argparse
from importlib import import_module

SUBVERBS = {"build": "cmnet.cli.dataset_build", "stats": "cmnet.cli.dataset_stats"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    subs = parser.add_subparsers(dest="subverb", metavar="COMMAND", required=True)
    for name, where in SUBVERBS.items():
        module = import_module(where)
        doc = module.__doc__ or ""
        sub = subs.add_parser(
            name, help=doc.splitlines()[0], description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        module.add_arguments(sub)
        sub.set_defaults(run=module.run)


def run(args: argparse.Namespace) -> int:
    return int(import_module(SUBVERBS[args.subverb]).run(args))
