"""Wear: what time and the scanner do to fragments. Optional, seeded, and the contacts that remain are measured."""

from __future__ import annotations

from dataclasses import dataclass, replace

import manifold3d
import numpy as np

from cmnet.data.fracture import Fracture, chips
from cmnet.data.fracture.cut import Limits, cut
from cmnet.data.fracture.engine import crack_roughness
from cmnet.data.fracture.solid import Mesh, Solid, bodies
from cmnet.data.presets import parse_preset
from cmnet.data.surface_samples import SurfaceSamples, lies_on, sample_triangles
from cmnet.data.worn_surface import eroded, flagged_body, noisy, uneven_cloud, with_holes
from cmnet.errors import InputError
from cmnet.geometry.types import Array, Bools
from cmnet.parts.part import Part

Rng = np.random.Generator

FINEST = 0.024  # edge to which surfaces are refined before they are worn


@dataclass(frozen=True)
class Wear:
    """How worn. Lengths are shares of the object's largest side; every default means none."""

    erosion: float = 0.0  # depth to which the edges of the breaks are rounded off
    chips: float = 0.0  # mean number of chips lost from the edges of each piece
    missing: float = 0.0  # share of the pieces that are lost; two always remain
    noise: float = 0.0  # standard deviation of the scanner's noise
    holes: float = 0.0  # mean number of holes in each scan
    decimation: float = 0.0  # how far a simplified surface may be from the scanned one
    points: int = 0  # pieces become clouds of this many points an object; 0 keeps meshes
    uneven: float = 0.0  # how uneven a cloud is: the logarithm of the ratio of its densities
    units: float = 1.0  # length of one unit: 0.001 gives coordinates in thousandths
    foreign: int = 0  # pieces of other objects among these


PRESETS = {
    "none": Wear(),
    "light": Wear(erosion=0.004, chips=0.5, noise=0.0005),
    "heavy": Wear(erosion=0.012, chips=2.0, missing=0.1, noise=0.001, holes=0.5, decimation=0.001),
    "scan": Wear(erosion=0.004, noise=0.001, holes=1.0, points=20_000, uneven=1.5, units=0.001),
}


def parse_wear(text: str) -> Wear:
    """A preset's name, or `key=value,key=value`, or a preset followed by changes: `light,missing=0.2`."""
    return _checked(parse_preset(text, PRESETS, Wear(), "wear"), text)


def _checked(wear: Wear, text: str) -> Wear:
    lengths = (wear.erosion, wear.noise, wear.decimation)
    if min(*lengths, wear.chips, wear.holes, wear.points, wear.uneven, wear.foreign) < 0 or max(lengths) > 0.1:
        raise InputError(f"wear {text!r}: values are not negative, lengths at most 0.1 of the object's size")
    if not 0 <= wear.missing < 1 or wear.units <= 0:
        raise InputError(f"wear {text!r}: missing is a share below 1, units are above 0")
    return wear


def apply_wear(broken: Fracture, wear: Wear, rng: Rng, foreign: list[Part] | None = None) -> Fracture:
    """Wear a broken object. `foreign` pieces join it; contacts become what of them remains."""
    size = float(np.ptp(np.concatenate([part.vertices for part in broken.parts]), axis=0).max())
    kept = _remaining(len(broken.parts), wear.missing, rng)
    clean = Fracture(
        [broken.parts[k] for k in kept],
        broken.mechanism,
        broken.contacts[np.ix_(kept, kept)],
        [broken.broken[k] for k in kept],
        broken.repairs,
    )
    worn = [wear_part(part, flags, wear, size, rng) for part, flags in zip(clean.parts, clean.broken, strict=True)]
    contacts = _remaining_contacts(clean, [part for part, _ in worn], size, wear, rng)
    if wear.points:
        worn = _as_clouds(worn, wear, rng)
    worn += [(part, np.zeros(0 if part.faces is None else len(part.faces), dtype=bool)) for part in foreign or []]
    return _collected(worn, contacts, clean, wear)


def _remaining(pieces: int, missing: float, rng: Rng) -> list[int]:
    """Which pieces are left; the two largest always are."""
    lost = (rng.random(pieces) < missing) & (np.arange(pieces) >= 2)
    return [k for k in range(pieces) if not lost[k]]


def wear_part(part: Part, broken: Bools, wear: Wear, size: float, rng: Rng) -> tuple[Part, Bools]:
    """Chips, rounded edges, noise, simplification, holes: in the order in which they happen.

    broken : (m,) bool, which faces are broken surface → the part, and which of its faces are
    """
    body = flagged_body(part.vertices / size, np.asarray(part.faces), broken)
    skin, crack = body[1]
    solid = Solid(body[0])
    for _ in range(rng.poisson(wear.chips)):
        solid = _without_chip(solid, rng)
    if wear.erosion or wear.noise:
        solid = Solid(solid.body.refine_to_length(max(1.5 * wear.erosion, FINEST)))
    mesh = solid.mesh
    vertices = mesh.vertices
    if wear.erosion:
        vertices = eroded(vertices, mesh.faces, mesh.source == skin, wear.erosion)
    if wear.noise:
        vertices = noisy(vertices, mesh.faces, wear.noise, rng)
    if wear.erosion or wear.noise or wear.decimation:
        tolerance = max(wear.decimation, wear.noise, 1.5e-4)
        mesh, vertices = _simplified(replace(mesh, vertices=vertices), tolerance, (skin, crack))
    faces, flags = mesh.faces, mesh.source != skin
    if wear.holes:
        keep = with_holes(vertices, faces, rng.poisson(wear.holes), rng)
        faces, flags = faces[keep], flags[keep]
    return Part(part.name, vertices * size, faces), flags


def _without_chip(solid: Solid, rng: Rng) -> Solid:
    """Lose one chip off the edge of a crack. The surface that it leaves is broken surface too."""
    share = float(np.exp(rng.uniform(np.log(5e-4), np.log(1e-2))))
    section = chips.propose(solid, share, rng)
    pair = None if section is None else cut(solid, section, crack_roughness(section, rng), Limits(0.0, 0.0), rng)
    return solid if pair is None else max(pair, key=lambda body: body.volume)


def _simplified(mesh: Mesh, tolerance: float, sources: tuple[int, int]) -> tuple[Mesh, Array]:
    """Fewer faces within the tolerance; a piece that would fall apart is left as it is."""
    body, _ = flagged_body(mesh.vertices, mesh.faces, mesh.source != sources[0], sources)
    simple = body.simplify(tolerance)
    whole = bodies(simple) if simple.status() == manifold3d.Error.NoError else []
    return (whole[0].mesh, whole[0].mesh.vertices) if len(whole) == 1 else (mesh, mesh.vertices)


def _remaining_contacts(clean: Fracture, worn: list[Part], size: float, wear: Wear, rng: Rng) -> Array:
    """The share of every clean contact on which both worn pieces still have their surface, as an area."""
    if not (wear.erosion or wear.chips or wear.noise or wear.holes or wear.decimation):
        return clean.contacts
    tolerance = max(1.5e-3, 3 * wear.noise, 2 * wear.decimation)
    flags = clean.broken
    on_break = [
        sample_triangles(p.triangles[f] / size, 3000, rng) if f.any() else None
        for p, f in zip(clean.parts, flags, strict=True)
    ]
    before = [sample_triangles(part.triangles / size, 10_000, rng) for part in clean.parts]
    after = [sample_triangles(part.triangles / size, 10_000, rng) for part in worn]
    result = np.zeros_like(clean.contacts)
    for i, j in np.argwhere(np.triu(clean.contacts) > 0):
        patch = on_break[i]
        if patch is not None:
            met, left = (_met(patch, state[i], state[j], tolerance) for state in (before, after))
            share = (met & left).sum() / max(int(met.sum()), 1)
            result[i, j] = result[j, i] = clean.contacts[i, j] * share
    return result


def _met(patch: SurfaceSamples, own: SurfaceSamples, other: SurfaceSamples, tolerance: float) -> Bools:
    """Which samples of a break lie on the piece's own surface and on the other's, facing it."""
    return lies_on(patch, own, tolerance, facing=False) & lies_on(patch, other, tolerance)


def _as_clouds(worn: list[tuple[Part, Bools]], wear: Wear, rng: Rng) -> list[tuple[Part, Bools]]:
    total = sum(part.area for part, _ in worn)
    clouds = []
    for part, _ in worn:
        points, normals = uneven_cloud(part.triangles, max(64, int(wear.points * part.area / total)), wear.uneven, rng)
        clouds.append((Part(part.name, points, None, normals), np.zeros(0, dtype=bool)))
    return clouds


def _collected(worn: list[tuple[Part, Bools]], contacts: Array, clean: Fracture, wear: Wear) -> Fracture:
    """Name the pieces anew, in the wanted unit, with no contacts for the foreign ones."""
    count, scale = len(worn), 1 / wear.units
    areas = np.zeros((count, count))
    areas[: len(contacts), : len(contacts)] = contacts * scale**2
    parts = [Part(f"piece_{k}", part.vertices * scale, part.faces, part.normals) for k, (part, _) in enumerate(worn)]
    flags = [flags for _, flags in worn]
    return Fracture(parts, clean.mechanism, areas, flags, clean.repairs, count - len(contacts))
