import numpy as np
import pytest
import trimesh

from cmnet.data.fracture.selfcross import crossing_faces
from cmnet.data.shapes import EVERYDAY, FORMS, HELD_OUT, SHAPES, category, make_shape
from cmnet.errors import InputError


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_are_sound_and_of_size_one(name: str) -> None:
    for seed in (0, 1):
        mesh = make_shape(name, np.random.default_rng(seed))
        read = trimesh.Trimesh(mesh.vertices, mesh.faces)  # as a reader that joins close vertices sees it
        assert read.is_watertight
        assert read.is_winding_consistent
        assert mesh.volume > 0
        assert np.ptp(mesh.vertices, axis=0).max() == pytest.approx(1)
        assert len(crossing_faces(mesh.vertices, mesh.faces)) == 0


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_vary_with_the_seed_and_only_with_it(name: str) -> None:
    first, again, other = (make_shape(name, np.random.default_rng(seed)) for seed in (3, 3, 4))
    assert np.array_equal(first.vertices, again.vertices)
    assert abs(first.volume - other.volume) > 1e-6


def test_walls_are_as_thin_and_as_thick_as_in_breaking_bad() -> None:
    """Measured there, quantiles 5, 50, 95 % of 2V/A: .0095, .070, .21."""
    meshes = [make_shape(name, np.random.default_rng([k, 7])) for k in range(3) for name in EVERYDAY]
    low, middle, high = np.quantile([2 * mesh.volume / mesh.area for mesh in meshes], (0.05, 0.5, 0.95))
    assert low == pytest.approx(0.0095, rel=0.5)
    assert middle == pytest.approx(0.070, rel=0.5)
    assert high == pytest.approx(0.21, rel=0.5)


def test_the_benchmark_has_shapes_of_its_own() -> None:
    assert not set(HELD_OUT) & (set(EVERYDAY) | set(FORMS))
    assert len(EVERYDAY) == 20
    assert category("beer_bottle") == "BeerBottle"


def test_an_unknown_shape_is_refused_with_the_choices() -> None:
    with pytest.raises(InputError, match="mug"):
        make_shape("unicorn", np.random.default_rng(0))
