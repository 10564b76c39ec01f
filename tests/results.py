"""A small assembly made by hand: what the tests of outputs write."""

from dataclasses import replace

import numpy as np
import trimesh

from cmnet.geometry.pose import Pose
from cmnet.pairing.join import FIGURES, Join
from cmnet.pairing.judge.uncertainty import Uncertainty
from cmnet.parts.part import Part
from cmnet.solving.assembly import Assembly

OFF = Uncertainty(np.diag([1e-4, 1e-4, 2e-4, 0.01, 0.01, 0.02]), 0.2, 1.15)
BALL = trimesh.creation.icosphere(1)
NAMES = ("Scherbe Ü 1", "../../etc/passwd", "<img src=x onerror=alert(1)>", "=cmd|' /C calc'!A0")


def unmeasured(assembly):
    """The same, by a solver that looks at no surface."""
    nothing = dict.fromkeys((*FIGURES, "uncertainty"))
    return replace(assembly, joins=[replace(join, **nothing) for join in assembly.joins])


def hand_made(names=NAMES, faces=BALL.faces):
    """Parts, all the same ball somewhere else: the first two placed, one group of one more pair, the last loose."""
    rng = np.random.default_rng(0)
    parts = [Part(name, np.asarray(BALL.vertices) + 5 * k, np.asarray(faces)) for k, name in enumerate(names)]
    poses = np.stack([np.eye(4), *(Pose.random(rng, 2.0).matrix() for _ in names[2:]), np.eye(4)])
    joins = [
        Join((0, 1), Pose.from_matrix(poses[1]), 0.97, 0.03, 0.002, 0.001, True, OFF),
        Join((1, 2), Pose.random(rng), 0.2, 0.01, float("inf"), 0.1),
    ]
    known = [Uncertainty(np.zeros((6, 6)), 0.0, 0.0), *[OFF] * (len(names) - 2), None]
    return Assembly(poses, [list(range(len(names) - 1))], [len(names) - 1], joins, uncertainties=known), parts
