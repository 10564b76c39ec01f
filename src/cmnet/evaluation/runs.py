"""One evaluation in shares, which any process can answer in any order."""

from __future__ import annotations

from collections.abc import Container, Iterator
from functools import cache, partial
from typing import TYPE_CHECKING

from cmnet.evaluation.cases import Load, assembly_case, pair_case
from cmnet.evaluation.choices import ASSEMBLY
from cmnet.evaluation.methods import Makers, method_makers
from cmnet.evaluation.predictions import Prediction, Settings
from cmnet.evaluation.protocol import MakeCase, predict
from cmnet.evaluation.selection import loader
from cmnet.model.weights import NO_WEIGHTS
from cmnet.processes import each

if TYPE_CHECKING:
    from cmnet.data.objects import FolderObjects

Share = tuple[int, tuple[str, ...]]  # number of a fracture, and the methods to ask about it


def makers_of(settings: Settings) -> Makers:
    """The methods that the settings ask for, by name."""
    weights = settings.weights or NO_WEIGHTS
    points = settings.points if settings.solver is None else settings.network_points
    how = points, settings.seed, settings.solver, settings.one_object, settings.protocol
    return method_makers(settings.method, weights, *how)


def question(task: str, load: Load | None = None) -> MakeCase:
    """What is asked about an object in this task. load : gives the methods the parts themselves, not only samples"""
    return partial(assembly_case if task == ASSEMBLY else pair_case, load=load)


def shares(settings: Settings, names: list[str], done: Container[tuple[str, str]]) -> list[Share]:
    """What is still to be answered. names : of the fractures; done : pairs (fracture, method)"""
    methods = tuple(makers_of(settings))
    todo = [(k, tuple(m for m in methods if (name, m) not in done)) for k, name in enumerate(names)]
    return [(k, missing) for k, missing in todo if missing]


def predict_shares(
    settings: Settings, objects: FolderObjects, todo: list[Share], workers: int = 1
) -> Iterator[list[Prediction]]:
    """The predictions for each share of these objects, as they come."""
    if workers == 1:
        yield from map(_Desk(settings, objects).answer, todo)
    else:
        for _, predictions in each(partial(_answer, settings, objects), todo, workers, start="spawn"):
            yield predictions


class _Desk:
    """What a process makes once: methods that keep their network, and the question."""

    def __init__(self, settings: Settings, objects: FolderObjects) -> None:
        self.settings, self.objects, self.makers = settings, objects, makers_of(settings)
        load = None if settings.solver is None else loader(objects)
        self.make_case = question(settings.task, load)

    def answer(self, share: Share) -> list[Prediction]:
        index, methods = share
        asked = {method: self.makers[method] for method in methods}
        return list(predict([self.objects[index]], asked, self.settings.seed, make_case=self.make_case))


_desk = cache(_Desk)


def _answer(settings: Settings, objects: FolderObjects, share: Share) -> list[Prediction]:
    return _desk(settings, objects).answer(share)
