"""Show versions, threads, devices and which extras are present."""

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")


def run(args: argparse.Namespace) -> int:
    import json
    import os
    import platform

    import torch
    from rich.console import Console
    from rich.table import Table

    from cmnet import __version__
    from cmnet.model.weights import shipped
    from cmnet.versions import COMPUTING, version

    devices = ["cpu", *(torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count()))]
    facts = {
        "cmnet": __version__,
        "weights": ", ".join(shipped()),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "torch threads": torch.get_num_threads(),
        "devices": ", ".join(devices),
        **{name: version(name) for name in (*COMPUTING, "manifold3d", "safetensors")},
        **{f"{name} (extra: train)": version(name) for name in ("lightning", "tensorboard")},
        "matplotlib (extra: figures)": version("matplotlib"),
        "distributed (extra: dask)": version("distributed"),
    }
    if args.json:
        print(json.dumps(facts, indent=1))  # noqa: T201
        return 0
    table = Table("what", "value", title="cmnet info")
    for name, value in facts.items():
        table.add_row(name, str(value))
    Console().print(table)
    return 0
