"""What happens around the steps: checkpoints, stopping in time, logs."""

from __future__ import annotations

import csv
import logging
import os
import signal
import time
from pathlib import Path
from types import FrameType
from typing import Any

import lightning.pytorch as pl
from lightning.pytorch.callbacks import RichProgressBar

from cmnet.files import sync, write_text
from cmnet.model.network import CMNet
from cmnet.training.module import CMNetModule

logger = logging.getLogger("cmnet")
CHECKPOINT = "last.ckpt"
WEIGHTS = "last.safetensors"
BEST = "best.safetensors"


class Keeper(pl.Callback):
    """Saves every few minutes, at the end, and when the run is to stop (SIGTERM, Ctrl-C, time over).

    Saves and stops only right after an optimisation step, on all ranks at the same one, so that a resumed run
    continues with the very next step.
    """

    def __init__(self, folder: Path, minutes: float, max_seconds: float | None) -> None:
        self.folder, self.seconds, self.max_seconds = folder, 60 * minutes, max_seconds
        self.started = self.saved = time.monotonic()
        self.interrupted = False
        self.best = -1.0
        self._previous: dict[int, Any] = {}

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self.started = self.saved = time.monotonic()
        for number in (signal.SIGTERM, signal.SIGINT):
            self._previous[number] = signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.interrupted = True

    def on_train_batch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule, *args: Any) -> None:
        if trainer.fit_loop._should_accumulate():
            return
        now = time.monotonic()
        over = self.max_seconds is not None and now - self.started >= self.max_seconds
        stop = trainer.strategy.reduce_boolean_decision(self.interrupted or over, all=False)
        due = trainer.strategy.reduce_boolean_decision(now - self.saved >= self.seconds, all=False)
        if stop or due:
            self.save(trainer, pl_module)
        if stop:
            trainer.limit_val_batches = 0  # no validation on the way out: the resumed run does it in its place
            trainer.should_stop = True

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        score = float(trainer.callback_metrics.get("val/within_10", -1.0))
        if score > self.best and not trainer.sanity_checking:
            self.best = score
            if trainer.is_global_zero:
                _net(pl_module).save(self.folder / BEST, step=trainer.global_step, within_10=score)

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self.save(trainer, pl_module)
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def save(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """The checkpoint and the weights, each replaced as a whole."""
        temporary = self.folder / f".{CHECKPOINT}.new"
        trainer.save_checkpoint(temporary)
        if trainer.is_global_zero:
            sync(temporary)
            os.replace(temporary, self.folder / CHECKPOINT)
            _net(pl_module).save(self.folder / WEIGHTS, step=trainer.global_step)
        self.saved = time.monotonic()

    def state_dict(self) -> dict[str, Any]:
        return {"best": self.best}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.best = state_dict["best"]


class CsvLog(pl.Callback):
    """`losses.csv`: a row per optimisation step; `validation.csv`: a row per validation. A resumed run appends."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if trainer.is_global_zero:
            for name in ("losses.csv", "validation.csv"):
                _keep_rows(self.folder / name, trainer.global_step)

    def on_train_batch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule, *args: Any) -> None:
        if not trainer.fit_loop._should_accumulate():
            self._append(trainer, "losses.csv", "train/")

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._append(trainer, "validation.csv", "val/")

    def _append(self, trainer: pl.Trainer, name: str, prefix: str) -> None:
        if not trainer.is_global_zero or trainer.sanity_checking:
            return
        figures = {
            k.removeprefix(prefix): v.item() for k, v in trainer.callback_metrics.items() if k.startswith(prefix)
        }
        row = {"step": trainer.global_step, **figures}
        path = self.folder / name
        new = not path.exists()
        with path.open("a", newline="") as file:
            writer = csv.DictWriter(file, row, lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerow(row)


def _keep_rows(path: Path, last_step: int) -> None:
    """Drop the rows of steps that a resumed run will take again, and those that were not written to their end."""
    if not path.exists():
        return
    header, *rows = path.read_text(encoding="utf-8", errors="replace").split("\n")[:-1] or [""]
    whole = [row for row in rows if row.count(",") == header.count(",") and row.partition(",")[0].isdecimal()]
    kept = [row for row in whole if int(row.partition(",")[0]) <= last_step]
    write_text(path, "\n".join([header, *kept, ""])) if kept else path.unlink()


class Bar(RichProgressBar):
    """Lightning's bar with short names: the losses, and the figures of the last validation."""

    def get_metrics(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> dict[str, Any]:
        metrics = super().get_metrics(trainer, pl_module)
        return {name.split("/")[1]: value for name, value in metrics.items() if "/" in name}

    def _get_train_description(self, current_epoch: int) -> str:
        return "train"


class LineProgress(pl.Callback):
    """A line every so many seconds, for runs without a terminal."""

    def __init__(self, every: float = 30.0) -> None:
        self.every, self.last = every, time.monotonic()

    def on_train_batch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule, *args: Any) -> None:
        if time.monotonic() - self.last >= self.every and trainer.is_global_zero:
            self.last = time.monotonic()
            figures = {k: v.item() for k, v in trainer.callback_metrics.items() if k.split("/")[0] in ("train", "val")}
            text = "  ".join(f"{name} {value:.4g}" for name, value in figures.items())
            logger.info("step %d of %d  %s", trainer.global_step, trainer.max_steps, text)


def _net(pl_module: pl.LightningModule) -> CMNet:
    """What is kept of a run: the averaged network."""
    assert isinstance(pl_module, CMNetModule)
    return pl_module.average
