import hashlib
import json
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file, save_file

from breaking import fitted
from cmnet.errors import InputError
from cmnet.model.network import CMNet
from cmnet.model.weights import DEFAULT, shipped, with_judgement

SMALL = {"widths": (2, 3, 4, 5), "features": 6, "descriptor": 8, "attention": 4}


@pytest.fixture
def saved(tmp_path):
    net = CMNet.from_preset("paper", **SMALL)
    net.save(tmp_path / "net.safetensors", step=3)
    return net, tmp_path / "net.safetensors"


def test_round_trip(saved):
    net, path = saved
    loaded = CMNet.from_pretrained(path)
    assert loaded.config == net.config
    assert not loaded.training
    assert all(torch.equal(value, loaded.state_dict()[name]) for name, value in net.state_dict().items())


def test_equal_weights_are_equal_files(saved, tmp_path):
    net, path = saved
    net.save(tmp_path / "again.safetensors", step=3)
    assert path.read_bytes() == (tmp_path / "again.safetensors").read_bytes()


def header_of(path):
    from safetensors import safe_open

    with safe_open(path, "pt") as file:
        return file.metadata()


def test_weights_of_another_shape_are_refused(saved):
    _, path = saved
    tensors = load_file(path)
    tensors["orientation.weight"] = torch.zeros(3, 3)
    save_file(tensors, path, metadata=header_of(path))
    with pytest.raises(InputError, match=r"orientation.weight has shape \(3, 3\), the network needs \(2, 6\)"):
        CMNet.from_pretrained(path)


def test_missing_and_surplus_tensors_are_refused(saved):
    _, path = saved
    header, tensors = header_of(path), load_file(path)
    save_file({**tensors, "extra": torch.zeros(1)}, path, metadata=header)
    with pytest.raises(InputError, match="extra"):
        CMNet.from_pretrained(path)
    del tensors["dustbin"]
    save_file(tensors, path, metadata=header)
    with pytest.raises(InputError, match="dustbin"):
        CMNet.from_pretrained(path)


def with_config(path, **changes):
    """The same file with some settings changed in its header."""
    header = json.loads(header_of(path)["cmnet"])
    header["config"] |= changes
    save_file(load_file(path), path, metadata={"cmnet": json.dumps(header)})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"widths": [30000] * 4, "features": 30000}, "does not fit"),
        ({"widths": [10**9] * 4}, "widths"),
        ({"widths": 5}, "widths needs 4 numbers"),
        ({"widths": [1, 2, 3, -1]}, "must lie between 1 and"),
        ({"features": 1e308}, "features"),
        ({"features": float("inf")}, "features"),
        ({"features": 10**1000}, "number of 1001 digits"),
        ({"points": 0}, "points = 0"),
        ({"points": 10**12}, "points"),
        ({"neighbors": 0}, "neighbors = 0"),
        ({"neighbors": 10**5}, "neighbors"),
        ({"top_k": -1}, "top_k"),
        ({"focus": float("nan")}, "focus"),
        ({"focus": 2.0}, "between 0 and 1"),
        ({"inlier_radius": float("inf")}, "inlier_radius"),
        ({"norm": ["rms"]}, "norm"),
        ({"surprise": 1}, "no setting is called 'surprise'"),
    ],
)
def test_a_config_that_cannot_be_is_refused_before_anything_is_made_of_it(saved, changes, words):
    with_config(saved[1], **changes)
    with pytest.raises(InputError, match=words) as caught:
        CMNet.from_pretrained(saved[1])
    assert str(saved[1]) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "header",
    ["[]", "5", "{", "[" * 100_000, '{"format": "cmnet.weights/1"}', '{"format": "cmnet.weights/1", "config": 1}'],
    ids=["list", "number", "cut off", "deep", "no config", "no settings"],
)
def test_headers_that_say_nothing_of_a_network_are_refused(saved, header):
    save_file(load_file(saved[1]), saved[1], metadata={"cmnet": header})
    with pytest.raises(InputError, match=r"net\.safetensors"):
        CMNet.from_pretrained(saved[1])


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_refused(saved, value):
    tensors, header = load_file(saved[1]), header_of(saved[1])
    tensors["orientation.weight"][0, 0] = value
    save_file(tensors, saved[1], metadata=header)
    with pytest.raises(InputError, match=r"orientation\.weight holds what is no finite number"):
        CMNet.from_pretrained(saved[1])


@pytest.mark.parametrize("content", [b"", b"not safetensors", b"\xff" * 100])
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "x.safetensors"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"x.safetensors is not a readable safetensors file"):
        CMNet.from_pretrained(path)


def test_foreign_safetensors_and_missing_files_are_refused(tmp_path):
    save_file({"a": torch.zeros(1)}, tmp_path / "x.safetensors")
    with pytest.raises(InputError, match="holds no CMNet weights"):
        CMNet.from_pretrained(tmp_path / "x.safetensors")
    with pytest.raises(InputError, match="no weights at"):
        CMNet.from_pretrained(tmp_path / "nothing.safetensors")


def test_weights_that_may_not_be_read_are_said_to_be(saved, monkeypatch):
    def refused(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("safetensors.safe_open", refused)
    with pytest.raises(InputError, match=r"net\.safetensors may not be read; change its permissions"):
        CMNet.from_pretrained(saved[1])


def test_shipped_weights_are_found_by_name_and_others_are_listed(saved, tmp_path, monkeypatch):
    net, path = saved
    monkeypatch.setattr("cmnet.model.weights.SHIPPED", tmp_path / "assets")
    with pytest.raises(InputError, match="no weights are called 'net'"):
        CMNet.from_pretrained("net")
    (tmp_path / "assets").mkdir()
    path.rename(tmp_path / "assets" / "net.safetensors")
    assert CMNet.from_pretrained("net").config == net.config
    with pytest.raises(InputError, match="no weights are called 'other'; shipped: net"):
        CMNet.from_pretrained("other")


def test_half_precision_takes_half_the_room_and_is_read_as_single(saved, tmp_path):
    net, _ = saved
    net.save(tmp_path / "half.safetensors", half=True)
    assert {value.dtype for value in load_file(tmp_path / "half.safetensors").values()} == {torch.float16}
    loaded = CMNet.from_pretrained(tmp_path / "half.safetensors").state_dict()
    for name, value in net.state_dict().items():
        assert loaded[name].dtype == torch.float32
        assert torch.allclose(loaded[name], value, rtol=1e-3, atol=1e-6)


def test_tables_survive_storing_loading_and_saving(saved, tmp_path):
    net, path = saved
    assert net.judgement is CMNet.from_pretrained(path).judgement is None
    with_judgement(path, fitted())
    loaded = CMNet.from_pretrained(path)
    loaded.save(tmp_path / "again.safetensors")
    assert loaded.judgement == CMNet.from_pretrained(tmp_path / "again.safetensors").judgement == fitted()


def test_storing_tables_leaves_all_else_as_it_is(saved):
    net, path = saved
    before = path.read_bytes()
    with_judgement(path, fitted())
    after = path.read_bytes()
    tensors = [content[8 + int.from_bytes(content[:8], "little") :] for content in (before, after)]
    assert tensors[0] == tensors[1]
    assert CMNet.from_pretrained(path).config == net.config
    assert json.loads(header_of(path)["cmnet"])["notes"] == {"step": 3}
    with_judgement(path, None)
    assert path.read_bytes() == before


def test_faulty_tables_are_refused_and_can_be_taken_away(saved):
    _, path = saved
    with_judgement(path, fitted())
    header = json.loads(header_of(path)["cmnet"])
    del header["judgement"]["one_look"]["rim"]
    save_file(load_file(path), path, metadata={"cmnet": json.dumps(header)})
    with pytest.raises(InputError, match=r"net\.safetensors: one_look lacks rim; take its judgement away"):
        CMNet.from_pretrained(path)
    with_judgement(path, None)
    assert CMNet.from_pretrained(path).judgement is None


def test_tables_are_stored_in_weights_alone(saved, tmp_path):
    save_file({"a": torch.zeros(1)}, tmp_path / "x.safetensors")
    before = (tmp_path / "x.safetensors").read_bytes()
    with pytest.raises(InputError, match="holds no CMNet weights"):
        with_judgement(tmp_path / "x.safetensors", fitted())
    assert (tmp_path / "x.safetensors").read_bytes() == before
    with pytest.raises(InputError, match="two_looks lacks relief"):
        with_judgement(saved[1], replace(fitted(), two_looks={"constant": 1.0, "surer": 1.0}))


def test_the_shipped_tables_are_those_the_results_were_made_with():
    assert fitted().one_look == {
        "constant": -28.45,
        "rim": 1.58,
        "closure": 10.40,
        "contact": 0.89,
        "gap": -8.35,
        "near": -8.00,
        "inside": -2.06,
        "hold": 0.00,
        "grip": 1.12,
        "relief": 2.60,
        "width": 2.06,
        "broken": 4.47,
    }
    assert fitted().two_looks == {"constant": 2.65, "surer": 1.01, "relief": 2.70}
    assert fitted().belonging == {"constant": 1.16, "alone": 0.59}


def test_the_card_of_the_shipped_weights_is_of_this_file():
    path = shipped()[DEFAULT]
    card = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert card["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
