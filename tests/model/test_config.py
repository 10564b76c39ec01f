import pytest

from cmnet.errors import InputError
from cmnet.model.config import PRESETS, CMNetConfig, preset
from cmnet.values import checked


def test_texts_from_the_command_line_become_values():
    config = preset("paper", normals="true", widths="1,2,3,4", positive_radius="none", inlier_radius="0.5", top_k="7")
    assert (config.normals, config.widths, config.positive_radius) == (True, (1, 2, 3, 4), None)
    assert (config.inlier_radius, config.top_k) == (0.5, 7)


@pytest.mark.parametrize(
    ("name", "value"),
    [("nothing", 1), ("norm", "batch"), ("widths", "1,2"), ("top_k", "many"), ("normals", "perhaps"), ("points", None)],
)
def test_what_cannot_be_is_refused(name, value):
    with pytest.raises(InputError, match=name):
        preset("paper", **{name: value})


def test_a_network_needs_a_branch():
    with pytest.raises(InputError, match="shape_branch"):
        preset("paper", shape_branch=False, occupancy_branch=False)
    with pytest.raises(InputError, match="break_head"):
        preset("paper", break_gate=True)
    with pytest.raises(InputError, match="cmnet-base"):
        preset("nothing")


@pytest.mark.parametrize("name", PRESETS)
def test_configs_survive_json(name):
    import json

    config = PRESETS[name]
    assert CMNetConfig(**checked(CMNetConfig, json.loads(json.dumps(config.to_dict())))) == config


def test_radii_follow_the_spacing():
    assert preset("paper").radii() == (0.018, 0.03)
    positive, negative = preset("cmnet-base").radii()
    assert negative == pytest.approx(5 / 3 * positive)
    assert preset("cmnet-base", points=5000).radii()[0] == pytest.approx(0.018, rel=0.01)
    assert preset("cmnet-base", points=750).radii()[0] == pytest.approx(2 * positive)
