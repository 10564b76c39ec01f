"""Make the paper's toy data: six interface patterns in which shape alone cannot tell right from wrong.

Writes 900 two-part objects in Breaking Bad's layout: patterns 1-3 with 200 objects each to train on and 50 to validate,
patterns 4-6 with 50 each to test. The same seed gives the same bytes.

  cmnet dataset toy -o data/toy
  cmnet train --data data/toy -o runs/toy
"""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--out", type=Path, required=True, help="folder to make; must not exist or be empty")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random variation (default 0)")


def run(args: argparse.Namespace) -> int:
    from cmnet.data.toy import TEST_PATTERNS, TRAIN_PATTERNS, ToySizes, build_toy
    from cmnet.errors import InputError

    if args.seed < 0:
        raise InputError(f"--seed {args.seed} is negative; give 0 or more")
    sizes = ToySizes()
    root = build_toy(args.out, args.seed, sizes)
    train, test = len(TRAIN_PATTERNS), len(TEST_PATTERNS)
    print(f"{root}: {train * sizes.train} train, {train * sizes.val} val, {test * sizes.test} test objects")  # noqa: T201
    return 0
