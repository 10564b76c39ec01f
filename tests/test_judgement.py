"""Tables of numbers, each under its name."""

from dataclasses import asdict

import pytest

from breaking import fitted
from cmnet.errors import InputError
from cmnet.judgement import GEOMETRY, NAMES, judgement_from


def stored():
    return asdict(fitted())


@pytest.mark.parametrize("kind", NAMES)
def test_a_missing_or_unknown_name_is_refused(kind):
    lacking, surplus = stored(), stored()
    gone = sorted(lacking[kind])[0]
    del lacking[kind][gone]
    surplus[kind]["colour"] = 1.0
    with pytest.raises(InputError, match=f"mine: {kind} lacks {gone}"):
        judgement_from(lacking, "mine")
    with pytest.raises(InputError, match=f"mine: {kind} holds the unknown name colour"):
        judgement_from(surplus, "mine")


@pytest.mark.parametrize("value", [None, "1", True, float("nan"), float("inf"), [1.0]])
def test_what_is_no_number_is_refused(value):
    faulty = stored()
    faulty["one_look"]["rim"] = value
    with pytest.raises(InputError, match="rim in one_look is no finite number"):
        judgement_from(faulty, "mine")


@pytest.mark.parametrize(
    ("faulty", "words"),
    [
        ([], "does not say what it was fitted on"),
        ({**stored(), "fitted_on": None}, "does not say what it was fitted on"),
        ({"fitted_on": ""}, "its judgement lacks belonging"),
        ({**stored(), "third_look": {}}, "unknown name third_look"),
        ({**stored(), "one_look": None}, "has no table one_look"),
        ({**stored(), "two_looks": [1.0]}, "two_looks is no table"),
        (asdict(GEOMETRY), "one_look lacks broken"),
    ],
)
def test_what_is_no_judgement_of_a_network_is_refused(faulty, words):
    with pytest.raises(InputError, match=words) as caught:
        judgement_from(faulty, "mine")
    assert "\n" not in str(caught.value)


def test_the_order_of_names_makes_no_difference():
    turned = {
        kind: {name: table[name] for name in reversed(table)} for kind, table in stored().items() if kind in NAMES
    }
    assert judgement_from({"fitted_on": fitted().fitted_on, **turned}, "mine") == fitted()


def test_later_tables_may_be_missing():
    alone = judgement_from({**stored(), "two_looks": None, "belonging": None}, "mine")
    assert alone.one_look == fitted().one_look
    assert alone.two_looks is alone.belonging is None
