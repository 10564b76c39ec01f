from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy.spatial.transform import Rotation

import cmnet
import cmnet.assembler
import cmnet.assembling.work
import cmnet.session
from breaking import fitted
from cmnet.data.fracture import fracture
from cmnet.data.shapes import make_shape
from cmnet.errors import InputError
from cmnet.geometry.pose import Pose
from cmnet.judgement import GEOMETRY
from cmnet.matched import UNFITTED
from cmnet.parts.points import sample_parts, unit_length
from cmnet.settings import Settings, with_changes
from cmnet.solving.assembly import Assembly
from cmnet.solving.paper import solve_paper
from results import BALL

SMALL = {"widths": (4, 6, 8, 10), "features": 12, "descriptor": 16, "attention": 8}


@pytest.fixture
def parts():
    from cmnet.data.toy import toy_object

    return toy_object(1, np.random.default_rng(0))


@pytest.fixture
def assembler():
    torch.manual_seed(0)
    net = cmnet.CMNet.from_preset("cmnet-base", **SMALL).double().eval()
    return cmnet.Assembler(net, points=800, seed=3)


def test_descriptors_and_matches_have_the_contracted_shapes(assembler, parts):
    a, b = assembler.describe(parts)
    n, m = len(a.points), len(b.points)
    assert 700 < n + m <= 800
    assert a.normals.shape == (n, 3)
    assert a.frames.shape == (n, 3, 3)
    assert a.shape.shape == a.occupancy.shape == (n, 16)
    matches = assembler.match(a, b)
    assert matches.indices.shape == (128, 2)
    assert matches.weights.shape == (128,)
    assert matches.log_assignment.shape == (n + 1, m + 1)


def test_each_part_is_described_once_and_alone(assembler, parts, monkeypatch):
    calls = []
    describe = assembler.net.describe
    monkeypatch.setattr(assembler.net, "describe", lambda *args: calls.append(1) or describe(*args))
    third = parts[0].moved(Pose.random(np.random.default_rng(0)))
    described = assembler.describe([*parts, third])
    assert len(calls) == 3
    for d_a in described:
        for d_b in described:
            assembler.match(d_a, d_b)
    assert len(calls) == 3


def test_order_pose_and_scale_of_the_parts_do_not_matter(assembler, parts):
    a, b = assembler.describe(parts)
    rng = np.random.default_rng(1)
    A, B = Pose.random(rng, 1.0), Pose.random(rng, 1.0)
    moved = [parts[1].moved(B), parts[0].moved(A)]
    scaled = [cmnet.Part(p.name, 1000 * p.vertices, p.faces) for p in moved]
    d_b, d_a = assembler.describe(scaled)
    assert d_a.unit == pytest.approx(1000 * a.unit)
    assert np.allclose(d_a.points.numpy(), 1000 * A.apply(a.points.numpy()), atol=1e-6)
    assert torch.allclose(d_a.shape, a.shape, atol=1e-5)
    assert torch.allclose(d_b.occupancy, b.occupancy, atol=1e-5)


def test_pose_is_that_of_the_matches(assembler, parts):
    sampled, net = sample_parts(parts, 800, 3), assembler.net
    unit = unit_length(sampled)
    net.config = replace(net.config, inlier_rounds=0)
    T_q_p = assembler.pose(*sampled, unit)
    p, q = (assembler.describe_points(points, unit) for points in sampled)
    matches = assembler.match(p, q)
    x, y = p.points[matches.indices[:, 0]].numpy(), q.points[matches.indices[:, 1]].numpy()
    weights = matches.weights.numpy()
    middle_x, middle_y = (np.average(points, axis=0, weights=weights) for points in (x, y))
    best, _ = Rotation.align_vectors(y - middle_y, x - middle_x, weights)
    assert np.allclose(T_q_p.R, best.as_matrix(), atol=1e-8)
    assert np.allclose(T_q_p.apply(middle_x[None]), middle_y, atol=1e-8)


def test_no_parts_no_weights(assembler):
    with pytest.raises(InputError, match="at least one"):
        assembler.describe([])
    with pytest.raises(InputError, match="no weights at"):
        cmnet.Assembler("nothing.safetensors")


def is_valid(assembly, count):
    """Every part is in one group or unplaced, poses are rigid, the largest part of a group stays where it is."""
    placed = [k for group in assembly.groups for k in group]
    rotations = assembly.poses[:, :3, :3]
    return (
        sorted([*placed, *assembly.unplaced]) == list(range(count))
        and np.allclose(rotations @ rotations.swapaxes(1, 2), np.eye(3), atol=1e-8)
        and np.allclose(np.linalg.det(rotations), 1)
        and all(any(np.array_equal(assembly.poses[k], np.eye(4)) for k in group) for group in assembly.groups)
        and all(0 <= join.sure <= 1 for join in assembly.joins)
    )


def test_the_published_solver_keeps_the_best_edge_of_every_part(assembler, parts):
    three = [*parts, parts[0].moved(Pose.random(np.random.default_rng(0)))]
    stages = []
    published = cmnet.Assembler(assembler.net, solver="paper", points=800)
    assembly = published.assemble(three, progress=lambda stage, done, total: stages.append((stage, done, total)))
    assert is_valid(assembly, 3)
    assert assembly.unplaced == []  # every part has some best edge
    assert len([join for join in assembly.joins if join.used]) == 2
    assert stages == [("descriptors", k, 3) for k in (1, 2, 3)] + [("matches", k, 3) for k in (1, 2, 3)]


def test_the_score_of_a_published_edge_is_the_mass_of_all_matches(assembler, parts, monkeypatch):
    edges = []
    monkeypatch.setattr(cmnet.assembler, "solve_paper", lambda e, areas: edges.extend(e) or solve_paper(e, areas))
    published = cmnet.Assembler(assembler.net, solver="paper", points=2000)
    published.assemble(three := [*parts, parts[0].moved(Pose.random(np.random.default_rng(0)))])
    described = published.describe(three)
    assert len(edges) == 3
    for edge in edges:
        matches = published.match(described[edge.j], described[edge.i])
        assert edge.weight == pytest.approx(float(matches.log_assignment[:-1, :-1].exp().sum()), rel=1e-6)
        assert edge.weight > 1.5 * float(matches.weights.sum())  # of those that are kept


def test_only_the_published_solver_leaves_large_parts_their_share(assembler, parts):
    """One part among many whose shares are below the least that a part gets."""
    small = [cmnet.Part(f"{k}", 0.2 * parts[0].vertices, parts[0].faces) for k in range(12)]
    total = assembler.net.config.samples(800)
    robust = assembler.shares([parts[0], *small])
    published = cmnet.Assembler(assembler.net, solver="paper", points=800).shares([parts[0], *small])
    assert robust == [256] * 13
    assert published == [int(total / (1 + 12 * 0.04)), *[256] * 12]


def test_loaded_parts_are_not_loaded_again(assembler, parts, monkeypatch):
    assembler.solver = "paper"
    loaded, expected = cmnet.load_parts(parts), assembler.assemble(parts)
    monkeypatch.setattr(cmnet.assembler, "load_parts", None)
    assert np.array_equal(assembler.assemble_loaded(loaded).poses, expected.poses)


def test_the_network_suggests_and_the_surfaces_decide(assembler, parts):
    assembly = assembler.assemble(parts)
    assert is_valid(assembly, 2)
    assert set(assembly.matches) == {(0, 1)}
    suggested = assembler.suggestions(assembler.describe(parts), [(0, 1)])
    assert 1 <= len(suggested[0, 1]) <= 6


def test_weights_judge_by_their_own_tables_or_by_geometrys_and_say_so(assembler, parts, monkeypatch):
    judged = []

    def finished(state, names):
        judged.append([surface.judgement for surface in state.parts])
        return Assembly(np.tile(np.eye(4), (2, 1, 1)), [[0, 1]], [], [], ["before"])

    monkeypatch.setattr(cmnet.session, "run", lambda plan, state: state)
    monkeypatch.setattr(cmnet.session, "finished", finished)
    assert assembler.assemble(parts).notes == ["before", UNFITTED]
    assembler.net.judgement = fitted()
    assert assembler.assemble(parts).notes == ["before"]
    assert cmnet.Assembler("none").assemble(parts).notes == ["before"]
    assert judged == [[GEOMETRY] * 2, [fitted()] * 2, [GEOMETRY] * 2]


def flat(name):
    return cmnet.Part(name, np.eye(3), np.array([[0, 1, 2]]))


def cube(name, size=1.0):
    import trimesh

    box = trimesh.creation.box((size, size, size))
    return cmnet.Part(name, np.asarray(box.vertices, dtype=np.float64), np.asarray(box.faces, dtype=np.int64))


@pytest.mark.parametrize(
    "strange",
    [
        [cube("a"), cube("b")],
        [flat("a"), flat("b")],
        [cube("a"), flat("b"), cmnet.Part("cloud", np.random.default_rng(0).normal(size=(40, 3)))],
        [cube("a", 1000.0), cube("b", 0.001)],
    ],
    ids=["identical", "flat", "all wrong", "a mountain and a grain"],
)
@pytest.mark.parametrize(("weights", "one_object"), [("cmnet-base", True), ("none", False)])
def test_strange_parts_end_in_a_valid_assembly(strange, weights, one_object):
    few = {f"{name}.samples": 4000 for name in ("first", "coarse", "fine")}  # to save time
    assembler = cmnet.Assembler(weights, settings=with_changes(Settings(), few))
    assembly = assembler.assemble(strange, one_object=one_object)
    assert is_valid(assembly, len(strange))
    assert weights != "none" or not assembly.matches


def test_wrong_settings_are_told(assembler, parts):
    with pytest.raises(InputError, match="choose one of robust, paper"):
        cmnet.Assembler("none", solver="best")
    with pytest.raises(InputError, match="need a network"):
        cmnet.Assembler("none", solver="paper")
    with pytest.raises(InputError, match="knows no constraints"):
        cmnet.Assembler(assembler.net, solver="paper").assemble(parts, constraints="known.json")
    with pytest.raises(InputError, match="no need to say so"):
        cmnet.Assembler(assembler.net, solver="paper").assemble(parts, one_object=True)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"seed": -1}, "a seed is a whole number of at least 0, not -1"),
        ({"seed": 0.5}, "a seed is a whole number"),
        ({"weights": None}, "weights are a name, a path or 'none', not None"),
        ({"weights": "cmnet-base", "device": "elsewhere"}, "cannot run on 'elsewhere'"),
    ],
)
def test_settings_that_cannot_be_are_one_sentence(settings, words):
    with pytest.raises(InputError, match=words) as caught:
        cmnet.Assembler(**{"weights": "none", **settings})
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_device_that_is_not_there_is_one_sentence(assembler):
    with pytest.raises(InputError, match="cannot run on 'cuda'"):
        cmnet.Assembler(assembler.net, device="cuda")


def test_constraints_may_be_a_mapping(parts):
    forbidden = {"format": "cmnet.constraints/1", "forbid": [[0, 1]]}
    assert cmnet.Assembler("none")._known(forbidden, False, parts).forbid == ((0, 1),)
    with pytest.raises(InputError, match="constraints are a file, a mapping"):
        cmnet.Assembler("none")._known(5, False, parts)


def test_threads_that_assemble_at_once_get_their_own_answers(monkeypatch):
    def prepared(part, *rest):
        return SimpleNamespace(name=part.name, unit=1.0, area=1.0, T_part_surface=Pose.identity())

    def known_by_names(state, names):
        return Assembly(np.tile(np.eye(4), (2, 1, 1)), [[0, 1]], [], [], [part.name for part in state.parts])

    monkeypatch.setattr(cmnet.assembling.work, "prepare", prepared)
    monkeypatch.setattr(cmnet.session, "run", lambda passes, state: state)
    monkeypatch.setattr(cmnet.session, "finished", known_by_names)
    objects = [[cmnet.Part(f"{k} {side}", BALL.vertices, BALL.faces) for side in "ab"] for k in range(16)]
    assembler = cmnet.Assembler("none", workers=2)
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(assembler.assemble, objects))
    assert [answer.notes for answer in answers] == [[part.name for part in parts] for parts in objects]


@pytest.mark.slow
def test_threads_put_two_broken_objects_together_at_once_as_each_alone():
    rng = np.random.default_rng(3)
    objects = [fracture(make_shape(name, rng), 2, rng, "weakest").parts for name in ("mug", "vase")]
    assembler = cmnet.Assembler("none", workers=2)
    with ThreadPoolExecutor(2) as threads:
        together = list(threads.map(assembler.assemble, objects))
    for parts, assembly in zip(objects, together):
        alone = assembler.assemble(parts)
        assert np.array_equal(assembly.poses, alone.poses, equal_nan=True)
        assert [join.confidence for join in assembly.joins] == [join.confidence for join in alone.joins]
