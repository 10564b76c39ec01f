"""What a network is made of, and the named presets. Every ablation of the paper is one field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from cmnet.errors import InputError
from cmnet.values import checked

ANY = 1_000_000  # no number of a setting is larger,
MOST = {"neighbors": 1000, "down_neighbors": 1000, "transport_rounds": 10_000, "inlier_rounds": 1000, "focus": 1}


@dataclass(frozen=True)
class CMNetConfig:
    """The network, its matching and its losses. Lengths are in network units (object size about 1)."""

    # Input
    points: int = 5000  # points per object, split over its parts by area
    min_points: int = 256  # points a part gets at least
    focus: float = 0.0  # share of the points taken where normals differ most, out of twice as many; 0: all as drawn
    normals: bool = False  # oriented points: the normal as a second vector channel
    positions: bool = True  # where a point lies in its part is seen; False: only where its neighbours lie from it
    scale: Literal["given", "area"] = "given"  # network unit: the data's own, or derived from the parts' total area
    # Backbone
    equivariant: bool = True  # vector neurons; False: a plain DGCNN of three times the width
    widths: tuple[int, int, int, int] = (21, 42, 85, 170)  # vector channels of the four levels
    features: int = 341  # vector channels D of the backbone's output
    norm: Literal["instance", "rms"] = "instance"  # of vector lengths; rms: divide by the root-mean-square length
    graph: Literal["features", "coordinates"] = "features"  # neighbours after the first EdgeConv
    neighbors: int = 20  # of an EdgeConv
    down_neighbors: int = 16  # of a transition down
    # Descriptors and matching
    descriptor: int = 512  # channels d of the shape and of the occupancy descriptor
    attention: int = 256  # hidden channels of the channel attention
    shape_branch: bool = True  # match equal shape
    occupancy_branch: bool = True  # match opposite occupancy
    transport_rounds: int = 50  # at most; published: 100 plain ones, which 50 overstepping ones outdo
    break_head: bool = False  # say for every point whether it lies on a break
    break_gate: bool = False  # matches count as far as both points are held for break; needs the break head
    top_k: int = 128  # soft matches kept
    inlier_rounds: int = 5  # weighted SVDs after the first
    inlier_radius: float = 0.1  # a match within it of the current pose counts in the next round
    # Losses
    positive_radius: float | None = 0.018  # assembled points nearer than this match; None: the samples' spacing
    negative_radius: float | None = 0.03  # points farther than this do not; None: 5/3 of the positive radius
    max_positives: int = 128  # correspondences drawn for a circle loss
    positive_margin: float = 0.1  # Δp of the circle losses
    negative_margin: float = 1.4  # Δn of the circle losses
    circle_scale: float = 24.0  # γ of the circle losses
    occupancy_affinity: Literal["cosine", "l2"] = "cosine"  # how alike two occupancy descriptors are
    orientation_loss: bool = True  # align the frames of matching points
    orientation_weight: float = 0.1  # λd
    shape_weight: float = 0.5  # λs
    occupancy_weight: float = 0.5  # λo
    break_weight: float = 0.5  # of the break head's cross-entropy

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            _refuse_absurd(name, value)
        if not (self.shape_branch or self.occupancy_branch):
            raise InputError(
                "the network needs shape_branch or occupancy_branch; with neither there is nothing to match"
            )
        if self.break_gate and not self.break_head:
            raise InputError("break_gate needs break_head=true: it weighs matches by what the break head says")

    def samples(self, points: int | None = None) -> int:
        """How many samples of an object are drawn for the network to see `points` of them; None: as it was trained."""
        points = self.points if points is None else points
        return 2 * points if self.focus else points

    def seen(self, samples: int) -> int:
        """How many of a part's samples the network sees."""
        return max(samples // 2, min(samples, self.min_points)) if self.focus else samples

    def radii(self) -> tuple[float, float]:
        """Positive and negative radius in network units; an object of area 1.6 has its samples sqrt(1.6 / n) apart."""
        positive = (1.6 / self.points) ** 0.5 if self.positive_radius is None else self.positive_radius
        return positive, 5 / 3 * positive if self.negative_radius is None else self.negative_radius

    def with_overrides(self, overrides: Mapping[str, Any]) -> CMNetConfig:
        """A copy with some fields replaced; unknown names and impossible values raise an InputError."""
        return replace(self, **checked(CMNetConfig, overrides))

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def _refuse_absurd(name: str, value: Any) -> None:
    """InputError for numbers that no network can be made of. What counts something is at least 1."""
    least = 0 if isinstance(getattr(CMNetConfig, name), float) or name == "inlier_rounds" else 1
    most = MOST.get(name, ANY)
    for number in value if isinstance(value, tuple) else (value,):
        if type(number) in (int, float) and not least <= number <= most:
            raise InputError(f"{name} = {value!r} is not possible; it must lie between {least} and {most}")


PRESETS: dict[str, CMNetConfig] = {
    # As published: points only, 2,935,403 parameters.
    "paper": CMNetConfig(),
    # What we ship: oriented points, a norm that trains, sized for CPUs.
    "cmnet-base": CMNetConfig(
        points=3000,
        focus=0.5,
        normals=True,
        positions=False,
        scale="area",
        widths=(16, 32, 64, 96),
        features=128,
        norm="rms",
        graph="coordinates",
        neighbors=16,
        descriptor=192,
        attention=128,
        break_head=True,
        break_gate=True,
        positive_radius=None,
        negative_radius=None,
    ),
}
# The same network, trained on Breaking Bad's own objects.
PRESETS["breaking-bad"] = PRESETS["cmnet-base"]


def preset(name: str, **overrides: Any) -> CMNetConfig:
    """The preset `name`, some fields replaced."""
    if name not in PRESETS:
        raise InputError(f"no preset is called {name!r}; choose one of {', '.join(PRESETS)}")
    return PRESETS[name].with_overrides(overrides)
