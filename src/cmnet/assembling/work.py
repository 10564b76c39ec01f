"""What is made of single parts, as work that can be done anywhere: see `cmnet.processes.each`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cmnet.judgement import Judgement
from cmnet.pairing.surface.breaks import Breaks
from cmnet.pairing.surface.surface import Surface, prepare
from cmnet.parts.part import Part
from cmnet.parts.points import without_noise
from cmnet.settings import Scale


@dataclass(frozen=True, eq=False)
class WithoutNoise:
    """Of part k: the same with its noise averaged away. unit : length of one network unit"""

    parts: Mapping[int, Part]
    unit: float

    def __call__(self, k: int) -> Part:
        return without_noise(self.parts[k], self.unit)

    def only(self, items: Sequence[int]) -> WithoutNoise:
        return replace(self, parts=_bare(self.parts, items))


@dataclass(frozen=True, eq=False)
class SurfaceWork:
    """Of part k: its surface. breaks, judgement : of the network; length : the unit of the first scale"""

    parts: Mapping[int, Part]
    breaks: Mapping[int, Breaks]
    length: float
    scale: Scale
    seed: int
    judgement: Judgement

    def __call__(self, k: int) -> Surface:
        return prepare(self.parts[k], self.length, self.scale, self.seed, self.breaks.get(k), self.judgement)

    def only(self, items: Sequence[int]) -> SurfaceWork:
        breaks = {k: self.breaks[k] for k in items if k in self.breaks}
        return replace(self, parts=_bare(self.parts, items), breaks=breaks)


def _bare(parts: Mapping[int, Part], items: Sequence[int]) -> dict[int, Part]:
    """Some of the parts, without what only outputs look at."""
    return {k: replace(parts[k], colors=None, visual=None) for k in items}
