import os
import zipfile
from types import SimpleNamespace

import pytest
import trimesh

from cmnet.errors import InputError
from cmnet.parts import archive
from cmnet.parts.load import load_parts

BALL = trimesh.creation.icosphere(2)


def packed(path, entries):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zip_file:
        for name, content in entries.items():
            zip_file.writestr(name, content)
    return path


def ball():
    return BALL.export(file_type="ply")


def test_a_zip_is_read_like_a_folder(tmp_path):
    entries = {f"Scherben/Stück {k}.ply": ball() for k in (10, 2)}
    entries |= {"__MACOSX/Scherben/._Stück 2.ply": b"x", ".DS_Store": b"x", "Scherben/readme.txt": b"x"}
    file = packed(tmp_path / "pile.zip", entries)
    parts = load_parts(file)
    assert [p.name for p in parts] == ["Stück 2", "Stück 10"]
    assert parts[0].file == file / "Scherben/Stück 2.ply"
    assert len(load_parts([file, file])) == 4


def test_faults_are_told_of_the_zip_not_of_where_it_was_unpacked(tmp_path):
    file = packed(tmp_path / "pile.zip", {"a.ply": ball(), "sub/b.ply": b"hello"})
    with pytest.raises(InputError) as caught:
        load_parts(file)
    assert str(file / "sub/b.ply") in str(caught.value)
    assert "cmnet-zip-" not in str(caught.value)


@pytest.mark.parametrize("name", ["../a.ply", "/tmp/a.ply", "x/../../a.ply", "..\\a.ply", "C:/a.ply", "C:\\a.ply"])
def test_entries_that_lead_out_are_refused(tmp_path, name):
    file = packed(tmp_path / "pile.zip", {"b.ply": ball(), name: ball()})
    with pytest.raises(InputError, match="leads out"):
        load_parts(file)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["pile.zip"]


def test_links_are_unpacked_as_plain_files(tmp_path):
    with zipfile.ZipFile(tmp_path / "pile.zip", "w") as zip_file:
        entry = zipfile.ZipInfo("a.ply")
        entry.external_attr = 0o120777 << 16
        zip_file.writestr(entry, "/etc/passwd")
    with pytest.raises(InputError, match=r"a\.ply cannot be read"):
        load_parts(tmp_path / "pile.zip")


def test_bombs_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "SMALL", 10_000)
    file = packed(tmp_path / "pile.zip", {"a.xyz": b"0 0 0\n" * 10**6})
    with pytest.raises(InputError, match="far more than it holds"):
        load_parts(file)
    monkeypatch.setattr(archive, "MOST_FILES", 3)
    with pytest.raises(InputError, match="4 files"):
        load_parts(packed(tmp_path / "many.zip", {f"{k}.ply": b"" for k in range(4)}))


def test_files_that_share_their_bytes_are_refused(tmp_path):
    file = packed(tmp_path / "pile.zip", {"a.ply": ball(), "b.ply": ball()})
    content = bytearray(file.read_bytes())
    second = content.rfind(b"PK\x01\x02") + 42  # where the directory says that b.ply begins
    content[second : second + 4] = (0).to_bytes(4, "little")
    file.write_bytes(content)
    with pytest.raises(InputError, match="overlap"):
        load_parts(file)


def test_a_disk_without_room_is_said_before_it_is_filled(tmp_path, monkeypatch):
    file = packed(tmp_path / "pile.zip", {"a.ply": ball()})
    monkeypatch.setattr(archive.shutil, "disk_usage", lambda path: SimpleNamespace(free=1000))
    with pytest.raises(InputError, match="set TMPDIR"):
        load_parts(file)


def test_what_killed_runs_left_is_cleared_and_nothing_else(tmp_path, monkeypatch):
    file = packed(tmp_path / "pile.zip", {"a.ply": ball()})
    temp = tmp_path / "temp"
    temp.mkdir()
    monkeypatch.setattr(archive.tempfile, "tempdir", str(temp))
    for name in ("cmnet-zip-old", "cmnet-zip-fresh", "cmnet-zip-used", "other"):
        (temp / name).mkdir()
        (temp / name / "a.ply").write_bytes(b"")
        os.utime(temp / name, (0, 0) if name != "cmnet-zip-fresh" else None)
    (temp / "cmnet-zip-link").symlink_to(temp / "other")
    with archive._locked(temp / "cmnet-zip-used"):
        load_parts(file)
    left = {"cmnet-zip-fresh", "cmnet-zip-used", "cmnet-zip-link", "other"}
    assert {path.name for path in temp.iterdir()} == left
    assert (temp / "other/a.ply").exists()


def test_an_entry_that_lies_about_its_size_is_not_unpacked_further(tmp_path):
    file = packed(tmp_path / "pile.zip", {"a.xyz": os.urandom(50_000)})
    content = bytearray(file.read_bytes())
    for mark, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        k = content.find(mark) + at
        content[k : k + 4] = (100).to_bytes(4, "little")
    file.write_bytes(content)
    with pytest.raises(InputError, match="damaged"):
        load_parts(file)


def test_damaged_and_empty_zips(tmp_path):
    whole = packed(tmp_path / "pile.zip", {"a.ply": ball()}).read_bytes()
    for k, content in enumerate((b"", b"PK", whole[:-30], whole[:300] + b"\xff" * 50 + whole[350:], b"hello")):
        (tmp_path / f"{k}.zip").write_bytes(content)
        with pytest.raises(InputError, match=f"{k}.zip"):
            load_parts(tmp_path / f"{k}.zip")
    with pytest.raises(InputError, match=r"no fragments in .*none\.zip: it holds notes\.txt"):
        load_parts(packed(tmp_path / "none.zip", {"notes.txt": b""}))
