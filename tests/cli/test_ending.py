import os
import signal
import subprocess
import sys
import tempfile
import time

import pytest

import cmnet.cli.info
from cmnet.cli import main

# A command whose work never ends, in two processes that often wait for more of it.
ENDLESS = """
import os, sys, time
import cmnet.cli.assemble as verb
from cmnet import cli, processes
from cmnet.folders import Contents, replacing_folder

def work(item):
    if item < 2:
        os.write(1, b"at work\\n")
    time.sleep(0.01)

def run(args):
    with replacing_folder(args.out, Contents("assembly.json", lambda text: ())) as folder:
        try:
            list(processes.each(work, range(6000), 2, start=args.input[0]))
        finally:
            time.sleep(0.2)  # while files are removed or predictions kept, somebody presses Ctrl-C again

if __name__ == "__main__":
    from endless import work  # as spawned processes know it
    verb.run = run
    sys.exit(cli.main(["assemble", sys.argv[1], "-o", sys.argv[2]]))
"""


def ended(folder, way, *signals):
    """Exit code and stderr of the endless command, once it and its workers have ended by signals to all of them."""
    (folder / "endless.py").write_text(ENDLESS)
    command = [sys.executable, folder / "endless.py", way, folder / "results/out"]
    process = subprocess.Popen(command, stdout=-1, stderr=-1, text=True, start_new_session=True)
    with process:
        try:
            for _ in range(2):
                assert process.stdout.readline() == "at work\n"
            for number in signals:
                os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
                time.sleep(0.1)
            _, told = process.communicate(timeout=20)
        finally:
            process.kill()
    assert not list((folder / "results").iterdir())
    return process.returncode, told


@pytest.mark.skipif(os.name != "posix", reason="has no such signals")
@pytest.mark.parametrize(("way", "times"), [("fork", 1), ("fork", 2), ("spawn", 2)])
def test_ctrl_c_ends_in_one_line_however_often_it_is_pressed(tmp_path, way, times):
    code, told = ended(tmp_path, way, *[signal.SIGINT] * times)
    assert told == "cmnet: interrupted\n"
    assert code in (130, -signal.SIGINT)  # the latter where the interpreter was about to end as the second came


@pytest.mark.skipif(os.name != "posix", reason="has no such signals")
def test_what_is_told_to_end_cleans_up(tmp_path):
    assert ended(tmp_path, "fork", signal.SIGTERM) == (143, "")


@pytest.fixture
def faulty(monkeypatch):
    def run(args):
        raise ZeroDivisionError("of α\nby zero")

    monkeypatch.setattr(cmnet.cli.info, "run", run)


def test_a_fault_of_ours_is_one_sentence_and_a_private_file(faulty, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert main(["info"]) == 70
    told = capsys.readouterr().err
    (trace,) = tmp_path.iterdir()
    assert told == f"cmnet: this is a fault of cmnet, not yours (ZeroDivisionError); please report what is in {trace}\n"
    assert "ZeroDivisionError: of α\nby zero" in trace.read_text(encoding="utf-8")
    if os.name == "posix":
        assert trace.stat().st_mode & 0o077 == 0


def test_a_fault_of_ours_is_shown_where_no_file_can_be_written(faulty, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    assert main(["info"]) == 70
    *trace, last = capsys.readouterr().err.splitlines()
    assert "ZeroDivisionError: of α" in trace
    assert last.endswith("please report the lines above")
