import numpy as np
import pytest

from cmnet.data.exercises import Drawing, ExerciseDataset, Shuffled
from cmnet.data.fresh import FreshObjects
from cmnet.data.generated import Recipe
from cmnet.data.split import generated_sources
from cmnet.errors import InputError

RECIPE = Recipe(shapes=("bowl", "tile"), pieces=(2, 3))


def test_an_object_depends_on_seed_and_number_alone():
    one, two = FreshObjects(3, RECIPE, 1200), FreshObjects(3, RECIPE, 1200)
    other = FreshObjects(4, RECIPE, 1200)
    for i in (1, 0):
        a, b = one.get(i), two.get(i)
        assert all(np.array_equal(p.xyz, q.xyz) for p, q in zip(a.points, b.points, strict=True))
        assert np.array_equal(a.contact, b.contact)
        assert not np.array_equal(a.points[0].xyz, other.get(i).points[0].xyz)
    assert not np.array_equal(one.get(0).points[0].xyz, one.get(0, variant=1).points[0].xyz)


def test_its_pairs_have_matches():
    exercises = ExerciseDataset(Shuffled(FreshObjects(0, RECIPE, 2000)), drawing=Drawing(positive_radius=0.03))
    assert all(len(exercises[i].pairs[0].matches) > 5 for i in range(3))


def test_training_and_validation_differ_and_the_benchmark_is_never_trained_on():
    for recipe, pieces in (("training", (2, 2)), ("curriculum", None)):
        train, validation = generated_sources(recipe, pieces, 1000, seed=0, validate_on=2)
        assert len(validation) == 2
        assert validation.get(0) is validation.get(0)
        assert not np.array_equal(train[0].points[0].xyz, validation.get(0).points[0].xyz)
    with pytest.raises(InputError, match="--pieces"):
        generated_sources("curriculum", (2, 2), 1000, 0, 2)
    for recipe in ("benchmark", "nothing"):
        with pytest.raises(InputError, match="choose one of"):
            generated_sources(recipe, None, 1000, 0, 2)
