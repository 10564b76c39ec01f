from dataclasses import replace

import pytest

from cmnet.evaluation.predictions import Settings
from cmnet.evaluation.protocol import score
from cmnet.evaluation.runs import predict_shares, question, shares
from cmnet.evaluation.selection import select
from cmnet.parts.save import save_part


@pytest.fixture
def settings(tmp_path, make_bricks, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for k in range(3):
        for part in make_bricks(k + 2, "piece"):
            save_part(part, tmp_path / f"set/Bar/{k}/fractured_0/{part.name}.ply")
    return Settings(str(tmp_path), points=1000, method="chance", task="assembly")


def test_what_is_done_is_not_shared_out_again() -> None:
    settings = Settings("nowhere", method="cmnet", weights="none", solver="robust", task="assembly")
    assert shares(settings, ["a", "b"], ()) == [(0, ("cmnet", "chance")), (1, ("cmnet", "chance"))]
    done = {("a", "cmnet"), ("a", "chance"), ("b", "chance")}
    assert shares(settings, ["a", "b"], done) == [(1, ("cmnet",))]


def test_shares_in_any_order_add_up_to_the_same(settings) -> None:
    objects = select(settings)
    todo = shares(settings, [fracture.name for fracture in objects.fractures], ())
    forward = [p for some in predict_shares(settings, objects, todo) for p in some]
    backward = [p for share in todo[::-1] for some in predict_shares(settings, objects, [share]) for p in some]
    a, b = (score(objects, found, ("chance",), 0, question("assembly")) for found in (forward, backward))
    assert [replace(s, seconds=0) for s in a] == [replace(s, seconds=0) for s in b]
    assert [s.pieces for s in a] == [2, 3, 4]


def test_the_task_decides_how_many_parts_are_asked_for(settings) -> None:
    objects = select(settings)
    assert [len(question("assembly")(obj, 0).parts) for obj in objects] == [2, 3, 4]
    assert [len(question("pairs")(obj, 0).parts) for obj in objects] == [2, 2, 2]
