import http.client
import threading
from pathlib import Path

import pytest

from cmnet.cli import main
from cmnet.cli.view import server


@pytest.fixture
def served(tmp_path):
    out = tmp_path / "out"
    (out / "placed").mkdir(parents=True)
    (out / "report.html").write_text("the report")
    (out / "placed/Scherbe ü.ply").write_text("ply")
    (tmp_path / "secret.txt").write_text("secret")
    (out / "link.txt").symlink_to(tmp_path / "secret.txt")
    serving = server(out)
    thread = threading.Thread(target=serving.serve_forever)
    thread.start()
    yield serving.server_address
    serving.shutdown()
    serving.server_close()
    thread.join()


def get(address, path, host=None):
    connection = http.client.HTTPConnection(*address, timeout=10)
    connection.putrequest("GET", path, skip_host=True)
    connection.putheader("Host", host or f"127.0.0.1:{address[1]}")
    connection.endheaders()
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


@pytest.mark.parametrize("path", ["/a%00b", "/" + "x" * 5000, "/%ff%fe"], ids=["NUL", "long", "bytes"])
def test_names_that_no_file_can_have_are_not_found(served, path, capfd):
    assert get(served, path)[0] == 404
    assert not capfd.readouterr().err


def test_only_files_of_the_folder_are_served_and_only_here(served):
    assert served[0] == "127.0.0.1"
    assert get(served, "/report.html") == (200, "the report")
    assert get(served, "/placed/Scherbe%20%C3%BC.ply") == (200, "ply")
    for path in (
        "/",
        "/placed/",
        "/placed",
        "/nothing",
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/placed/../../secret.txt",
        "//secret.txt",
        "/link.txt",
        "/report.html/../../secret.txt",
    ):
        status, text = get(served, path)
        assert status == 404, path
        assert "secret" not in text.replace("secret.txt", "")
    assert get(served, "/report.html", host="evil.example")[0] == 403


@pytest.mark.parametrize(
    ("folder", "options", "words"),
    [
        ("missing", [], "no such folder"),
        ("empty", [], "holds no report.html"),
        ("full", ["--port", "70000"], "between 0 and 65535"),
    ],
)
def test_clear_refusals(tmp_path: Path, capsys, folder, options, words):
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full/report.html").write_text("")
    assert main(["view", str(tmp_path / folder), "--no-browser", *options]) == 2
    assert words in capsys.readouterr().err


def test_a_port_in_use_is_said(served, tmp_path, capsys):
    assert main(["view", str(tmp_path / "out"), "--no-browser", "--port", str(served[1])]) == 2
    assert "cannot listen" in capsys.readouterr().err


def test_the_browser_is_opened_unless_told_otherwise(tmp_path, capsys, monkeypatch):
    (tmp_path / "report.html").write_text("")
    opened = []

    def stop(self):
        raise KeyboardInterrupt

    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("http.server.ThreadingHTTPServer.serve_forever", stop)
    assert main(["view", str(tmp_path), "--no-browser"]) == 0
    assert opened == []
    assert main(["view", str(tmp_path)]) == 0
    assert opened[0].startswith("http://127.0.0.1:")
    assert opened[0] in capsys.readouterr().out
