"""A training run: data in, a run folder out (checkpoint, weights, logs, resolved config)."""

from __future__ import annotations

import json
import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import torch
from lightning.pytorch.loggers import TensorBoardLogger
from lightning.pytorch.utilities import rank_zero_only
from torch import Tensor

from cmnet.data.exercises import ExerciseDataset, ObjectStream, Ordered
from cmnet.data.objects import ObjectSource
from cmnet.errors import InputError
from cmnet.files import write_text
from cmnet.model.config import CMNetConfig
from cmnet.model.network import CMNet
from cmnet.training.batches import Consecutive, Dealt, loader
from cmnet.training.callbacks import CHECKPOINT, WEIGHTS, Bar, CsvLog, Keeper, LineProgress
from cmnet.training.config import TrainConfig, plain_drawing, settings_text
from cmnet.training.module import CMNetModule

logger = logging.getLogger("cmnet")
CONFIG = "config.json"


@dataclass(frozen=True)
class Machine:
    """Where a run runs, in Lightning's words."""

    accelerator: str = "auto"  # cpu, gpu, auto
    devices: str = "1"  # number of devices, or auto
    strategy: str = "auto"  # auto, ddp, ...
    nodes: int = 1  # number of machines
    quiet: bool = False  # no progress at all


@dataclass(frozen=True)
class Result:
    """Where a run stands."""

    weights: Path  # the newest ones
    step: int  # optimisation steps taken in all
    first: bool  # whether this process is the one that reports


def train(
    folder: Path,
    net_config: CMNetConfig,
    config: TrainConfig,
    objects: ObjectStream,
    validation: ObjectSource | None,
    machine: Machine | None = None,
    resume: bool = False,
    max_seconds: float | None = None,
    init: str | Path | None = None,
) -> Result:
    """Train until `config.steps`, a signal or the time is over.

    An existing run in `folder` is continued with `resume`, from its checkpoint and with the same settings, or anew if
    it has none yet; without `resume`, it is refused. A new run starts from the weights `init` (a name or a path), or
    from random ones.
    """
    machine = machine or Machine()
    checkpoint = _checkpoint(folder, resume)
    first = None if init is None or checkpoint else _first_weights(init, net_config)
    _keep_settings(folder, checkpoint, settings_text(net_config, config))
    start = checkpoint["global_step"] if checkpoint else 0
    module = CMNetModule(net_config, config, first)
    trainer = _trainer(folder, config, machine, max_seconds, validates=validation is not None)
    rank, ranks = trainer.global_rank, trainer.world_size
    batches = config.steps * config.accumulate
    stream = ExerciseDataset(objects, config.seed, config.drawing(net_config))
    dealt = Consecutive(batches, config.batch, start * config.accumulate, rank, ranks)
    loaders: dict[str, Any] = {"train_dataloaders": loader(stream, dealt, config.workers)}
    if validation is not None:
        fixed = ExerciseDataset(Ordered(validation), config.seed, plain_drawing(net_config))
        count = min(len(validation), config.validate_on)
        loaders["val_dataloaders"] = loader(fixed, Dealt(count, rank, ranks))
    with warnings.catch_warnings(), _threads(config.threads):
        warnings.simplefilter("ignore")  # Lightning's advice on workers and on loaders it thinks cannot resume
        # weights_only: a checkpoint is data, nothing in it may run
        trainer.fit(module, **loaders, ckpt_path=folder / CHECKPOINT if checkpoint else None, weights_only=True)
    return Result(folder / WEIGHTS, trainer.global_step, trainer.is_global_zero)


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """So many threads for the network; 0: as many as there are."""
    before = torch.get_num_threads()
    torch.set_num_threads(count or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _first_weights(init: str | Path, net_config: CMNetConfig) -> dict[str, Tensor]:
    """The tensors of trained weights, which must fit the network that is to be trained."""
    net = CMNet.from_pretrained(init)
    wanted = {name: value.shape for name, value in CMNet(net_config).state_dict().items()}
    if {name: value.shape for name, value in net.state_dict().items()} != wanted:
        raise InputError(f"{init} holds a network of another make; start from it with the preset it was trained with")
    return net.state_dict()


def _checkpoint(folder: Path, resume: bool) -> dict[str, Any] | None:
    """What the checkpoint to go on from says about itself; None: the run starts from the first step."""
    path = folder / CHECKPOINT
    begun = path.exists() or (folder / CONFIG).exists()
    if resume and path.exists():
        return _read(path)
    if resume and not begun:
        raise InputError(f"there is no run to resume in {folder} ({CHECKPOINT} is missing); start one without --resume")
    if begun and rank_zero_only.rank == 0:  # the first process has checked, and written, before it starts the others
        if not resume:
            raise InputError(f"{folder} already holds a run; continue it with --resume, or choose another folder")
        logger.warning("%s was stopped before its first checkpoint; it starts anew", folder)
    return None


def _read(path: Path) -> dict[str, Any]:
    try:
        with warnings.catch_warnings(action="ignore"):
            content = torch.load(path, map_location="cpu", weights_only=True)
        return {"global_step": int(content["global_step"]), "settings": content.get("settings")}
    except Exception as error:  # torch's own words are about its arguments
        raise InputError(f"{path} is damaged or no checkpoint; start a new run in another folder") from error


def _keep_settings(folder: Path, checkpoint: dict[str, Any] | None, text: str) -> None:
    """Write config.json; a run that is continued must have the settings that it was started with."""
    path = folder / CONFIG
    if checkpoint is not None:
        try:
            old = json.loads(checkpoint["settings"] or path.read_text(encoding="utf-8"))
            known = {section: dict(old[section]) for section in ("network", "training")}
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise InputError(f"{path} is missing or damaged; start a new run in another folder") from error
        _same_settings(folder, known, json.loads(text))
    if rank_zero_only.rank == 0:
        write_text(path, text)


def _same_settings(folder: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    for section, known in old.items():
        for name, value in new[section].items():
            if known.get(name) != value and name not in ("workers", "checkpoint_minutes"):
                raise InputError(
                    f"{folder} was started with {name} = {known.get(name)}, not {value}; "
                    "resume with the same settings, or start a new run in another folder"
                )


def _trainer(
    folder: Path, config: TrainConfig, machine: Machine, max_seconds: float | None, validates: bool
) -> pl.Trainer:
    callbacks: list[pl.Callback] = [CsvLog(folder), Keeper(folder, config.checkpoint_minutes, max_seconds)]
    bar = not machine.quiet and sys.stdout.isatty()
    if bar:
        callbacks.append(Bar())
    elif not machine.quiet:
        callbacks.append(LineProgress())
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.WARNING)
    validates = validates and config.validate_every > 0
    return pl.Trainer(
        accelerator=machine.accelerator,
        devices=machine.devices if machine.devices == "auto" else int(machine.devices),
        strategy=machine.strategy,
        num_nodes=machine.nodes,
        max_steps=config.steps,
        max_epochs=-1,
        min_epochs=0,
        accumulate_grad_batches=config.accumulate,
        gradient_clip_val=config.clip,
        val_check_interval=config.validate_every * config.accumulate if validates else None,
        check_val_every_n_epoch=None if validates else 1,
        limit_val_batches=None if validates else 0,
        num_sanity_val_steps=0,
        log_every_n_steps=10,
        enable_checkpointing=False,
        enable_progress_bar=bar,
        enable_model_summary=False,
        use_distributed_sampler=False,
        callbacks=callbacks,
        logger=TensorBoardLogger(folder, name="", version="tensorboard"),
        default_root_dir=folder,
    )
