"""Solids broken in two for tests, and their surfaces."""

from functools import cache

import numpy as np
from manifold3d import Manifold, Mesh

from cmnet.model.weights import DEFAULT, load_network
from cmnet.pairing.surface.surface import prepare, unit_of
from cmnet.parts.part import Part
from cmnet.settings import FIRST


def rough_half_space(rng, size=3.0, n=40, height=0.1):
    """Everything below a bumpy surface near z = 0."""
    x, y = (v.ravel() for v in np.meshgrid(*[np.linspace(-size / 2, size / 2, n)] * 2, indexing="ij"))
    waves = rng.normal(0, 5, (12, 2))
    z = height * np.sin(np.stack([x, y], axis=1) @ waves.T + rng.uniform(0, 6, 12)).mean(axis=1) * 3
    top, bottom = np.stack([x, y, z], axis=1), np.stack([x, y, np.full_like(z, -size)], axis=1)
    cell = np.arange(n * n).reshape(n, n)
    a, b, c, d = (v.ravel() for v in (cell[:-1, :-1], cell[1:, :-1], cell[1:, 1:], cell[:-1, 1:]))
    upper = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    rim = np.concatenate([cell[:-1, 0], cell[-1, :-1], cell[:0:-1, -1], cell[0, :0:-1]])
    after = np.roll(rim, -1)
    below = rim + n * n, after + n * n
    wall = np.concatenate([np.stack([rim, below[1], after], axis=1), np.stack([rim, *below], axis=1)])
    faces = np.concatenate([upper, upper[:, ::-1] + n * n, wall])
    return Manifold(Mesh(np.concatenate([top, bottom]).astype(np.float32), faces.astype(np.uint32)))


def to_part(name, solid):
    mesh = solid.to_mesh()
    return Part(
        name, np.asarray(mesh.vert_properties[:, :3], dtype=np.float64), np.asarray(mesh.tri_verts, dtype=np.int64)
    )


def broken(solid, rng, offset=(0.0, 0.0, 0.0)):
    """The two parts of a solid cut by a rough surface, in their assembled places, the larger first."""
    knife = rough_half_space(rng).translate(list(offset))
    parts = [to_part("lower", solid ^ knife), to_part("upper", solid - knife)]
    return sorted(parts, key=lambda p: -p.area)


def solid_bar():
    return Manifold.cube([0.5, 0.35, 1.0], True)


def thin_bowl(thickness=0.02):
    shell = Manifold.sphere(0.5, 96) - Manifold.sphere(0.5 - thickness, 96)
    # Turned so that the break runs across the bowl from rim to rim.
    return shell.trim_by_plane([0.0, 1.0, 0.0], 0.1)


def prepared(parts, look=FIRST):
    unit = unit_of(parts)
    return [prepare(part, unit, look) for part in parts]


@cache
def fitted():
    """The tables of the shipped network."""
    return load_network(DEFAULT).judgement


def solid_egg():
    return Manifold.sphere(0.5, 128).scale([1.0, 0.8, 0.7])


def broken_twice(rng):
    """The four parts of an egg cut lengthwise and across: parts 0 and 3, and 1 and 2, meet in an edge only."""
    across, along = rough_half_space(rng), rough_half_space(rng).rotate([0.0, 90.0, 0.0])
    halves = [solid_egg() ^ across, solid_egg() - across]
    quarters = [piece for half in halves for piece in (half ^ along, half - along)]
    return [to_part(f"quarter {k}", piece) for k, piece in enumerate(quarters)]


def thin_neck(radius):
    """A block and an egg on a neck: the break through it is tiny beside the two."""
    neck = Manifold.cylinder(0.5, radius, 0.8 * radius, 48, True)
    egg = Manifold.sphere(0.35, 64).scale([1.0, 0.8, 0.7]).translate([0.0, 0.0, -0.42])
    return neck + egg + Manifold.cube([0.9, 0.7, 0.5], True).translate([0.0, 0.0, 0.45])
