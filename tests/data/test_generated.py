import numpy as np
import pytest

from cmnet.data.generated import RECIPES, GeneratedObjects, Recipe, break_object
from cmnet.data.shapes import HELD_OUT
from cmnet.data.wear import Wear
from cmnet.errors import InputError


def vertices(made) -> np.ndarray:
    return np.concatenate([part.vertices for part in made.parts])


def test_an_object_depends_on_seed_and_index_alone() -> None:
    recipe = Recipe(shapes=("cup", "horn"), pieces=(2, 3))
    source, again = GeneratedObjects(3, recipe), GeneratedObjects(3, recipe)
    last_first = {i: again[i] for i in (4, 2)}
    for i in (2, 4):
        assert np.array_equal(vertices(source[i]), vertices(last_first[i]))
    assert not np.array_equal(vertices(source[2]), vertices(GeneratedObjects(4, recipe)[2]))


def test_pieces_stay_in_their_range_and_contacts_fit() -> None:
    source = GeneratedObjects(0, Recipe(shapes=("plate", "bone"), pieces=(3, 5)), length=4)
    for i in range(len(source)):
        made = source[i]
        assert 3 <= len(made.parts) <= 5
        assert made.fracture.contacts.shape == (len(made.parts),) * 2
        assert (made.fracture.contacts.sum(axis=1) > 0).all()
    with pytest.raises(IndexError):
        source[4]


def test_fractures_of_one_object_share_its_shape() -> None:
    first, second = break_object(Recipe(shapes=("cup",)), 0, 0, fractures=2)
    low, high = vertices(first).min(axis=0), vertices(first).max(axis=0)
    assert np.allclose(low, vertices(second).min(axis=0))
    assert np.allclose(high, vertices(second).max(axis=0))
    assert not np.array_equal(first.parts[0].vertices, second.parts[0].vertices)


def test_strangers_come_along_when_wear_asks_for_them() -> None:
    fresh = break_object(Recipe(shapes=("mug",), pieces=(3, 3)), 0, 0)[0]
    mixed = break_object(Recipe(shapes=("mug",), pieces=(3, 3), wear=Wear(foreign=2)), 0, 0)[0]
    assert len(mixed.parts) == len(fresh.parts) + 2


def test_training_never_makes_what_the_benchmark_is_made_of() -> None:
    held_out = RECIPES["benchmark"]
    assert set(held_out.shapes) == set(HELD_OUT)
    for name, recipe in RECIPES.items():
        if name != "benchmark":
            assert not set(recipe.shapes) & set(held_out.shapes)
            assert recipe.stream != held_out.stream


@pytest.mark.parametrize(
    "options", [{"shapes": ("unicorn",)}, {"mechanism": "laser"}, {"pieces": (1, 4)}, {"pieces": (5, 4)}]
)
def test_recipes_that_make_no_sense_are_refused(options: dict) -> None:
    with pytest.raises(InputError):
        Recipe(**options)
