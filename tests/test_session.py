"""A session goes on: decisions change what is made of candidates that are found once."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import trimesh

import cmnet
from breaking import broken_twice
from cmnet.errors import InputError
from cmnet.geometry.pose import Pose
from cmnet.session import Session


@pytest.fixture(scope="module")
def parts():
    """Four parts of an egg, each moved at random."""
    rng = np.random.default_rng(8)
    return [part.moved(Pose.random(rng, 1.0)) for part in broken_twice(np.random.default_rng(4))]


@pytest.fixture(scope="module")
def finished(parts, tmp_path_factory):
    """A session of them, saved when all was found."""
    session = Session(parts, "none")
    session.propose()
    folder = tmp_path_factory.mktemp("session")
    session.save(folder)
    return session.assembly, folder


@pytest.fixture
def session(finished):
    """As it was saved, and solved again."""
    session = Session.load(finished[1])
    session.solve()
    return session


def asked(session, monkeypatch):
    """The stages and numbers of items of all work that is done from now on."""
    done, each = [], session.assembler.each

    def noted(stage, work, items, tell):
        done.append((stage, len(items)))
        return each(stage, work, items, tell)

    monkeypatch.setattr(session.assembler, "each", noted)
    return done


def used(assembly):
    return [join for join in assembly.joins if join.used]


def test_a_session_says_what_assemble_says(parts, finished):
    assert finished[0].groups == [[0, 1, 2, 3]]
    assert np.array_equal(cmnet.assemble(parts, weights="none").poses, finished[0].poses)


def test_what_was_saved_goes_on_as_it_was(session, finished, monkeypatch):
    assert np.array_equal(session.assembly.poses, finished[0].poses)
    assert [join.number for join in session.assembly.joins] == [join.number for join in finished[0].joins]
    done = asked(session, monkeypatch)
    session.propose()
    assert not done


def test_a_rejected_join_is_used_no_more_and_comes_back(session, monkeypatch):
    before, done = session.assembly, asked(session, monkeypatch)
    for join in used(before):
        session.reject(join)
        assert join.number not in {other.number for other in used(session.solve())}
        session.undo()
        assert np.array_equal(session.solve().poses, before.poses)
    assert not {stage for stage, _ in done} & {"joins", "second look"}


def test_decisions_give_what_a_fresh_run_with_them_gives(session, parts):
    session.reject(used(session.assembly)[0])
    weak = next(join for join in session.assembly.joins[::-1] if join.pair == used(session.assembly)[1].pair)
    session.accept(weak.number)
    session.propose()
    fresh = cmnet.assemble(parts, weights="none", constraints=session.constraints)
    assert session.assembly.groups == fresh.groups
    assert np.allclose(session.assembly.poses, fresh.poses, atol=1e-6)


def test_a_locked_part_stays(session):
    k = session.assembly.groups[0][-1]
    place = session.assembly.poses[k]
    session.lock(session.parts[k].name)
    assert np.allclose(session.solve().poses[k], place)
    assert session.assembly.groups == [[0, 1, 2, 3]]


def test_only_pairs_with_a_new_part_are_compared(parts, monkeypatch):
    session = Session(parts[:3], "none")
    session.propose()
    done = asked(session, monkeypatch)
    session.add([parts[3]])
    assert session.propose().groups == [[0, 1, 2, 3]]
    assert dict(done)["joins"] == 3
    with pytest.raises(InputError, match="there is a part"):
        session.add([parts[3]])


def test_without_a_part_nothing_of_it_is_left(session, parts, monkeypatch):
    done = asked(session, monkeypatch)
    session.reject(used(session.assembly)[0])
    session.remove(parts[1].name)
    assembly = session.solve()
    assert [part.name for part in session.parts] == [parts[k].name for k in (0, 2, 3)]
    assert max(k for join in assembly.joins for k in join.parts) <= 2
    assert not {stage for stage, _ in done} & {"joins", "second look"}


def test_what_cannot_be_done_is_one_sentence(session):
    with pytest.raises(InputError, match="no join has the number"):
        session.accept(10**6)
    with pytest.raises(InputError, match="there is no part 'nobody'"):
        session.lock("nobody")
    with pytest.raises(InputError, match="nothing to undo"):
        session.undo()
    with pytest.raises(InputError, match="give the folder of a saved session"):
        Session.load("/dev")


def saved_again(finished, folder, change):
    """A copy of the saved session with its JSON changed."""
    for file in finished[1].iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    content = json.loads((folder / "session.json").read_text())
    change(content)
    (folder / "session.json").write_text(json.dumps(content))
    return folder


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: c.update(format="cmnet.session/9"), "no session of this version"),
        (lambda c: c.update(arrays="parts-0.npz"), "cannot be read"),
        (lambda c: c.pop("parts"), "is damaged"),
        (lambda c: c["answers"].append({"kind": 3}), "is damaged"),
        (lambda c: c.update(weights="cmnet-base"), "other weights"),
        (lambda c: c["settings"].update(nothing=1), "no setting is called"),
    ],
)
def test_damaged_sessions_are_refused(finished, tmp_path, change, said):
    with pytest.raises(InputError, match=said):
        Session.load(saved_again(finished, tmp_path, change))


def test_parts_that_have_changed_are_noticed(tmp_path):
    for k in range(2):
        trimesh.creation.box((1, 1, 1 + k)).export(tmp_path / f"part_{k}.ply")
    Session(tmp_path, "none").save(tmp_path / "saved")
    assert len(Session.load(tmp_path / "saved").parts) == 2
    trimesh.creation.box((2, 2, 2)).export(tmp_path / "part_1.ply")
    with pytest.raises(InputError, match="has changed since"):
        Session.load(tmp_path / "saved")


@pytest.mark.slow
def test_a_process_that_is_killed_while_it_saves_loses_nothing(finished, tmp_path):
    script = (
        "import sys; from cmnet.session import Session; s = Session.load(sys.argv[1])\nwhile True: s.save(sys.argv[2])"
    )
    for wait in (0.0, 0.003, 0.01, 0.03):
        process = subprocess.Popen([sys.executable, "-c", script, finished[1], tmp_path])
        while not (tmp_path / "session.json").exists():
            time.sleep(0.01)
        time.sleep(wait)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert np.array_equal(Session.load(tmp_path).solve().poses, finished[0].poses)
