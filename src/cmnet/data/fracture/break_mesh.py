"""From a mesh to its pieces: the way through the fracture generator on one screen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cmnet.data.fracture.contact import contact_areas
from cmnet.data.fracture.cut import Limits
from cmnet.data.fracture.engine import MECHANISMS, break_solid
from cmnet.data.fracture.intake import Intact, MeshLike, prepare
from cmnet.data.fracture.solid import Solid
from cmnet.errors import InputError
from cmnet.geometry.types import Array, Bools
from cmnet.parts.part import Part

MOST_PIECES = 50
LEAST_SHARE = 2e-5  # of the object's volume, the smallest piece unless the caller asks for more
SLIVER = 0.12  # a body whose V/A is below this share of the object's is no piece
# How often each mechanism is drawn when none is asked for.
FREQUENCY = {"weakest": 0.62, "impact": 0.1, "chips": 0.1, "recursive": 0.1, "voronoi": 0.08}
TRIES = 4


@dataclass(frozen=True, eq=False)
class Fracture:
    """A broken object.

    parts     : its pieces in their assembled places, largest first
    mechanism : how it broke
    contacts  : (p, p) float symmetric, the exact area in which two pieces touch
    broken    : per part (m,) bool, which of its faces are broken surface and not the object's skin
    repairs   : what had to be mended in the mesh before, in words
    foreign   : the last so many pieces belong to other objects
    """

    parts: list[Part]
    mechanism: str
    contacts: Array
    broken: list[Bools]
    repairs: tuple[str, ...] = ()
    foreign: int = 0


def fracture(
    mesh: MeshLike | Intact,
    pieces: int,
    rng: np.random.Generator,
    mechanism: str | None = None,
    min_volume: float | None = None,
) -> Fracture:
    """Break a watertight mesh into `pieces` connected pieces.

    mesh       : a trimesh, (vertices, faces), or what `prepare` made of one (cheaper for many breaks of one object)
    mechanism  : one of MECHANISMS; None draws one
    min_volume : the least share of the volume a piece may have, at most 1 / pieces (Breaking Bad v2: 1 / 40)
    """
    intact = mesh if isinstance(mesh, Intact) else prepare(mesh)
    _check(intact, pieces, mechanism, min_volume)
    share = LEAST_SHARE if min_volume is None else min_volume
    area = sum(solid.area for solid in intact.solids)
    limits = Limits(share * intact.volume, SLIVER * intact.volume / area)
    for _ in range(TRIES):
        drawn = mechanism or str(rng.choice(list(FREQUENCY), p=list(FREQUENCY.values())))
        solids = _break_all(intact, pieces, drawn, limits, rng)
        if len(solids) == pieces:
            return _result(intact, solids, drawn)
    raise InputError(
        f"{intact.name}: cannot be split into {pieces} pieces of at least {share:.2g} of its volume each; "
        "ask for fewer pieces or a smaller least volume"
    )


def _check(intact: Intact, pieces: int, mechanism: str | None, min_volume: float | None) -> None:
    least = max(2, len(intact.solids))
    if len(intact.solids) > MOST_PIECES:
        raise InputError(f"{intact.name}: has {len(intact.solids)} separate bodies, at most {MOST_PIECES} are allowed")
    if not least <= pieces <= MOST_PIECES:
        bodies = f" (it has {len(intact.solids)} separate bodies)" if least > 2 else ""
        raise InputError(f"{intact.name}: pieces must be between {least} and {MOST_PIECES}{bodies}, not {pieces}")
    if mechanism is not None and mechanism not in MECHANISMS:
        raise InputError(f"no mechanism {mechanism!r}; choose one of {', '.join(MECHANISMS)}")
    if min_volume is not None and not 0 < min_volume <= 0.8 / pieces:
        raise InputError(
            f"the least volume of {pieces} pieces must be above 0 and at most {0.8 / pieces:.3g}, not {min_volume}"
        )


def _break_all(intact: Intact, pieces: int, mechanism: str, limits: Limits, rng: np.random.Generator) -> list[Solid]:
    """Share the pieces out over the object's separate bodies by volume, and break each of them."""
    counts = [1] * len(intact.solids)
    for _ in range(pieces - len(counts)):
        counts[int(np.argmax([s.volume / c for s, c in zip(intact.solids, counts, strict=True)]))] += 1
    result = []
    for solid, count in zip(intact.solids, counts, strict=True):
        result += [solid] if count == 1 else break_solid(solid, count, mechanism, limits, rng)
    return sorted(result, key=lambda solid: -solid.volume)


def _result(intact: Intact, solids: list[Solid], mechanism: str) -> Fracture:
    meshes = [solid.mesh for solid in solids]
    skin = np.unique(np.concatenate([solid.mesh.source for solid in intact.solids]))
    contacts, broken = contact_areas(meshes, skin)
    parts = [Part(f"piece_{k}", mesh.vertices * intact.scale, mesh.faces) for k, mesh in enumerate(meshes)]
    return Fracture(parts, mechanism, contacts * intact.scale**2, broken, intact.repairs)
