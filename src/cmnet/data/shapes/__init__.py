"""Procedural shapes to break: watertight, endlessly varied, and the same for the same random source.

make_shape("mug", rng) → trimesh.Trimesh, upright along y, its largest side 1
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import trimesh
from manifold3d import Manifold

from cmnet.data.fracture.solid import bodies
from cmnet.data.shapes import forms, heldout, things, vessels
from cmnet.errors import InputError

# The twenty categories of Breaking Bad's everyday objects.
EVERYDAY: dict[str, Callable[[np.random.Generator], Manifold]] = {
    "beer_bottle": vessels.beer_bottle,
    "bottle": vessels.bottle,
    "bowl": vessels.bowl,
    "cookie": things.cookie,
    "cup": vessels.cup,
    "drink_bottle": vessels.drink_bottle,
    "drinking_utensil": vessels.drinking_utensil,
    "mirror": things.mirror,
    "mug": vessels.mug,
    "pill_bottle": vessels.pill_bottle,
    "plate": vessels.plate,
    "ring": things.ring,
    "spoon": things.spoon,
    "statue": things.statue,
    "teacup": vessels.teacup,
    "teapot": vessels.teapot,
    "toy_figure": things.toy_figure,
    "vase": vessels.vase,
    "wine_bottle": vessels.wine_bottle,
    "wine_glass": vessels.wine_glass,
}
FORMS: dict[str, Callable[[np.random.Generator], Manifold]] = {
    "blob": forms.blob,
    "branch": forms.branch,
    "horn": forms.horn,
    "slab": forms.slab,
    "stem": forms.stem,
    "stone": forms.stone,
    "tile": forms.tile,
}
HELD_OUT: dict[str, Callable[[np.random.Generator], Manifold]] = {
    "amphora": heldout.amphora,
    "bell": heldout.bell,
    "bone": heldout.bone,
    "bust": heldout.bust,
    "candlestick": heldout.candlestick,
    "jug": heldout.jug,
    "tablet": heldout.tablet,
    "tray": heldout.tray,
}
_ALL = {**EVERYDAY, **FORMS, **HELD_OUT}
SHAPES: tuple[str, ...] = tuple(_ALL)
SHORTEST = 1e-5  # shorter edges, left over from uniting bodies, are collapsed


def make_shape(name: str, rng: np.random.Generator) -> trimesh.Trimesh:
    """A random object of one category: one connected watertight body, y up, centred, its largest side 1."""
    if name not in _ALL:
        raise InputError(f"no shape {name!r}; choose one of {', '.join(SHAPES)}")
    body = bodies(_ALL[name](rng))[0].body.rotate((-90, 0, 0))
    low, high = np.split(np.array(body.bounding_box()), 2)
    body = body.translate(tuple(-(low + high) / 2)).scale((1 / float((high - low).max()),) * 3)
    mesh = body.as_original().simplify(SHORTEST).to_mesh64()
    vertices, faces = np.array(mesh.vert_properties)[:, :3], np.array(mesh.tri_verts, dtype=np.int64)
    return trimesh.Trimesh(vertices, faces, process=False)


def category(name: str) -> str:
    """The folder of a shape in Breaking Bad's spelling: beer_bottle → BeerBottle."""
    return "".join(word.capitalize() for word in name.split("_"))
