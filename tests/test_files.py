import errno
import os

import pytest

from cmnet.errors import InputError
from cmnet.files import replacing, write_text


def test_a_file_is_replaced_whole_with_ordinary_permissions(tmp_path):
    path = tmp_path / "a/b/Scherbe Ü.json"
    write_text(path, "alt")
    write_text(path, "neu: Ü")
    assert path.read_text(encoding="utf-8") == "neu: Ü"
    umask = os.umask(0)
    os.umask(umask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("failing", ["fsync", "replace", "chmod"])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, failing):
    def full(*words, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "file"
    write_text(path, "old")
    monkeypatch.setattr(os, failing, full)
    with pytest.raises(OSError, match="No space left"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_where_nothing_can_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"), replacing(tmp_path / "file/new"):
        pass
