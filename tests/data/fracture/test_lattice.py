import numpy as np
import pytest
import trimesh
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from cmnet.data.fracture.lattice import build_lattice


def lattice_of(mesh: trimesh.Trimesh, **options: int):
    return build_lattice(np.asarray(mesh.vertices), np.asarray(mesh.faces), mesh.volume, mesh.area, **options)


@pytest.mark.parametrize("nodes", [500, 3000])
def test_a_solid_ball_is_filled_with_about_the_wanted_voxels(nodes: int) -> None:
    lattice = lattice_of(trimesh.creation.icosphere(3), nodes=nodes)
    assert 0.5 * nodes < len(lattice.cells) < 1.5 * nodes
    assert np.linalg.norm(lattice.points, axis=1).max() < 1 + lattice.spacing * np.sqrt(3)
    centre = np.linalg.norm(lattice.points, axis=1) < 0.5
    assert (lattice.fill[centre] == 1).all()


def test_a_thin_shell_stays_hollow_and_connected() -> None:
    outer, inner = trimesh.creation.icosphere(4, 1.0), trimesh.creation.icosphere(4, 0.98)
    shell = trimesh.boolean.difference([outer, inner], engine="manifold")
    lattice = lattice_of(shell)
    assert np.linalg.norm(lattice.points, axis=1).min() > 0.9
    graph = coo_array((np.ones(len(lattice.edges)), lattice.edges.T), shape=(len(lattice.cells),) * 2)
    assert connected_components(graph, directed=False)[0] == 1


def test_shares_add_up_and_rims_are_more_exposed_than_the_middle() -> None:
    lattice = lattice_of(trimesh.creation.box((1, 1, 0.03)))
    assert lattice.volumes.sum() == pytest.approx(1)
    assert lattice.exposure.sum() == pytest.approx(1)
    corner = np.abs(lattice.points[:, :2]).min(axis=1) > 0.45
    middle = np.abs(lattice.points[:, :2]).max(axis=1) < 0.2
    assert lattice.exposure[corner].mean() > 3 * lattice.exposure[middle].mean()
