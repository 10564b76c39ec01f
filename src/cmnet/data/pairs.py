"""Which parts of a broken object make a pair, and which of their points belong together."""

from typing import Literal

import numpy as np
from scipy.spatial import cKDTree

from cmnet.data.objects import LIFT, OPPOSED, SampledObject
from cmnet.errors import InputError
from cmnet.geometry.types import Ints
from cmnet.parts.points import Points

Choice = Literal["random", "most-touching"]


def choose_pairs(
    obj: SampledObject, rng: np.random.Generator, choice: Choice = "random", count: int = 1, apart: float = 0.0
) -> list[tuple[int, int]]:
    """Up to `count` different pairs of parts (p, q); objects with few parts give fewer.

    choice : "random": of the first pair, p is any part that touches another and q the one it shares most area with;
             of further ones, q is any part that p touches, drawn by area.
             "most-touching": one pair, the two that share most area, q the larger part
    apart  : probability that a further pair is one that does not touch, where there is one
    """
    if len(obj.points) < 2:
        raise InputError(f"{obj.name} has {len(obj.points)} part; a pair needs two, so leave such fractures out")
    if choice == "most-touching":
        return [_most_touching(obj)]
    chosen = [_random_parts(obj, rng)]
    strangers = np.argwhere(np.triu(obj.contact == 0, k=1))
    for _ in range(count - 1):
        if rng.random() < apart and len(strangers):
            pair = strangers[rng.integers(len(strangers))]
        else:
            pair = _random_neighbours(obj, rng)
        i, j = map(int, rng.permutation(pair))
        if (i, j) not in chosen and (j, i) not in chosen:
            chosen.append((i, j))
    return chosen


def _random_parts(obj: SampledObject, rng: np.random.Generator) -> tuple[int, int]:
    touching = np.flatnonzero(obj.contact.sum(axis=1) > 0)
    if not len(touching):  # worn or gaping objects: any two will do, they have no match to teach
        i, j = rng.choice(len(obj.points), size=2, replace=False)
        return int(i), int(j)
    i = int(rng.choice(touching))
    return i, int(np.argmax(obj.contact[i]))


def _random_neighbours(obj: SampledObject, rng: np.random.Generator) -> Ints:
    i, j = _random_parts(obj, rng)
    if obj.contact[i].any():
        j = rng.choice(len(obj.points), p=obj.contact[i] / obj.contact[i].sum())
    return np.array([i, j])


def _most_touching(obj: SampledObject) -> tuple[int, int]:
    areas = np.array([p.area for p in obj.points])
    if obj.contact.any():
        pair = np.unravel_index(np.argmax(obj.contact), obj.contact.shape)
    else:
        pair = tuple(np.argsort(-areas, kind="stable")[:2])
    i, j = sorted(map(int, pair))
    return (i, j) if areas[i] <= areas[j] else (j, i)


def true_matches(p: Points, q: Points, radius: float, normals: bool = True) -> Ints:
    """(k, 2) int64: points of two assembled parts that lie within `radius`, in order of index.

    With `normals` they also have to face each other and lie off one another's tangent plane by at most a third of the
    radius: without that, the far skins of a wall thinner than the radius would count as touching.
    """
    near = cKDTree(p.xyz).sparse_distance_matrix(cKDTree(q.xyz), radius, output_type="ndarray")
    i, j = near["i"].astype(np.int64), near["j"].astype(np.int64)
    if normals:
        offset, n_p, n_q = p.xyz[i] - q.xyz[j], p.normals[i], q.normals[j]
        facing = np.einsum("kc,kc->k", n_p, n_q) < OPPOSED
        lift = np.maximum(np.abs(np.einsum("kc,kc->k", offset, n_p)), np.abs(np.einsum("kc,kc->k", offset, n_q)))
        keep = facing & (lift <= LIFT * radius)
        i, j = i[keep], j[keep]
    order = np.lexsort((j, i))
    return np.stack([i[order], j[order]], axis=1)
