import json
import re
from dataclasses import replace

import numpy as np
import pytest
import trimesh

from cmnet.geometry.pose import Pose
from cmnet.pairing.join import Join
from cmnet.parts.load import load_part
from cmnet.parts.part import Part
from cmnet.report import viewer_mesh
from cmnet.report.document import Run
from cmnet.report.folder import write_results
from cmnet.report.gap_colors import APART, INSIDE, NOTHING, colors_of_gaps
from cmnet.report.gap_maps import gap_map, mapped_parts
from cmnet.report.measured import measure
from cmnet.solving.assembly import Assembly


@pytest.fixture(autouse=True)
def few_faces(monkeypatch):
    monkeypatch.setattr(viewer_mesh, "FACES", 6000)


def rgb(stop):
    return [int(stop[k : k + 2], 16) for k in (1, 3, 5)]


def bars(gap, subdivided=0):
    """Two bars with ends at x = 0, each in coordinates of its own, `gap` apart; and one that is not placed."""
    rng = np.random.default_rng(0)
    T, parts = [Pose.random(rng, 5.0) for _ in range(3)], []
    for k, middle in enumerate((-1.0, 1.0, 5.0)):
        box = trimesh.creation.box((2.0, 1.0, 1.0)).apply_translation((middle, 0, 0))
        for _ in range(subdivided):
            box = box.subdivide()
        parts.append(Part(f"bar {k}", np.asarray(box.vertices, dtype=float), np.asarray(box.faces)).moved(T[k]))
    places = [T[0].inverse(), Pose(np.eye(3), np.array([gap, 0, 0])) @ T[1].inverse(), Pose.identity()]
    join = Join((0, 1), places[0].inverse() @ places[1], 0.9, 1.0, abs(gap), 0.0, True)
    return Assembly(np.stack([place.matrix() for place in places]), [[0, 1]], [2], [join]), parts


def read(path):
    """Vertices, colours and distances of a map."""
    part = load_part(path)
    raw = path.read_bytes()
    count = int(re.search(rb"element vertex (\d+)", raw)[1])
    kinds = [("xyz", "<f8", 3), ("rgba", "u1", 4), ("gap", "<f4")]
    rows = np.frombuffer(raw.split(b"end_header\n", 1)[1], kinds, count)
    return part, rows["xyz"], rows["rgba"][:, :3].astype(int), rows["gap"]


def written(folder, assembly, parts):
    write_results(folder, assembly, parts, Run(), "bars")
    content = json.loads((folder / "assembly.json").read_text(encoding="utf-8"))
    maps = {k: read(folder / known["gap_file"]) for k, known in enumerate(content["parts"]) if known["gap_file"]}
    return content, maps


def ends(xyz, at=0.0):
    """Which points lie well inside the end faces of the bars that meet at x = 0."""
    return (np.abs(xyz[:, 0] - at) < 1e-9) & (np.abs(xyz[:, 1:]) < 0.45).all(axis=1)


def mostly(gaps, value):
    """Exact but for single points whose nearest face was not among those looked at."""
    return (np.abs(gaps - value) < 1e-6).mean() > 0.999


def test_parts_that_fit_are_closed_on_the_break_and_have_nothing_near_elsewhere(tmp_path):
    assembly, parts = bars(0.0)
    content, maps = written(tmp_path, assembly, parts)
    assert set(maps) == {0, 1}
    for k, (part, xyz, colors, gaps) in maps.items():
        on_break, far = ends(xyz), np.abs(xyz[:, 0]) > 2 * content["gap_limit"]
        assert on_break.sum() > 100  # the twelve faces of a bar were refined where it meets the other
        assert (np.abs(colors[on_break] - rgb(APART[0])).max(axis=1) <= 2).mean() > 0.99
        assert mostly(gaps[on_break], 0.0)
        assert far.any()
        assert (colors[far] == rgb(NOTHING)).all()
        assert np.allclose(gaps[far], 2 * content["gap_limit"])
        assert np.isclose(part.area, parts[k].area)


@pytest.mark.parametrize(("share", "likes", "dislikes"), [(0.5, APART[2], APART[0]), (-0.5, INSIDE[2], INSIDE[0])])
def test_a_shifted_part_shows_its_gap_or_overlap(tmp_path, share, likes, dislikes):
    gap = share * measure(*bars(0.0)).limit
    assembly, parts = bars(gap)
    assembly = replace(assembly, joins=[replace(assembly.joins[0], gap_rms=0.0)])  # the scale ends where it did
    _, maps = written(tmp_path, assembly, parts)
    for k, (_, xyz, colors, gaps) in maps.items():
        on_break = ends(xyz, gap if k else 0.0)
        assert mostly(gaps[on_break], gap)
        off = np.abs(colors[on_break][:, None] - [rgb(likes), rgb(dislikes)]).sum(axis=2)
        assert (off[:, 0] < off[:, 1]).mean() > 0.999


def test_the_header_says_what_the_colours_mean(tmp_path):
    content, _ = written(tmp_path, *bars(0.0))
    header = (tmp_path / content["parts"][0]["gap_file"]).read_bytes().split(b"end_header")[0].decode("ascii")
    assert f"gap of up to {content['gap_limit']:g}" in header
    assert "property float quality" in header


def test_nothing_is_mapped_that_no_join_holds(tmp_path):
    assembly, parts = bars(0.0)
    loose = replace(assembly, joins=[replace(assembly.joins[0], used=False)])
    _, maps = written(tmp_path, loose, parts)
    assert not maps
    assert not (tmp_path / "gaps").exists()
    assert mapped_parts(replace(assembly, unplaced=[1, 2])) == {0}


def test_a_fine_mesh_gets_a_map_of_bounded_size():
    assembly, parts = bars(0.0, subdivided=5)
    assert sum(len(part.faces) for part in parts) > 5 * viewer_mesh.FACES
    measured = measure(assembly, parts)
    assert len(gap_map(assembly, measured, 0)) < 60 * viewer_mesh.FACES
    closed = np.abs(measured.gaps[0]) < 0.1 * measured.limit
    assert 0 < closed.mean() < 0.5


def test_colours_run_from_deep_inside_to_nothing_near():
    gaps = np.array([-9.0, -1.0, 0.0, 0.2, 1.0, 9.0, np.inf])
    wanted = [INSIDE[-1], INSIDE[-1], APART[0], APART[1], NOTHING, NOTHING, NOTHING]
    colors = colors_of_gaps(gaps, 1.0)
    assert np.array_equal(colors[:, :3], [rgb(stop) for stop in wanted])
    assert (colors[:, 3] == 255).all()
