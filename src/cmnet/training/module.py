"""The Lightning module: one step of training, one of validation, the optimiser and its schedule."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import lightning.pytorch as pl
import torch
from torch import Tensor

from cmnet.geometry.pose import Pose
from cmnet.model.config import CMNetConfig
from cmnet.model.losses import Losses, combinative_loss
from cmnet.model.network import CMNet
from cmnet.training.batches import PairTensors
from cmnet.training.config import TrainConfig


class CMNetModule(pl.LightningModule):
    """Trains a `CMNet` on pairs of parts."""

    def __init__(self, net_config: CMNetConfig, config: TrainConfig) -> None:
        super().__init__()
        self.config = config
        with torch.random.fork_rng(devices=[]):  # seeded, without touching anybody else's random numbers
            torch.manual_seed(config.seed)
            self.net = CMNet(net_config)
        self.errors: list[float] = []  # degrees, of this validation so far

    def pair_losses(self, pair: PairTensors) -> Losses:
        """All losses of one pair; its random draws depend on its number and the run's seed alone."""
        generator = torch.Generator().manual_seed((self.config.seed << 32) + pair.number)
        p = self.net.describe(pair.points_p, pair.normals_p)
        q = self.net.describe(pair.points_q, pair.normals_q)
        comparison = self.net.compare(p, q)
        return combinative_loss(p, q, comparison, pair.matches, pair.T_q_p, self.net.config, generator)

    def training_step(self, batch: list[PairTensors], batch_idx: int) -> Tensor:
        losses = _mean([self.pair_losses(pair) for pair in batch])
        for name, value in losses.items():
            self.log(f"train/{name}", value, prog_bar=True, batch_size=len(batch))
        return losses["total"]

    def configure_gradient_clipping(self, optimizer: Any, *args: Any, **kwargs: Any) -> None:
        """Clip, and let a step pass whose gradient is not finite (all ranks see the same one)."""
        norm = torch.nn.utils.clip_grad_norm_(self.net.parameters(), self.config.clip)
        if not torch.isfinite(norm):
            optimizer.zero_grad(set_to_none=True)
        self.log("train/gradient", norm)

    def validation_step(self, batch: list[PairTensors], batch_idx: int) -> None:
        for pair in batch:
            p = self.net.describe(pair.points_p, pair.normals_p)
            q = self.net.describe(pair.points_q, pair.normals_q)
            true = Pose.from_matrix(pair.T_q_p.cpu().numpy())
            self.errors.append(self.net.pose(p, q).angle_to(true))

    def on_validation_epoch_end(self) -> None:
        errors = torch.tensor(self.errors, device=self.device)
        self.errors.clear()
        figures = {
            "within_5": 100 * (errors < 5).float().mean(),
            "within_10": 100 * (errors < 10).float().mean(),
            "geodesic": errors.mean(),
        }
        for name, value in figures.items():
            self.log(f"val/{name}", value, prog_bar=True, sync_dist=True)

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


def _mean(losses: list[Losses]) -> dict[str, Tensor]:
    return {f.name: torch.stack([getattr(x, f.name) for x in losses]).mean() for f in fields(Losses)}
