"""The paper's protocols in two stages: `predict` asks the methods, `score` compares with the truth."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from cmnet.errors import InputError
from cmnet.evaluation.cases import Case, pair_case
from cmnet.evaluation.choices import MATING, PA_CD, PA_CRD
from cmnet.evaluation.judged_joins import SHIFT, TURN, judge_joins
from cmnet.evaluation.methods import Makers, Method
from cmnet.evaluation.metrics import chamfer, crd, geodesic_rotation, part_accuracy, rmse_rotation, rmse_translation
from cmnet.evaluation.oracle import Oracle, mates
from cmnet.evaluation.predictions import HOW_TO_REPLACE, Prediction
from cmnet.geometry.pose import Pose
from cmnet.geometry.types import Array, Bools

if TYPE_CHECKING:
    from cmnet.data.objects import SampledObject

log = logging.getLogger("cmnet")

SIZES = (0.5, 2.0)  # largest side of an object for which these thresholds make sense

MakeCase = Callable[["SampledObject", int], Case | None]  # (object, seed); None: nothing to judge


@dataclass(frozen=True)
class Errors:
    """In the paper's units."""

    crd: float  # ×1e-2
    cd: float  # ×1e-3
    rmse_r: float  # degrees, Euler
    rmse_t: float  # ×1e-2
    geodesic_r: float  # degrees
    within_5: float  # % of the parts but the anchor with a geodesic error below 5 degrees
    within_10: float  # % below 10 degrees
    pa_crd: float  # %
    pa_cd: float  # %
    in_place: float  # %, within 5 degrees and 2 % of the object's largest side
    crd_mating: float | None  # ×1e-2, over the points on mating surfaces; None where there are none
    rmse_r_all: float  # degrees, Euler, of T_part_anchor, the anchor's zero in the mean
    rmse_t_all: float  # ×1e-2, likewise
    pa_crd_earned: float  # % of the parts but the anchor
    pa_cd_earned: float  # %


@dataclass(frozen=True, kw_only=True)
class ObjectScore(Errors):
    """The errors of one method on one fracture."""

    path: str  # name of the fracture
    method: str
    pieces: int  # of the fracture
    unplaced: int  # parts without an answer
    placed: float  # % of the parts with one, the anchor included
    foreign: int  # parts of other objects among these
    foreign_out: int  # of those, parts without an answer and in no join that is used
    joins: int  # used
    joins_right: int  # of those
    seconds: float  # for the answer

    @property
    def subset(self) -> str:
        return self.path.split("/")[0]

    @property
    def object(self) -> str:
        """The name of what was broken, perhaps more than once."""
        return self.path.rpartition("/")[0] or self.path


def predict(
    objects: Iterable[SampledObject],
    makers: Makers,
    seed: int = 0,
    done: Container[tuple[str, str]] = (),
    make_case: MakeCase = pair_case,
) -> Iterator[Prediction]:
    """Ask every method about every object, except for the pairs (object's name, method's name) in `done`.

    make_case : what is asked about an object
    A method is made when its first answer is due, outside its time: scoring an exported file loads no network.
    """
    make = cache(lambda label: makers[label]())
    for obj in objects:
        labels = [label for label in makers if (obj.name, label) not in done]
        case = make_case(obj, seed) if labels else None
        if case is not None:
            yield from (_ask(case, label, make(label)) for label in labels)


def _ask(case: Case, label: str, method: Method | Oracle) -> Prediction:
    start = time.perf_counter()
    answer = method.answer(case) if isinstance(method, Oracle) else method(case.puzzle)
    seconds = time.perf_counter() - start
    poses = np.array(answer.poses, dtype=np.float64)
    poses[~np.isfinite(poses).all(axis=(1, 2))] = np.nan
    asked = case.puzzle.name, label, case.parts, case.puzzle.anchor
    return Prediction(*asked, poses, case.centres, seconds, answer.joins)


def score(
    objects: Iterable[SampledObject],
    predictions: Iterable[Prediction],
    methods: Sequence[str],
    seed: int = 0,
    make_case: MakeCase = pair_case,
) -> list[ObjectScore]:
    """Compare the predictions of `methods` with the truth, in the order of paths and methods. None may be missing."""
    known = {(prediction.name, prediction.method): prediction for prediction in predictions}
    scores, apart, odd = [], [], []
    for obj in objects:
        case = make_case(obj, seed)
        if case is None:
            apart.append(obj.name)
            continue
        if not SIZES[0] <= case.size <= SIZES[1]:
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
    refuse_changed(case, prediction)
    own, foreign = np.flatnonzero(case.own), np.flatnonzero(~case.own)
    placed, points = prediction.placed[own], [case.puzzle.points[k].xyz for k in own]
    poses = complete(points, prediction.poses[own], placed)
    errors = measure(points, poses, case.truth[own], own.tolist().index(case.puzzle.anchor), case.size)
    used = [join for join in judge_joins(case, prediction.joins) if join.used]
    joined = {k for join in prediction.joins if join.used for k in join.parts}
    return ObjectScore(
        **asdict(errors),
        path=prediction.name,
        method=prediction.method,
        pieces=case.pieces,
        unplaced=int((~placed).sum()),
        placed=100 * float(placed.mean()),
        foreign=len(foreign),
        foreign_out=sum(k not in joined and not prediction.placed[k] for k in foreign),
        joins=len(used),
        joins_right=sum(join.right for join in used),
        seconds=prediction.seconds,
    )


def refuse_changed(case: Case, prediction: Prediction) -> None:
    """A prediction counts for the very object that was asked about."""
    same = (prediction.parts, prediction.anchor) == (case.parts, case.puzzle.anchor)
    if not same or not np.allclose(prediction.centres, case.centres, rtol=0, atol=1e-6):
        raise InputError(f"{prediction.name} is not the object it was at prediction; {HOW_TO_REPLACE}")


def complete(parts: Sequence[Array], poses: Array, placed: Bools) -> Array:
    """Put the parts that are not placed, unturned, with their means on the mean of all points that are.

    parts : p arrays (n_i, 3) float; poses : (p, 4, 4) float; placed : (p,) bool → (p, 4, 4) float
    """
    places = [Pose.from_matrix(T).apply(points) for T, points, known in zip(poses, parts, placed) if known]
    middle = np.concatenate(places).mean(axis=0)
    unturned = np.array([Pose(np.eye(3), middle - points.mean(axis=0)).matrix() for points in parts])
    return np.where(placed[:, None, None], poses, unturned)


def measure(parts: Sequence[Array], poses: Array, truth: Array, anchor: int, size: float = 1.0) -> Errors:
    """The errors of a predicted assembly of any number of parts.

    parts : p arrays (n_i, 3) float; poses, truth : (p, 4, 4) float, T_anchor_part; the anchor's are the identity
    size  : the largest side of the object
    """
    predicted, true = [Pose.from_matrix(T) for T in poses], [Pose.from_matrix(T) for T in truth]
    moved = [(predicted[k], true[k]) for k in range(len(parts)) if k != anchor]
    places = [T.apply(points) for T, points in zip(predicted, parts)]
    true_places = [T.apply(points) for T, points in zip(true, parts)]
    crds = np.array([crd(*part) for part in zip(parts, predicted, true)])
    chamfers = np.array([chamfer(*part) for part in zip(places, true_places)])
    others = np.arange(len(parts)) != anchor
    relative = [(T_pred.inverse(), T_true.inverse()) for T_pred, T_true in zip(predicted, true)]
    angles = np.array([geodesic_rotation(*pair) for pair in moved])
    return Errors(
        crd=1e2 * float(np.average(crds, weights=[len(points) for points in parts])),
        cd=1e3 * chamfer(np.concatenate(places), np.concatenate(true_places)),
        rmse_r=float(np.mean([rmse_rotation(*pair) for pair in moved])),
        rmse_t=1e2 * float(np.mean([rmse_translation(*pair) for pair in moved])),
        geodesic_r=float(angles.mean()),
        within_5=1e2 * float(np.mean(angles < 5)),
        within_10=1e2 * float(np.mean(angles < 10)),
        pa_crd=1e2 * part_accuracy(crds, PA_CRD),
        pa_cd=1e2 * part_accuracy(chamfers, PA_CD),
        in_place=1e2 * float(np.mean([_in_place(*part, size) for part in zip(parts, predicted, true)])),
        crd_mating=_mating_crd(places, true_places, MATING * size),
        rmse_r_all=float(np.mean([rmse_rotation(*pair) for pair in relative])),
        rmse_t_all=1e2 * float(np.mean([rmse_translation(*pair) for pair in relative])),
        pa_crd_earned=1e2 * part_accuracy(crds[others], PA_CRD),
        pa_cd_earned=1e2 * part_accuracy(chamfers[others], PA_CD),
    )


def _mating_crd(places: Sequence[Array], true_places: Sequence[Array], radius: float) -> float | None:
    """CRD ×1e-2 over the points that truly lie within the radius of another part. places : p arrays (n_i, 3) float"""
    mating = [np.zeros(len(points), dtype=bool) for points in places]
    for (i, _), (rows, _) in mates(true_places, radius).items():
        mating[i][rows] = True
    off = np.linalg.norm(np.concatenate(places) - np.concatenate(true_places), axis=1)[np.concatenate(mating)]
    return 1e2 * float(off.mean()) if len(off) else None


def _in_place(points: Array, T_pred: Pose, T_true: Pose, size: float) -> bool:
    """Within the tolerance of a right join, the shift taken where the part has its mean. points : (n, 3) float"""
    mean = points.mean(axis=0)
    shift = float(np.linalg.norm(T_pred.apply(mean) - T_true.apply(mean)))
    return T_pred.angle_to(T_true) < TURN and shift < SHIFT * size


def _warn(what: str, names: list[str]) -> None:
    if names:
        log.warning("%s: %d fractures, the first is %s", what, len(names), names[0])
