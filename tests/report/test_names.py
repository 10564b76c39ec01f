from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmnet.report.names import file_stems


@given(st.lists(st.text(max_size=200), max_size=20))
def test_stems_are_distinct_names_of_files_in_one_folder(names):
    stems = file_stems(names)
    assert len({s.casefold() for s in stems}) == len(names)
    for stem in stems:
        assert Path("folder", f"{stem}.ply").parent == Path("folder")
        assert not stem.startswith((".", "-", " "))
        assert not set(stem) & set('/\\:*?"<>|\0\n')
        assert len(stem.encode()) <= 110


@pytest.mark.parametrize("name", ["Scherbe Ü 1", "piece_0", "sherd (2).scan", "欠片-3", "الف"])
def test_names_by_people_stay_as_they_are(name):
    assert file_stems([name]) == [name]


@pytest.mark.parametrize(
    ("name", "stem"), [("CON", "_CON"), ("nul.x", "_nul.x"), ("..", "part"), ("-rf", "_-rf"), ("<b>", "_b_")]
)
def test_names_that_mean_something_to_a_system_do_not(name, stem):
    assert file_stems([name]) == [stem]
