import pytest

from cmnet.data.breaking_bad import find_fractures
from cmnet.errors import InputError


def tree(root, *files):
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text("")


def fracture(name, pieces, suffix=".obj"):
    return [f"{name}/piece_{k}{suffix}" for k in range(pieces)]


@pytest.fixture
def root(tmp_path):
    tree(
        tmp_path,
        *fracture("everyday/Vase/aa/fractured_10", 2),
        *fracture("everyday/Vase/aa/fractured_9", 2),
        *fracture("everyday/Vase/aa/mode_0", 1),
        *fracture("everyday/Mug/bb/mode_1", 12, ".ply"),
        *fracture("artifact/39_sf/fractured_0", 2, ".ply"),
    )
    (tmp_path / "data_split").mkdir()
    (tmp_path / "data_split/everyday.train.txt").write_text("everyday/Vase/aa\n\n")
    (tmp_path / "data_split/everyday.val.txt").write_text("Mug/bb\n")
    (tmp_path / "data_split/artifact.train.txt").write_text("artifact/39_sf")
    return tmp_path


def names(fractures):
    return [f.name for f in fractures]


def test_finds_everything_in_natural_order(root):
    assert names(find_fractures(root, pieces=None)) == [
        "artifact/39_sf/fractured_0",
        "everyday/Mug/bb/mode_1",
        "everyday/Vase/aa/fractured_9",
        "everyday/Vase/aa/fractured_10",
        "everyday/Vase/aa/mode_0",
    ]


def test_a_fracture_knows_where_it_belongs(root):
    artifact, mug = find_fractures(root, pieces=(2, 20))[:2]
    assert (artifact.subset, artifact.category, artifact.object_id) == ("artifact", "", "39_sf")
    assert (mug.subset, mug.category, mug.object_id) == ("everyday", "Mug", "bb")
    assert [f.name for f in mug.files] == [f"piece_{k}.ply" for k in range(12)]


def test_subset_split_and_pieces_narrow_it_down(root):
    assert len(find_fractures(root)) == 3
    assert names(find_fractures(root, "artifact")) == ["artifact/39_sf/fractured_0"]
    assert len(find_fractures(root, "everyday", "train")) == 2
    assert len(find_fractures(root, None, "train")) == 3
    assert names(find_fractures(root, "everyday", "val", (2, 20))) == ["everyday/Mug/bb/mode_1"]


def test_v2_below_a_folder_of_its_own(root, tmp_path_factory):
    outer = tmp_path_factory.mktemp("outer")
    root.rename(outer / "volume_constrained")
    found = find_fractures(outer, "volume_constrained/everyday", "train")
    assert found[0].name == "volume_constrained/everyday/Vase/aa/fractured_9"
    assert (found[0].subset, found[0].category) == ("volume_constrained/everyday", "Vase")
    (outer / "v2.txt").write_text("002 everyday/Vase/aa/fractured_9\n002 artifact/39_sf/fractured_0\n")
    assert find_fractures(outer, "volume_constrained/everyday", str(outer / "v2.txt")) == found[:1]


def test_any_folder_that_holds_pieces_counts(tmp_path):
    tree(tmp_path, *fracture("mine/pot/first", 2), "mine/pot/first/notes.txt", "mine/pot/model.obj")
    assert names(find_fractures(tmp_path)) == ["mine/pot/first"]
    assert names(find_fractures(tmp_path / "mine/pot/first")) == ["first"]


def test_a_piece_in_two_formats_counts_once(tmp_path):
    tree(tmp_path, *fracture("a/b/mode_0", 2, ".obj"), *fracture("a/b/mode_0", 2, ".ply"))
    assert [f.suffix for f in find_fractures(tmp_path)[0].files] == [".ply", ".ply"]


@pytest.mark.parametrize(
    ("kwargs", "words"),
    [
        ({"subset": "nothing"}, "no subset 'nothing'.*artifact, everyday"),
        ({"subset": "everyday", "split": "test"}, r"everyday\.test\.txt.*everyday\.train\.txt, everyday\.val\.txt"),
        ({"split": "test"}, "there is: artifact"),
        ({"subset": "everyday", "pieces": (5, 7)}, "no fracture of 5 to 7 pieces.*1 of 1 piece, 2 of 2 pieces"),
        ({"subset": "everyday", "split": "val"}, "no fracture of 2 pieces.*1 of 12 pieces"),
    ],
)
def test_what_is_not_there_is_named_beside_what_is(root, kwargs, words):
    with pytest.raises(InputError, match=words):
        find_fractures(root, **kwargs)


def test_a_split_naming_missing_objects_is_refused(root):
    (root / "data_split/everyday.train.txt").write_text("everyday/Vase/aa\neveryday/Vase/gone\neveryday/Vase/lost\n")
    with pytest.raises(InputError, match=r"lists 2 of 3 objects .* first everyday/Vase/gone"):
        find_fractures(root, "everyday", "train")


@pytest.mark.parametrize("line", ["../elsewhere", "/"])
def test_a_split_does_not_lead_out_of_the_root(root, line):
    (root.parent / "elsewhere").mkdir(exist_ok=True)
    (root / "data_split/everyday.train.txt").write_text(line)
    with pytest.raises(InputError, match="lists 1 of 1"):
        find_fractures(root, "everyday", "train")


def test_no_folder_no_fracture_and_compressed_data(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        find_fractures(tmp_path / "x")
    with pytest.raises(InputError, match="no fracture in"):
        find_fractures(tmp_path)
    tree(tmp_path, "everyday/Vase/aa/mode_0/compressed_fracture.npy")
    with pytest.raises(InputError, match=r"decompress\.py"):
        find_fractures(tmp_path)


def test_lists_of_fractures_with_their_numbers_of_pieces(root, tmp_path):
    """As the field keeps them; what the numbers leave out need not be there."""
    listed = tmp_path / "everyday_val.txt"
    listed.write_text(
        "002 everyday/Vase/aa/fractured_9\n001 everyday/Vase/gone/mode_0\n012 everyday/Mug/bb/mode_1\n"
        "026 everyday/Vase/gone/mode_1\n002 artifact/39_sf/fractured_0\n"
    )
    three = ["artifact/39_sf/fractured_0", "everyday/Mug/bb/mode_1", "everyday/Vase/aa/fractured_9"]
    assert names(find_fractures(root, None, str(listed), (2, 20))) == three
    assert names(find_fractures(root, "everyday", str(listed), (2, 20))) == three[1:]
    assert names(find_fractures(root, "everyday", str(listed), (2, 2))) == three[2:]
    with pytest.raises(InputError, match="lists nothing of this subset and number of pieces"):
        find_fractures(root, "everyday", str(listed), (5, 6))
    (root / "data_split/everyday.val.txt").write_text("everyday/Vase/aa/fractured_10\n")
    assert names(find_fractures(root, None, "val")) == ["everyday/Vase/aa/fractured_10"]


def test_a_list_of_another_version_is_refused(root, tmp_path):
    (tmp_path / "v1.txt").write_text("003 everyday/Vase/aa/fractured_9\n")
    with pytest.raises(InputError, match=r"fractured_9 has 2 pieces, not 3.*v1, or v2"):
        find_fractures(root, None, str(tmp_path / "v1.txt"), (2, 20))
    with pytest.raises(InputError, match=r"no list at .*gone\.txt"):
        find_fractures(root, None, str(tmp_path / "gone.txt"))
