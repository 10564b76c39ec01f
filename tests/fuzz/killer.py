"""Kills a process that writes results, at random moments, and looks at what is left.

python tests/fuzz/killer.py FOLDER ROUNDS SEED: exits with an assertion where a folder is half written.
"""

import json
import os
import shutil
import signal
import struct
import sys
import time
from contextlib import suppress
from itertools import count
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from cmnet.errors import InputError
from cmnet.folders import replacing_folder
from cmnet.report.document import Run
from cmnet.report.folder import RESULT, write_results
from results import hand_made


def write_for_ever(out: Path, parent: int) -> None:
    assembly, parts = hand_made(tuple(f"part {k}" for k in range(4)))
    for seed in count():
        if os.getppid() != parent:
            os._exit(1)
        with replacing_folder(out, RESULT, force=True) as folder:
            write_results(folder, assembly, parts, Run(seed=seed), "killed")


def seconds_of_a_run(out: Path) -> float:
    """How long it takes to write results here and now, once everything is loaded."""
    assembly, parts = hand_made(tuple(f"part {k}" for k in range(4)))
    for _ in range(2):
        start = time.perf_counter()
        with replacing_folder(out, RESULT, force=True) as folder:
            write_results(folder, assembly, parts, Run(), "trial")
    shutil.rmtree(out)
    return time.perf_counter() - start


def check(folder: Path) -> None:
    """Every file is there, whole, and of the same run."""
    content = json.loads((folder / "assembly.json").read_text())
    assert f"seed: {content['seed']}\n" in (folder / "config.yaml").read_text()
    glb = (folder / "assembled.glb").read_bytes()
    assert struct.unpack("<I", glb[8:12])[0] == len(glb)
    sizes = {(folder / part["placed_file"]).stat().st_size for part in content["parts"]}
    assert len(sizes) == 1, sizes
    assert all((folder / part["gap_file"]).stat().st_size > 0 for part in content["parts"] if part["gap_file"])
    assert len((folder / "joins.csv").read_text().splitlines()) == 1 + len(content["joins"])


def look(out: Path) -> bool:
    """Whether there is a result; it is whole. Where the killed run was replacing it, the next one brings it back."""
    if (out / "assembly.json").exists():
        check(out)
    with suppress(InputError), replacing_folder(out, RESULT):
        raise InputError("only looking")
    if out.exists():
        check(out)
    return out.exists()


def main(folder: Path, rounds: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    out, seen, longest = folder / "out", False, 2.5 * seconds_of_a_run(folder / "trial")
    for _ in range(rounds):
        killer = os.getpid()
        child = os.fork()
        if child == 0:
            write_for_ever(out, killer)
        time.sleep(float(rng.uniform(0, longest)))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        there = look(out)
        assert there or not seen, "a result was lost"
        if there and not seen:
            (out / "notes.txt").write_text("not ours")
        seen = there
    with replacing_folder(out, RESULT, force=True) as fresh:
        (fresh / "assembly.json").write_text("{}")
    left = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*"))
    assert left == ["out", "out/assembly.json", *["out/notes.txt"] * seen], left
    assert seen or rounds < 5, "no run ever finished: the moments are too short"


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
