"""Train the network on broken objects.

ROOT is a folder in Breaking Bad's layout; where it lists no validation objects, a tenth of the objects is held out.
With generated[:RECIPE] objects are made and broken on the fly instead (recipes as in `cmnet dataset build --preset`);
the default is a curriculum of them, from thick and easy ones in two pieces to thin and worn ones in many.
The run folder receives checkpoints every few minutes and on interruption (last.ckpt), the weights (last.safetensors,
best.safetensors), losses.csv, validation.csv, TensorBoard logs and the resolved config.json.

worked examples:
  cmnet train -o runs/base                                          the recipe of the shipped weights
  cmnet train --data data/toy -o runs/toy --max-time 20m
  cmnet train --data data/toy -o runs/toy --resume                  go on exactly where it stopped
  cmnet train --preset breaking-bad --data data/bb -o runs/bb       2 to 20 pieces, a tenth of the objects left out
  cmnet train --data generated:training --pieces 2-8 -o runs/own    fresh objects for ever
  cmnet train --data data/bb --preset paper -o runs/paper --devices 4 --strategy ddp --set accumulate=1
  cmnet train --data data/toy -o runs/no-occupancy --set occupancy_branch=false
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cmnet.cli.arguments import duration, natural, overrides, pieces, seed

if TYPE_CHECKING:
    from cmnet.data.exercises import ObjectStream
    from cmnet.data.objects import ObjectSource
    from cmnet.model.config import CMNetConfig
    from cmnet.training.config import TrainConfig


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--preset",
        default="cmnet-base",
        help="network and schedule: cmnet-base, breaking-bad, paper (default: %(default)s)",
    )
    add(
        "--data",
        metavar="ROOT",
        help="folder in Breaking Bad's layout, or generated[:RECIPE] (default: generated, the curriculum)",
    )
    add("--subset", metavar="S", help="only this subset, such as everyday (default: all)")
    add("--pieces", type=pieces, metavar="N|N-M", help="of a fracture (default: the preset's; generated: the recipe's)")
    add("-o", "--output", type=Path, required=True, metavar="RUN", help="the run folder")
    add("--resume", action="store_true", help="continue the run in RUN from its checkpoint")
    add("--init", metavar="W", help="start from these weights, a name or a path (default: random ones)")
    add("--max-time", type=duration, metavar="T", help="stop after 90s, 20m, 1.5h, with a checkpoint")
    add("--steps", type=natural, metavar="N", help="optimisation steps (default: the preset's)")
    add("--seed", type=seed, metavar="S", help="of weights, order and draws (default: the preset's)")
    add(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="overrides",
        help="any setting of the network or the training, such as norm=rms or learning_rate=1e-3; repeatable",
    )
    add("--accelerator", default="auto", help="cpu, gpu or auto (default: %(default)s)")
    add("--devices", default="1", help="number of devices, or auto (default: %(default)s)")
    add("--strategy", default="auto", help="Lightning's strategy, such as ddp (default: %(default)s)")
    add("--nodes", type=natural, default=1, help="number of machines (default: %(default)s)")
    add("--quiet", action="store_true", help="no progress")


def run(args: argparse.Namespace) -> int:
    from rich.console import Console

    from cmnet.errors import InputError

    choose_kernels()
    net_config, config = resolve(args)
    try:
        from cmnet.training.loop import Machine, train
    except ModuleNotFoundError as error:
        raise InputError(f"training needs {error.name}; install it with: pip install 'cmnet[train]'") from None
    import logging

    if not args.quiet:
        logging.getLogger("cmnet").setLevel(logging.INFO)
    sources = _sources(args, net_config, config)
    machine = Machine(args.accelerator, args.devices, args.strategy, args.nodes, args.quiet)
    result = train(args.output, net_config, config, *sources, machine, args.resume, args.max_time, args.init)
    if result.first and not args.quiet:
        console = Console(soft_wrap=True, highlight=False)
        console.print(f"step      {result.step} of {config.steps}\nweights   {result.weights}")
        if result.step < config.steps:
            console.print("next      the same command with --resume goes on from here")
        else:
            data = "DATA" if _generated(args.data) else args.data
            console.print(f"next      cmnet evaluate {data} --weights {result.weights}")
    return 0


def choose_kernels() -> None:
    """The same kernels of linear algebra on every x86 processor that has them, on Linux, before numpy is loaded.

    OpenBLAS chooses them by the processor, and each rounds in its own way: of some of the generated objects a sample
    differs in the last digit then, and after it all losses.
    """
    processor = Path("/proc/cpuinfo")
    if processor.exists() and " avx2 " in processor.read_text(encoding="utf-8", errors="replace"):
        os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")


def _generated(data: str | None) -> bool:
    return data is None or data.partition(":")[0] == "generated"


def _sources(
    args: argparse.Namespace, net_config: CMNetConfig, config: TrainConfig
) -> tuple[ObjectStream, ObjectSource]:
    """What to train on and what to validate on."""
    from cmnet.data.split import CURRICULUM, generated_sources, training_sources
    from cmnet.errors import InputError

    points, seed = net_config.samples(), config.seed
    if args.data is None and args.preset == "breaking-bad":
        raise InputError("the preset breaking-bad needs --data ROOT, a folder in Breaking Bad's layout")
    if _generated(args.data):
        recipe = (args.data or "").partition(":")[2] or CURRICULUM
        return generated_sources(recipe, args.pieces, points, seed, config.validate_on)
    pieces = args.pieces or config.pieces
    return training_sources(Path(args.data), args.subset, pieces, points, seed, variants=config.variants)


def resolve(args: argparse.Namespace) -> tuple[CMNetConfig, TrainConfig]:
    """The network's and the training's settings: the preset with everything that was asked for."""
    from dataclasses import fields, replace

    from cmnet.errors import InputError
    from cmnet.model.config import CMNetConfig, preset
    from cmnet.training.config import TRAIN_PRESETS, TrainConfig
    from cmnet.values import checked

    asked: dict[str, Any] = {"steps": args.steps, "seed": args.seed}
    asked = {name: value for name, value in asked.items() if value is not None} | overrides(args.overrides)
    names = {f.name for f in fields(CMNetConfig)}, {f.name for f in fields(TrainConfig)}
    unknown = sorted(set(asked) - names[0] - names[1])
    if unknown:
        raise InputError(
            f"no setting is called {unknown[0]!r}; the settings are {', '.join(sorted(names[0] | names[1]))}"
        )
    net_config = preset(args.preset, **{k: v for k, v in asked.items() if k in names[0]})
    ours = checked(TrainConfig, {k: v for k, v in asked.items() if k in names[1]})
    return net_config, replace(TRAIN_PRESETS[args.preset], **ours)
