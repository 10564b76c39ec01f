"""Reads damaged files, within bounds of memory and time, and reports what is neither a part nor one sentence.

python tests/fuzz/worker.py bytes|grammar SEED COUNT: prints a JSON list of findings. Run by test_readers.py.
"""

import json
import logging
import re
import resource
import signal
import sys
import tempfile
import traceback
from itertools import chain
from pathlib import Path

import numpy as np
from seeds import seeds

from cmnet.errors import InputError
from cmnet.model.weights import load_network
from cmnet.parts.load import load_parts
from cmnet.parts.part import Part
from cmnet.solving.constraints import load_constraints

MEMORY = 2**30  # bytes that reading a file of a few kilobytes may take beyond what is there already
SECONDS = 10  # that it may take
NUMBERS = [0, 1, 255, 256, 65535, 2**24, 2**31 - 1, 2**31, 2**32 - 1]
WORDS = [b"-1", b"0", b"4294967295", b"99999999999999999999", b"1e308", b"nan", b"inf", b"", b"x", b"2147483648"]
FILES = seeds()
OTHERS = {  # what is no part, by its ending
    ".json": lambda path: load_constraints(path, ["a", "b", "c"]),
    ".safetensors": load_network,
}


class Hang(BaseException):
    """Not an Exception: no reader may swallow it."""


def damaged(content: bytes, others: list[bytes], rng: np.random.Generator) -> bytes:
    """The content with one to four things wrong with it."""
    changes = [_flip, _cut, _drop, _double, _blank, _number, _word, _splice]
    for _ in range(int(rng.integers(1, 5))):
        content = changes[rng.integers(len(changes))](content, others, rng)
    return content


def _spot(content: bytes, rng: np.random.Generator, longest: int = 64) -> tuple[int, int]:
    """A random stretch; headers are favoured, since they decide most."""
    start = int(rng.integers(min(len(content), 400) + 1) if rng.random() < 0.6 else rng.integers(len(content) + 1))
    return start, min(len(content), start + int(rng.integers(1, longest)))


def _flip(content, others, rng):
    changed = bytearray(content)
    for k in rng.integers(0, max(len(changed), 1), int(rng.integers(1, 10))):
        if k < len(changed):
            changed[k] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _cut(content, others, rng):
    return content[: int(rng.integers(len(content) + 1))]


def _drop(content, others, rng):
    start, end = _spot(content, rng)
    return content[:start] + content[end:]


def _double(content, others, rng):
    start, end = _spot(content, rng)
    return content[:end] + content[start:end] * int(rng.integers(1, 50)) + content[end:]


def _blank(content, others, rng):
    start, end = _spot(content, rng)
    return content[:start] + bytes([int(rng.choice([0, 32, 255]))]) * (end - start) + content[end:]


def _number(content, others, rng):
    start = _spot(content, rng)[0]
    width = int(rng.choice([2, 4, 8]))
    value = int(rng.choice(NUMBERS)) & (2 ** (8 * width) - 1)
    return content[:start] + value.to_bytes(width, "little") + content[start + width :]


def _word(content, others, rng):
    found = list(re.finditer(rb"[-\d.]+", content[:4000] if rng.random() < 0.7 else content))
    if not found:
        return content
    match = found[rng.integers(len(found))]
    return content[: match.start()] + WORDS[rng.integers(len(WORDS))] + content[match.end() :]


def _splice(content, others, rng):
    other = others[rng.integers(len(others))]
    start, end = _spot(other, rng, 400)
    at = _spot(content, rng)[0]
    return content[:at] + other[start:end] + content[at:]


def healthy(part: Part) -> bool:
    faces = part.faces
    inside = faces is None or (faces.min() >= 0 and faces.max() < len(part.vertices))
    return bool(np.isfinite(part.vertices).all() and inside and part.name)


def fault(path: Path) -> str | None:
    """What is wrong with the way a file was read, if anything."""
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        if path.suffix in OTHERS:
            OTHERS[path.suffix](path)
            return None
        parts = load_parts(path)
        return None if parts and all(healthy(part) for part in parts) else "an ill part"
    except InputError as error:
        said = str(error)
        chain = {type(error.__cause__), type(getattr(error.__cause__, "__cause__", None))}
        return "out of memory" if MemoryError in chain else None if "\n" not in said else f"not one sentence: {said}"
    except (Exception, Hang):
        return traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def stop(*_: object) -> None:
    raise Hang


def from_bytes(k: int, rng: np.random.Generator) -> tuple[str, bytes]:
    """Number k of the damaged files."""
    name = list(FILES)[k % len(FILES)]
    return name, damaged(FILES[name], list(FILES.values()), rng)


def from_grammar(k: int, rng: np.random.Generator) -> tuple[str, bytes]:
    """Number k of the files that were never right."""
    from grammar import FORMATS, Dice

    name = list(FORMATS)[k % len(FORMATS)]
    return name, FORMATS[name](Dice(rng))


def main(make, seed: int, count: int) -> None:
    logging.disable()
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        for name, content in FILES.items():  # also loads what trimesh loads on first use, before memory is limited
            Path(folder, name).write_bytes(content)
            assert load_parts(Path(folder, name)), name
        made = (make(k, rng) for k in range(count))
        first = next(made)
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        signal.signal(signal.SIGALRM, stop)
        findings = []
        for k, (name, content) in enumerate(chain([first], made)):
            path = Path(folder, name)
            path.write_bytes(content)
            found = fault(path)
            if found:
                findings.append({"seed": seed, "k": k, "file": name, "fault": found})
    print(json.dumps(findings))  # noqa: T201


if __name__ == "__main__":
    main({"bytes": from_bytes, "grammar": from_grammar}[sys.argv[1]], int(sys.argv[2]), int(sys.argv[3]))
