"""Put the broken vessel together that comes with the package.

worked example:
  cmnet demo                        the result goes to cmnet-demo/
  cmnet demo -o somewhere/else
"""

from __future__ import annotations

import argparse
from pathlib import Path

from cmnet.model.weights import DEFAULT


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--out", type=Path, default=Path("cmnet-demo"), help="folder (default: %(default)s)")
    parser.add_argument("--weights", default=DEFAULT, help="as of cmnet assemble (default: %(default)s)")


def run(args: argparse.Namespace) -> int:
    from importlib.resources import as_file, files

    from cmnet.cli.assemble import assemble_into
    from cmnet.report.document import Run

    with as_file(files("cmnet") / "assets" / "example") as example:
        settings = Run(weights=args.weights, inputs=(str(example),))
        assemble_into(args.out, [example], settings, force=True)
    return 0
