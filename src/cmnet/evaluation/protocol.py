"""The paper's relative-pose protocol in two stages: `predict` asks the methods, `score` compares with the truth."""

from __future__ import annotations

import logging
import time
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from cmnet.errors import InputError
from cmnet.evaluation.cases import Array, Case, pair_case
from cmnet.evaluation.methods import Makers, Method
from cmnet.evaluation.metrics import chamfer, crd, geodesic_rotation, part_accuracy, rmse_rotation, rmse_translation
from cmnet.evaluation.predictions import HOW_TO_REPLACE, Prediction
from cmnet.geometry.pose import Pose

if TYPE_CHECKING:
    from cmnet.data.objects import SampledObject

log = logging.getLogger("cmnet")

PA_CRD = 0.1  # a part counts as placed below this CRD ...
PA_CD = 0.01  # ... and below this Chamfer distance, both unscaled
SIZES = (0.5, 2.0)  # largest side of an object for which these thresholds make sense

# Printed with every number: the field's figures mean nothing without these choices.
CHOICES = (
    "Every fracture is judged by the two parts that touch most; the one of larger area is the anchor and stays put.",
    "Parts enter centred on their own mean and turned at random, seeded by the object's name.",
    "CRD and CD are means over the points of both parts, the anchor's included, in the object's given unit (size 1).",
    f"PA is the share of both parts, the anchor included (so 50 % is the floor), with CRD < {PA_CRD} or CD < {PA_CD}.",
    "RMSE(R), geodesic and RMSE(T) are of the moved part. RMSE(R) is the field's Euler number (chance 86°), "
    "not the angle between the rotations (chance 126°).",
    "A part without an answer is judged where it entered: unturned, its mean on the anchor's mean.",
)


@dataclass(frozen=True)
class Errors:
    """In the paper's units."""

    crd: float  # ×1e-2
    cd: float  # ×1e-3
    rmse_r: float  # degrees, Euler
    rmse_t: float  # ×1e-2
    geodesic_r: float  # degrees
    pa_crd: float  # %
    pa_cd: float  # %


@dataclass(frozen=True, kw_only=True)
class ObjectScore(Errors):
    """The errors of one method on one fracture."""

    path: str  # name of the fracture
    method: str
    pieces: int  # of the fracture
    unplaced: int  # parts without an answer
    seconds: float  # for the answer

    @property
    def subset(self) -> str:
        return self.path.split("/")[0]


def predict(
    objects: Iterable[SampledObject],
    makers: Makers,
    seed: int = 0,
    done: Container[tuple[str, str]] = (),
) -> Iterator[Prediction]:
    """Ask every method about every object, except for the pairs (object's name, method's name) in `done`.

    A method is made when its first answer is due, outside its time: scoring an exported file loads no network.
    """
    make = cache(lambda label: makers[label]())
    for obj in objects:
        labels = [label for label in makers if (obj.name, label) not in done]
        case = pair_case(obj, seed) if labels else None
        if case is not None:
            yield from (_ask(case, label, make(label)) for label in labels)


def _ask(case: Case, label: str, method: Method) -> Prediction:
    start = time.perf_counter()
    poses = np.array(method(case.puzzle), dtype=np.float64)
    seconds = time.perf_counter() - start
    poses[~np.isfinite(poses).all(axis=(1, 2))] = np.nan
    return Prediction(case.puzzle.name, label, case.parts, case.puzzle.anchor, poses, case.centres, seconds)


def score(
    objects: Iterable[SampledObject], predictions: Iterable[Prediction], methods: Sequence[str], seed: int = 0
) -> list[ObjectScore]:
    """Compare the predictions of `methods` with the truth, in the order of paths and methods. None may be missing."""
    known = {(prediction.name, prediction.method): prediction for prediction in predictions}
    scores, apart, odd = [], [], []
    for obj in objects:
        case = pair_case(obj, seed)
        if case is None:
            apart.append(obj.name)
            continue
        if not SIZES[0] <= _size(obj) <= SIZES[1]:
            odd.append(obj.name)
        for method in methods:
            if (obj.name, method) not in known:
                raise InputError(f"there is no prediction of {method} for {obj.name}; {HOW_TO_REPLACE}")
            scores.append(score_case(case, known[obj.name, method]))
    _warn("no two parts touch, so these are left out", apart)
    _warn("the size is not about 1, so CRD, CD, RMSE(T) and PA do not compare with published ones", odd)
    return sorted(scores, key=lambda s: (s.path, methods.index(s.method)))


def score_case(case: Case, prediction: Prediction) -> ObjectScore:
    """The errors of one prediction."""
    same = (prediction.parts, prediction.anchor) == (case.parts, case.puzzle.anchor)
    if not same or not np.allclose(prediction.centres, case.centres, rtol=0, atol=1e-6):
        raise InputError(f"{prediction.name} is not the object it was at prediction; {HOW_TO_REPLACE}")
    placed = prediction.placed
    poses = np.where(placed[:, None, None], prediction.poses, np.eye(4))
    errors = measure([points.xyz for points in case.puzzle.points], poses, case.truth, case.puzzle.anchor)
    return ObjectScore(
        **asdict(errors),
        path=prediction.name,
        method=prediction.method,
        pieces=case.pieces,
        unplaced=int((~placed).sum()),
        seconds=prediction.seconds,
    )


def measure(parts: Sequence[Array], poses: Array, truth: Array, anchor: int) -> Errors:
    """The errors of a predicted assembly of any number of parts.

    parts : p arrays (n_i, 3) float; poses, truth : (p, 4, 4) float, T_anchor_part; the anchor's are the identity
    """
    predicted, true = [Pose.from_matrix(T) for T in poses], [Pose.from_matrix(T) for T in truth]
    moved = [(predicted[k], true[k]) for k in range(len(parts)) if k != anchor]
    places = [T.apply(points) for T, points in zip(predicted, parts)]
    true_places = [T.apply(points) for T, points in zip(true, parts)]
    crds = [crd(*part) for part in zip(parts, predicted, true)]
    return Errors(
        crd=1e2 * float(np.average(crds, weights=[len(points) for points in parts])),
        cd=1e3 * chamfer(np.concatenate(places), np.concatenate(true_places)),
        rmse_r=float(np.mean([rmse_rotation(*pair) for pair in moved])),
        rmse_t=1e2 * float(np.mean([rmse_translation(*pair) for pair in moved])),
        geodesic_r=float(np.mean([geodesic_rotation(*pair) for pair in moved])),
        pa_crd=1e2 * part_accuracy(crds, PA_CRD),
        pa_cd=1e2 * part_accuracy([chamfer(*part) for part in zip(places, true_places)], PA_CD),
    )


def _size(obj: SampledObject) -> float:
    """The largest side of the object's box."""
    return float(np.ptp(np.concatenate([points.xyz for points in obj.points]), axis=0).max())


def _warn(what: str, names: list[str]) -> None:
    if names:
        log.warning("%s: %d fractures, the first is %s", what, len(names), names[0])
