from itertools import pairwise

import numpy as np

from cmnet.data.curriculum import BLOCK, STAGES, USES, Curriculum, Stage
from cmnet.data.generated import Recipe

TWO, THREE = Recipe(shapes=("tile",), pieces=(2, 2)), Recipe(shapes=("tile",), pieces=(3, 3))
STEPS = (Stage(8, ((TWO, 1.0),)), Stage(None, ((TWO, 0.5), (THREE, 0.5))))


def small(seed=0):
    return Curriculum(seed, 600, STEPS, block=2, uses=4)


def test_an_object_depends_on_seed_and_number_alone():
    one, two = small(), small()
    backwards = {i: two[i].points[0].xyz for i in (9, 8, 1)}
    assert all(np.array_equal(one[i].points[0].xyz, xyz) for i, xyz in backwards.items())
    assert not np.array_equal(small(1)[1].points[0].xyz, backwards[1])


def test_every_object_of_a_block_is_used_as_often_as_asked_and_broken_once():
    stream = small()
    for block in (0, 1):
        objects = [stream[8 * block + k] for k in range(8)]
        assert len({id(obj) for obj in objects}) == 2
        assert sorted([obj.name for obj in objects].count(name) for name in {obj.name for obj in objects}) == [4, 4]


def test_stages_follow_one_another():
    stream = small()
    assert [stream.stage(i) for i in (0, 7, 8, 999)] == [0, 0, 1, 1]
    assert {stream.recipe(number) for number in range(2)} == {TWO}
    assert {stream.recipe(number) for number in range(2, 40)} == {TWO, THREE}
    assert [len(stream[i].points) for i in range(4)] == [2] * 4


def test_the_stages_of_the_shipped_weights_are_well_formed():
    """They begin and end with a block, shares add up, they get harder, and the benchmark's shapes are in none."""
    ends = [stage.until for stage in STAGES]
    assert ends[-1] is None
    assert all(end % (BLOCK * USES) == 0 for end in ends[:-1])
    assert all(a < b for a, b in pairwise(ends[:-1]))
    assert all(abs(sum(share for _, share in stage.shares) - 1) < 1e-9 for stage in STAGES)
    benchmark = {"amphora", "bell", "bone", "bust", "candlestick", "jug", "tablet", "tray"}
    recipes = [recipe for stage in STAGES for recipe, _ in stage.shares]
    assert all(not benchmark & set(recipe.shapes) and recipe.stream == 1 for recipe in recipes)
    assert all(recipe.pieces == (2, 2) and recipe.wear is None for recipe, _ in STAGES[0].shares)
    assert any(recipe.wear for recipe, _ in STAGES[-1].shares)


def test_lookalikes_are_the_same_object_broken_another_way():
    without, always = ((Stage(None, ((THREE, 1.0),), lookalikes=share),) for share in (0.0, 1.0))
    plain, more = (Curriculum(0, 600, stages, block=1, uses=1)[0] for stages in (without, always))
    assert plain.lookalike is None
    assert more.lookalike is not None
    assert all(np.array_equal(a.xyz, b.xyz) for a, b in zip(plain.points, more.points, strict=True))
    sizes = [sum(p.area for p in obj.points) for obj in (more, more.lookalike)]
    low, high = (
        [f(np.concatenate([p.xyz for p in obj.points]), axis=0) for obj in (more, more.lookalike)]
        for f in (np.min, np.max)
    )
    assert np.allclose(low[0], low[1], atol=0.05)
    assert np.allclose(high[0], high[1], atol=0.05)
    assert sizes[0] != sizes[1]
