"""The Lightning module: one step of training, one of validation, the optimiser and its schedule."""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import fields
from typing import Any

import lightning.pytorch as pl
import torch
from torch import Tensor

from cmnet.model.config import CMNetConfig
from cmnet.model.losses import Losses, break_loss, combinative_loss
from cmnet.model.network import CMNet
from cmnet.training.batches import ExerciseTensors
from cmnet.training.config import TrainConfig, settings_text
from cmnet.training.figures import Figures


class CMNetModule(pl.LightningModule):
    """Trains a `CMNet` on exercises: `net` takes the steps, `average` is the moving average that is judged and kept."""

    def __init__(self, net_config: CMNetConfig, config: TrainConfig, first: Mapping[str, Tensor] | None = None) -> None:
        super().__init__()
        self.config = config
        with torch.random.fork_rng(devices=[]):  # seeded, without touching anybody else's random numbers
            torch.manual_seed(config.seed)
            self.net = CMNet(net_config)
        if first is not None:
            self.net.load_state_dict(first)
        self.average = deepcopy(self.net).requires_grad_(False)
        self.figures = Figures()  # of this validation so far

    def exercise_losses(self, exercise: ExerciseTensors) -> Losses:
        """The mean losses of an exercise's pairs; random draws depend on its number and the run's seed alone."""
        generator = torch.Generator().manual_seed((self.config.seed << 32) + exercise.number)
        parts = [self.net.describe(f.points, f.normals) for f in exercise.fragments]
        breaks = [break_loss(d, f.breaking) for d, f in zip(parts, exercise.fragments, strict=True)]
        breaking = torch.stack(breaks).mean()
        losses = []
        for pair in exercise.pairs:
            p, q = parts[pair.p], parts[pair.q]
            truth = pair.matches, pair.T_q_p
            losses.append(combinative_loss(p, q, self.net.compare(p, q), *truth, self.net.config, generator, breaking))
        return _mean(losses)

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint["settings"] = settings_text(self.net.config, self.config)

    def training_step(self, batch: list[ExerciseTensors], batch_idx: int) -> Tensor:
        losses = _mean([self.exercise_losses(exercise) for exercise in batch])
        for f in fields(Losses):
            self.log(f"train/{f.name}", getattr(losses, f.name), prog_bar=True, batch_size=len(batch))
        self.log("train/stage", float(batch[-1].stage), batch_size=len(batch))
        return losses.total

    def configure_gradient_clipping(self, optimizer: Any, *args: Any, **kwargs: Any) -> None:
        """Clip, and let a step pass whose gradient is not finite (all ranks see the same one)."""
        norm = torch.nn.utils.clip_grad_norm_(self.net.parameters(), self.config.clip)
        if not torch.isfinite(norm):
            optimizer.zero_grad(set_to_none=True)
        self.log("train/gradient", norm)

    def optimizer_step(self, *args: Any, **kwargs: Any) -> None:
        super().optimizer_step(*args, **kwargs)
        self.follow(self.global_step)

    def follow(self, step: int) -> None:
        """Move the average towards the network; early on faster, so that it does not remember the first weights."""
        decay = min(self.config.average, (1 + step) / (10 + step))
        with torch.no_grad():
            for slow, fast in zip(self.average.parameters(), self.net.parameters(), strict=True):
                slow.lerp_(fast, 1 - decay)

    def validation_step(self, batch: list[ExerciseTensors], batch_idx: int) -> None:
        for exercise in batch:
            self.figures.add(self.average, exercise)

    def on_validation_epoch_end(self) -> None:
        figures, self.figures = self.figures.summary(), Figures()
        for name, value in figures.items():
            self.log(f"val/{name}", value.to(self.device), prog_bar=True, sync_dist=True)

    def configure_optimizers(self) -> dict[str, Any]:
        config = self.config
        rate, decay = config.learning_rate, config.weight_decay
        optimizer = torch.optim.AdamW(self.net.parameters(), lr=rate, weight_decay=decay)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rate_factor(step, config))
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


def rate_factor(step: int, config: TrainConfig) -> float:
    """Linear warm-up, then a cosine to 1 %, a function of the optimisation step."""
    if step < config.warmup:
        return (step + 1) / config.warmup
    done = (step - config.warmup) / max(1, config.steps - config.warmup)
    return 0.01 + 0.99 * (1 + math.cos(math.pi * min(done, 1.0))) / 2


def _mean(losses: list[Losses]) -> Losses:
    return Losses(*(torch.stack([getattr(x, f.name) for x in losses]).mean() for f in fields(Losses)))
