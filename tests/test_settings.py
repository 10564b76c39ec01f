"""Every number that is tuned can be seen, and changed by name."""

import ast
import json
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import cmnet
from breaking import broken, prepared, solid_bar
from cmnet.assembler import Assembler
from cmnet.errors import InputError
from cmnet.geometry.pose import Pose
from cmnet.pairing.judge.evidence import verify
from cmnet.pairing.surface.frames import pose_of_surfaces
from cmnet.settings import COARSE, FIRST, Settings, to_dict, with_changes


def groups(settings):
    """The dataclass and every one in it."""
    yield type(settings)
    for field in fields(settings):
        if is_dataclass(value := getattr(settings, field.name)):
            yield from groups(value)


def test_settings_are_what_their_names_and_texts_say():
    every = to_dict(Settings())
    texts = {name: ",".join(map(str, v)) if isinstance(v, tuple) else str(v) for name, v in every.items()}
    assert with_changes(Settings(), texts) == Settings()
    assert with_changes(Settings(), json.loads(json.dumps(every))) == Settings()


def test_a_setting_changes_alone():
    changed = with_changes(Settings(), {"coarse.tolerances.touch": "0.02", "first.budget.rough.radii": "0.02,0.01"})
    assert changed.coarse == replace(COARSE, tolerances=replace(COARSE.tolerances, touch=0.02))
    assert changed.first.budget.rough.radii == (0.02, 0.01)
    assert replace(changed, first=FIRST, coarse=COARSE) == Settings()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("touch", "1", "first.tolerances.touch"),
        ("first.tolerance.touch", "1", "first.tolerances.touch"),
        ("first.budget", "1", "first.budget."),
        ("first.samples", "many", "int"),
        ("first.samples", "0", "more than 0"),
        ("fine.tolerances.touch", "nan", "more than 0"),
        ("first.tolerances.facing", "-2", "between -1 and 1"),
        ("first.budget.rough.radii", "0.01,0.02,0.02,0.01,0.01,-1", "more than 0"),
        ("first.budget.sieve.kept", "5", "2 numbers"),
        ("first.budget.rough.nearest", "perhaps", "true or false"),
    ],
)
def test_what_cannot_be_set_is_refused_with_what_can(name, value, said):
    with pytest.raises(InputError, match=said) as refused:
        with_changes(Settings(), {name: value})
    assert name in str(refused.value)


def test_every_setting_is_used():
    """Somewhere its name is asked for."""
    asked = set()
    for path in Path(cmnet.__file__).parent.rglob("*.py"):
        asked |= {node.attr for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Attribute)}
    named = {field.name for group in groups(Settings()) for field in fields(group)}
    assert named - asked - {"first", "coarse", "fine"} == set()  # scales are asked for by what is in the plan


def test_what_touches_is_a_matter_of_tolerance():
    a, b = bar = prepared(broken(solid_bar(), np.random.default_rng(1)))
    T = pose_of_surfaces(a, b, Pose.identity())
    apart = Pose(T.R, T.t + 0.005 * T.t / (T.t @ T.t) ** 0.5)
    wider = [replace(s, scale=with_changes(Settings(), {"first.tolerances.lift": "0.009"}).first) for s in bar]
    assert verify(*wider, apart).contact > 1.5 * verify(a, b, apart).contact


def test_the_published_solver_takes_no_settings():
    changed = with_changes(Settings(), {"acceptance.likely": 0.6})
    with pytest.raises(InputError, match="knows no settings"):
        Assembler("none", "paper", settings=changed)


@pytest.mark.slow
def test_the_assembler_looks_as_closely_as_it_is_set():
    parts = broken(solid_bar(), np.random.default_rng(1))
    changed = with_changes(Settings(), {"first.samples": 3000})
    usual, other = (Assembler("none", settings=s).assemble(parts).joins[0] for s in (Settings(), changed))
    assert usual.contact_area != other.contact_area
    assert usual.contact_area == pytest.approx(other.contact_area, rel=0.01)
