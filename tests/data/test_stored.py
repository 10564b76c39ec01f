"""Scans and other objects as they are stored, read back into their assembled places."""

import json
import logging

import numpy as np
import pytest

from cmnet.data.breaking_bad import find_fractures
from cmnet.data.objects import FolderObjects
from cmnet.data.scan import CONDITIONS, scan, size_of
from cmnet.data.stored import read_stored
from cmnet.errors import InputError
from cmnet.geometry.pose import Pose
from cmnet.parts.save import save_part


@pytest.fixture
def clouds(bars):
    return scan(bars, CONDITIONS["cloud-10k"], np.random.default_rng(0))


@pytest.fixture
def root(tmp_path, clouds):
    """Three scans stored assembled, two with the pose of the second, two of unknown places."""
    moved = Pose.random(np.random.default_rng(1), 3.0)
    save(tmp_path / "museum/bar", clouds)
    (tmp_path / "museum/bar/contacts.json").write_text("{}")
    save(tmp_path / "two/bar", [clouds[0], clouds[1].moved(moved)], "obj")
    (tmp_path / "two/bar/gt_pose.json").write_text(json.dumps({"obj2_to_obj1": moved.inverse().matrix().tolist()}))
    save(tmp_path / "hospital/hip", clouds[:2])
    return tmp_path


def save(folder, parts, name="piece"):
    for k, part in enumerate(parts):
        save_part(part, folder / f"{name}_{k + 1}.ply")


def test_scans_are_found_by_what_says_where_they_belong(root, caplog):
    with caplog.at_level(logging.WARNING, "cmnet"):
        museum, two = find_fractures(root, pieces=None)
    assert (museum.name, museum.subset, museum.object_id, len(museum.files)) == ("museum/bar/scan", "museum", "bar", 3)
    assert (two.name, two.subset, two.object_id, len(two.files)) == ("two/bar/scan", "two", "bar", 2)
    assert "left out: 1 folders, the first is hospital/hip" in caplog.text


def test_fractures_beside_scans_are_kept(root, clouds):
    save(root / "set/bar/fractured_0", clouds)
    assert [f.name for f in find_fractures(root, "set", pieces=None)] == ["set/bar/fractured_0"]
    assert "set/bar/fractured_0" in [f.name for f in find_fractures(root, pieces=None)]


def test_parts_come_back_as_clouds_in_their_places(root, clouds):
    for fracture in find_fractures(root, pieces=None):
        stored = read_stored(fracture)
        for part, cloud in zip(stored.parts, clouds, strict=False):  # the pose takes the second of two to the first
            assert part.faces is None
            assert np.allclose(part.vertices, cloud.vertices, atol=1e-9)
            assert np.allclose(part.normals, cloud.normals, atol=1e-9)
        assert stored.foreign == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "cannot be read"),
        ("[]", "no JSON object"),
        ("{}", "no rigid motion"),
        ('{"obj2_to_obj1": [[1, 0], [0, 1]]}', "no rigid motion"),
        ('{"obj2_to_obj1": [[2,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]}', "no rigid motion"),
        ('{"obj2_to_obj1": [[-1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]}', "no rigid motion"),
        ('{"obj2_to_obj1": [[1,0,0,NaN],[0,1,0,0],[0,0,1,0],[0,0,0,1]]}', "no rigid motion"),
    ],
)
def test_a_pose_that_is_none_is_refused(root, text, words):
    (root / "two/bar/gt_pose.json").write_text(text)
    (fracture,) = find_fractures(root, "two")
    with pytest.raises(InputError, match=rf"gt_pose\.json.*{words}"):
        read_stored(fracture)


def test_a_pose_is_for_two(root):
    (root / "museum/bar/gt_pose.json").write_text("{}")
    with pytest.raises(InputError, match="for two pieces, and 3"):
        read_stored(find_fractures(root, "museum", pieces=None)[0])


def test_samples_notice_a_changed_pose(root, tmp_path_factory):
    cache = tmp_path_factory.mktemp("cache")
    before = FolderObjects(root, "two", cache=cache)[0].points[1].xyz
    turned = {"obj2_to_obj1": Pose.random(np.random.default_rng(2), 1.0).matrix().tolist()}
    (root / "two/bar/gt_pose.json").write_text(json.dumps(turned))
    assert not np.allclose(before, FolderObjects(root, "two", cache=cache)[0].points[1].xyz, atol=0.1)


def test_foreign_pieces_are_named_by_the_facts(root, clouds, tmp_path_factory):
    save(root / "set/bar/fractured_0", clouds)
    (root / "set/bar/fractured_0/fracture.json").write_text('{"foreign": ["piece_1"]}')
    (fracture,) = find_fractures(root, "set", pieces=None)
    assert read_stored(fracture).foreign == (0,)
    objects = FolderObjects(root, "set", pieces=None, cache=tmp_path_factory.mktemp("cache"))
    for obj in (objects[0], objects[0]):  # sampled, then from the cache
        assert obj.foreign == (2,)  # they come last
        assert not obj.contact[2].any()
        assert obj.contact[0, 1] > 0


def test_a_foreign_part_is_of_another_object_and_of_the_same_scale(bar_root, tmp_path):
    def foreign(pieces):
        objects = FolderObjects(bar_root, pieces=pieces, cache=tmp_path / "cache", condition=CONDITIONS["foreign"])
        return {f.name: objects.read(f) for f in objects.fractures}

    for stored in foreign((2, 3)).values():
        *own, stranger = stored.parts
        assert stored.foreign == (len(own),)
        assert stranger.name == "foreign_0"
        assert not any(np.array_equal(stranger.vertices, part.vertices) for part in own)
        assert size_of([stranger]) <= size_of(own)
    again = foreign((2, 3))
    for name, stored in foreign((2, 3)).items():
        assert np.array_equal(stored.parts[-1].vertices, again[name].parts[-1].vertices)


def test_there_must_be_another_object_to_take_a_foreign_part_from(root, tmp_path):
    objects = FolderObjects(root, "two", cache=tmp_path / "cache", condition=CONDITIONS["foreign"])
    with pytest.raises(InputError, match="no other object"):
        objects[0]
