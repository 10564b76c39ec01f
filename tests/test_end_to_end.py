"""Whole objects, broken by the computer, are put together again: what no test of a single step would notice."""

from dataclasses import dataclass

import numpy as np

import cmnet
from cmnet.data.fracture import fracture
from cmnet.data.shapes import make_shape
from cmnet.data.wear import apply_wear, parse_wear
from cmnet.evaluation.judged_joins import SHIFT, TURN
from cmnet.geometry.pose import Pose


@dataclass(frozen=True)
class Object:
    """What is broken, and how."""

    shape: str
    pieces: int
    wear: str
    seed: int

    def broken(self):
        """The parts, each moved at random, and T_moved_true of each."""
        rng = np.random.default_rng(self.seed)
        clean = fracture(make_shape(self.shape, rng), self.pieces, rng, "weakest", min_volume=0.02)
        parts = apply_wear(clean, parse_wear(self.wear), rng).parts
        T = [Pose.random(rng, 1.0) for _ in parts]
        return [part.moved(T_k) for part, T_k in zip(parts, T, strict=True)], T


def in_place(assembly, parts, T):
    """How many parts of the largest group lie where they belong, seen from the one of them that most agree with."""
    size = np.ptp(np.concatenate([T_k.inverse().apply(part.vertices) for part, T_k in zip(parts, T)]), axis=0).max()

    def right(i, j):
        is_ = Pose.from_matrix(assembly.poses[i]).inverse() @ Pose.from_matrix(assembly.poses[j])
        return is_.is_near(T[i] @ T[j].inverse(), TURN, SHIFT * size, parts[j].vertices.mean(axis=0))

    return max((sum(right(i, j) for j in group) for group in assembly.groups for i in group), default=0)


def test_a_worn_object_is_put_together_by_its_surfaces_alone():
    """What is seen from afar settles it."""
    parts, T = Object("stone", 5, "erosion=0.03", seed=3).broken()
    assert in_place(cmnet.assemble(parts, weights="none"), parts, T) >= 4


def test_a_worn_object_is_put_together_by_the_relief_of_its_breaks_alone(monkeypatch):
    """No crease and no match suggests a pose."""
    for name in ("pairing.pair.propose", "pairing.pair.propose_touching", "assembling.match.suggestions"):
        monkeypatch.setattr(f"cmnet.{name}", lambda *_: [])
    monkeypatch.setattr("cmnet.assembler.poses_from_matches", lambda *_: [])
    parts, T = Object("stone", 3, "erosion=0.02", seed=3).broken()
    assert in_place(cmnet.assemble(parts), parts, T) == 3


def test_noisy_clouds_are_put_together():
    """A part that no other alone has a sure place for has one beside both."""
    parts, T = Object("stone", 3, "points=9000,noise=0.001", seed=2).broken()
    assert all(part.faces is None for part in parts)
    assert in_place(cmnet.assemble(parts, weights="none"), parts, T) == 3


def test_what_is_known_to_be_one_object_goes_where_it_most_likely_belongs():
    """So noisy are these clouds that no join is likely by itself."""
    parts, T = Object("stone", 4, "points=6000,noise=0.003", seed=5).broken()
    assert in_place(cmnet.assemble(parts, weights="none", one_object=True), parts, T) >= 3
