"""How a network is trained. One frozen dataclass; the resolved one is written beside every run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class TrainConfig:
    """A training run, apart from the network and the data."""

    steps: int = 20_000  # optimisation steps
    batch: int = 1  # pairs a process describes at once
    accumulate: int = 4  # batches whose gradients are summed before a step
    learning_rate: float = 1e-3  # at the end of the warm-up
    warmup: int = 200  # steps over which the rate rises linearly; then a cosine down to 1 % of it
    weight_decay: float = 0.0  # of AdamW
    clip: float = 10.0  # longest gradient
    seed: int = 0  # of the first weights, the order of the data, rotations and draws
    variants: int = 4  # samplings of each object's surface, taken in turn
    choice: Literal["random", "most-touching"] = "random"  # which parts of an object make a pair
    validate_every: int = 500  # steps; 0: never
    validate_on: int = 100  # pairs at most
    checkpoint_minutes: float = 5.0  # at most so much work is lost by a crash
    workers: int = 0  # processes that prepare data; 0: the training process itself


# The paper's: AdamW at 1e-2 without weight decay, one pair per GPU on four GPUs, cosine to the end.
TRAIN_PRESETS = {
    "paper": TrainConfig(learning_rate=1e-2, warmup=0),
    "cmnet-base": TrainConfig(),
}
