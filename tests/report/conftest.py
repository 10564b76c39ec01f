"""A broken vase with known places, for the tests of the report."""

from dataclasses import replace

import numpy as np
import pytest

from cmnet.data.fracture import fracture
from cmnet.data.shapes import make_shape
from cmnet.geometry.pose import Pose
from cmnet.matched import PairMatches
from cmnet.pairing.join import Join
from cmnet.pairing.judge.uncertainty import Uncertainty
from cmnet.parts.part import Part
from cmnet.solving.assembly import Assembly

EVIL = ("<img src=x onerror=alert(1)>", "x</script><script>document.title = 'evil'</script>", "{{facts}}", "Scherbe ü")


@pytest.fixture(scope="session")
def vase():
    """An assembly by true poses, with matches of its surest join, and its parts (the last one stays out)."""
    rng = np.random.default_rng(1)
    pieces = fracture(make_shape("vase", rng), 5, rng, "weakest", min_volume=0.05)
    T = [Pose.identity(), *(Pose.random(rng, spread=1.0) for _ in pieces.parts[1:])]
    names = [*EVIL, *(f"piece_{k}" for k in range(len(EVIL), len(T)))]
    parts = [Part(name, t.apply(p.vertices), p.faces) for name, t, p in zip(names, T, pieces.parts, strict=True)]
    last = len(parts) - 1
    joins = [
        Join((i, j), T[i] @ T[j].inverse(), float(0.9 + 0.02 * i), float(pieces.contacts[i, j]), 1e-3, 0.0, j != last)
        for i, j in zip(*np.nonzero(np.triu(pieces.contacts)))
    ]
    joins.sort(key=lambda join: -join.confidence)
    poses = np.stack([t.inverse().matrix() for t in T])
    poses[last] = np.eye(4)
    near = parts[joins[0].parts[1]].vertices[:40]
    scores = np.linspace(0, 1, 40), np.full(40, 0.8), np.full(40, 0.6)
    matches = {joins[0].parts: PairMatches(joins[0].T_i_j.apply(near), near, *scores)}
    off = Uncertainty(np.diag([1e-4, 1e-4, 2e-4, 0.01, 0.01, 0.02]), 0.2, 1.2)
    joins[0] = replace(joins[0], uncertainty=off)
    known = [Uncertainty(np.zeros((6, 6)), 0.0, 0.0), *[off] * (last - 1), None]
    notes = ["piece 1 could not be <b>fixed</b>"]
    return Assembly(poses, [list(range(last))], [last], joins, notes, matches, uncertainties=known), parts
