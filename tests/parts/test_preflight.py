from dataclasses import replace

import numpy as np
import pytest
import trimesh

import cmnet.parts.preflight
from cmnet.geometry.pose import Pose
from cmnet.parts.load import load_parts
from cmnet.parts.part import Part
from cmnet.parts.points import sample_parts
from cmnet.parts.preflight import look, preflight


def part(name, mesh):
    return Part(name, np.asarray(mesh.vertices), np.asarray(mesh.faces))


def plate(name, size, wall=0.05):
    box = trimesh.creation.box((size, 0.7 * size, wall * size))
    return part(name, box.subdivide().subdivide().subdivide())


PARTS = [plate("a", 1.0), plate("b", 1.3), plate("c", 0.9)]


def test_what_a_part_looks_like():
    seen = look(plate("a", 100.0, 0.04))
    assert (seen.name, seen.count, seen.holes) == ("a", 12 * 64, 0)
    assert seen.size == pytest.approx(100)
    assert seen.wall == pytest.approx(4, rel=0.05)
    assert 5 < seen.spacing < 20
    assert look(part("ball", trimesh.creation.icosphere(4))).wall is None
    opened = replace(PARTS[0], faces=np.delete(PARTS[0].faces, [0, 400], axis=0))
    assert look(opened).holes == 2


def test_a_cloud():
    cloud = sample_parts([PARTS[0]], 3000)[0]
    seen = look(Part("cloud", cloud.xyz, None, cloud.normals))
    assert seen.holes is None
    assert seen.count == len(cloud)
    assert seen.wall == pytest.approx(0.05, rel=0.1)
    assert 0.005 < seen.spacing < 0.05


def test_healthy_parts_get_no_advice():
    assert preflight(PARTS).advice == ()


@pytest.mark.parametrize("factor", [1000, 1 / 1000, 100, 39.37])
def test_units_that_differ(factor):
    odd = replace(PARTS[1], vertices=factor * PARTS[1].vertices)
    (advice,) = preflight([PARTS[0], odd, PARTS[2]]).advice
    assert advice.startswith("b is about")
    assert "one unit" in advice
    if factor in (1000, 1 / 1000):
        assert "millimetres and metres" in advice


def test_the_same_scan_twice_even_if_moved():
    twin = replace(PARTS[0].moved(Pose.random(np.random.default_rng(0), 3.0)), name="twin")
    (advice,) = preflight([*PARTS, twin]).advice
    assert advice == "a and twin are the same scan; leave one of them out"


def test_too_small_too_coarse_too_many(monkeypatch):
    crumb = replace(PARTS[0], name="crumb", vertices=PARTS[0].vertices / 25 * [1, 1, 2])
    assert any("crumb: too small" in line for line in preflight([*PARTS, crumb]).advice)
    assert any("box: so few" in line for line in preflight([*PARTS, part("box", trimesh.creation.box())]).advice)
    points = sample_parts([PARTS[0]], 300)[0]
    cloud = Part("thin cloud", points.xyz * [1, 1, 0.5], None, points.normals)
    assert any("thin cloud: points farther apart" in line for line in preflight([*PARTS, cloud]).advice)
    monkeypatch.setattr(cmnet.parts.preflight, "MANY", 2)
    assert preflight(PARTS).advice == ("3 parts make 3 pairs: this takes a while",)


def test_numbers_without_decimals(tmp_path):
    near = [trimesh.Trimesh(p.vertices, p.faces, process=False) for p in PARTS]
    for k, mesh in enumerate(near):
        mesh.apply_translation([5e5, 5e6, 100.0]).export(tmp_path / f"{k}.stl")
    (advice, *_) = preflight(load_parts(tmp_path)).advice
    assert advice.startswith("0, 1, 2: the coordinates have lost their decimals")
    exact = [replace(p, vertices=p.vertices + np.array([5e5, 5e6, 100.0])) for p in PARTS]
    assert preflight(exact).advice == ()


def test_repairs_are_said():
    ball = trimesh.creation.icosphere(3)
    turned = load_parts([trimesh.Trimesh(ball.vertices, ball.faces[:, ::-1], process=False)])
    assert preflight([*PARTS, *turned]).advice == ("part_0: was inside out: turned round",)


def test_clouds_without_normals_are_pointed_out():
    points = trimesh.creation.icosphere(3).vertices
    bare, told = Part("bare", points), Part("told", 2 * points, normals=points)
    assert any("bare has no normals" in line for line in preflight([bare, told]).advice)
    assert not any("no normals" in line for line in preflight([told]).advice)
