"""How a network is trained. One frozen dataclass; the resolved one is written beside every run."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import Literal

from cmnet import __version__
from cmnet.data.augment import Augmentation
from cmnet.data.exercises import Drawing
from cmnet.model.config import CMNetConfig


@dataclass(frozen=True)
class TrainConfig:
    """A training run, apart from the network and the data."""

    steps: int = 20_000  # optimisation steps
    batch: int = 1  # exercises (objects) a process looks at at once
    accumulate: int = 4  # batches whose gradients are summed before a step
    learning_rate: float = 1e-3  # at the end of the warm-up
    warmup: int = 200  # steps over which the rate rises linearly; then a cosine down to 1 % of it
    weight_decay: float = 0.0  # of AdamW
    clip: float = 10.0  # longest gradient
    average: float = 0.0  # share that the moving average of the weights keeps at every step; 0: the last weights
    seed: int = 0  # of the first weights, the order of the data, rotations and draws
    variants: int = 4  # samplings of each object's surface, taken in turn
    choice: Literal["random", "most-touching"] = "random"  # which parts of an object make a pair
    pieces: tuple[int, int] = (2, 2)  # of the fractures of a data folder, least and most
    pairs: int = 1  # of one object, at most
    apart: float = 0.0  # share of the further pairs that do not touch: everything belongs in the dustbins
    noise: float = 0.0  # of positions, network units; of this and the next three, each part gets between 0 and 1 times
    tilt: float = 0.0  # of normals, radians
    thinning: float = 0.0  # share of the samples left out
    chips: float = 0.0  # probability that a part lacks a ball of samples
    validate_every: int = 500  # steps; 0: never
    validate_on: int = 100  # objects at most
    checkpoint_minutes: float = 5.0  # at most so much work is lost by a crash
    workers: int = 0  # processes that prepare data; 0: the training process itself
    threads: int = 0  # of the processor, for the network; 0: one a core. Another number rounds otherwise

    def drawing(self, net_config: CMNetConfig) -> Drawing:
        """How the training pairs of a network are drawn."""
        worse = Augmentation(self.noise, self.tilt, self.thinning, self.chips)
        plain = plain_drawing(net_config)
        return replace(plain, choice=self.choice, pairs=self.pairs, apart=self.apart, augmentation=worse)


def settings_text(net_config: CMNetConfig, config: TrainConfig) -> str:
    """All settings of a run as JSON: what config.json says, and what its checkpoints keep."""
    settings = {"cmnet": __version__, "network": net_config.to_dict(), "training": asdict(config)}
    return json.dumps(settings, indent=1) + "\n"


def plain_drawing(net_config: CMNetConfig) -> Drawing:
    """How the pairs are drawn that a network is judged on: one an object, the two parts that touch most."""
    radius, normals, scale = net_config.radii()[0], net_config.normals, net_config.scale
    return Drawing(radius, normals, scale, choice="most-touching", seen=net_config.seen, focus=net_config.focus)


# The paper's: AdamW at 1e-2 without weight decay, one pair per GPU on four GPUs, cosine to the end.
TRAIN_PRESETS = {
    "paper": TrainConfig(learning_rate=1e-2, warmup=0),
    "cmnet-base": TrainConfig(
        steps=6000,
        accumulate=2,
        learning_rate=2e-3,
        average=0.998,
        pairs=6,
        apart=0.25,
        noise=0.0005,
        tilt=0.05,
        thinning=0.1,
        chips=0.1,
        validate_on=64,
        threads=1,
    ),
}
TRAIN_PRESETS["breaking-bad"] = replace(TRAIN_PRESETS["cmnet-base"], pieces=(2, 20))
