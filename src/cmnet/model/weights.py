"""Weights on disk: safetensors only, the config in the same file, nothing that could run code."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cmnet.errors import InputError
from cmnet.files import replacing
from cmnet.judgement import Judgement, judgement_from
from cmnet.model.config import CMNetConfig
from cmnet.reading import expanded, parse_json
from cmnet.values import checked

if TYPE_CHECKING:
    from torch import Tensor

    from cmnet.model.network import CMNet

FORMAT = "cmnet.weights/1"
DEFAULT = "cmnet-base"  # the shipped ones
NO_WEIGHTS = "none"  # geometry alone
ADVICE = "train or download it again"
SHIPPED = Path(__file__).parent.parent / "assets"


def save_network(net: CMNet, path: str | Path, notes: dict[str, Any], half: bool = False) -> None:
    """Write `net` to `path`, atomically; `half` precision takes half the room and is read back as single."""
    from safetensors.torch import save_file

    tensors = {name: value.detach().cpu().contiguous() for name, value in net.state_dict().items()}
    if half:
        tensors = {name: value.half() for name, value in tensors.items()}
    # One entry: safetensors writes several in no fixed order, and equal weights should be equal files.
    header: dict[str, Any] = {"format": FORMAT, "config": net.config.to_dict(), "notes": notes}
    if net.judgement is not None:
        header["judgement"] = asdict(net.judgement)
    with replacing(Path(path)) as temporary:
        save_file(tensors, temporary, metadata={"cmnet": json.dumps(header)})


def with_judgement(name_or_path: str | Path, judgement: Judgement | None) -> None:
    """Store tables in a file of weights, in place of those it has; None: take these away. The tensors stay."""
    path = find_weights(name_or_path)
    with _opened(path) as file:
        ours = _header(path, file.metadata() or {})
    ours.pop("judgement", None)
    if judgement is not None:
        ours["judgement"] = asdict(judgement_from(asdict(judgement), f"{path} is to be given"))
    _rewrite_header(path, ours)


def _rewrite_header(path: Path, ours: dict[str, Any]) -> None:
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    header["__metadata__"]["cmnet"] = json.dumps(ours)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # tensors begin at a multiple of eight bytes
    with replacing(path) as temporary:
        temporary.write_bytes(len(text).to_bytes(8, "little") + text + content[end:])


def shipped() -> dict[str, Path]:
    """The weights inside the package, by name."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*.safetensors"))}


def find_weights(name_or_path: str | Path) -> Path:
    """The file of weights given by a path, or by the name of shipped ones."""
    if not isinstance(name_or_path, str | Path):
        raise InputError(f"weights are a name, a path or 'none', not {name_or_path!r}; shipped: {', '.join(shipped())}")
    path = expanded(name_or_path)
    if path.is_file():
        return path
    if str(name_or_path) in shipped():
        return shipped()[str(name_or_path)]
    if path.suffix or len(path.parts) > 1:
        raise InputError(f"no weights at {path}; give the path of a .safetensors file written by `cmnet train`")
    known = ", ".join(shipped())
    raise InputError(f"no weights are called {str(name_or_path)!r}; shipped: {known}; or give a .safetensors file")


def fingerprint(name_or_path: str | Path) -> str | None:
    """The SHA-256 of the file of weights, in hexadecimal; None: of none."""
    if name_or_path == NO_WEIGHTS:
        return None
    with find_weights(name_or_path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def load_network(name_or_path: str | Path) -> CMNet:
    """The network in a file or of that name, in evaluation mode; an InputError where it is not one of ours."""
    import torch

    from cmnet.model.network import CMNet

    path = find_weights(name_or_path)
    with _opened(path) as file:
        header = _header(path, file.metadata() or {})
        config, judgement = _config(path, header), _judgement(path, header)
        found = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118 (not a dict)
        with torch.device("meta"):  # shapes without memory: the config is believed once the tensors bear it out
            wanted = {name: tuple(value.shape) for name, value in CMNet(config).state_dict().items()}
        _check_shapes(path, wanted, found)
        tensors = {name: file.get_tensor(name) for name in found}
    _check_numbers(path, tensors)
    net = CMNet(config)
    net.load_state_dict(tensors)
    net.judgement = judgement
    return net.eval()


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """A safetensors file; an InputError where it is none, or may not be read."""
    import safetensors

    try:
        with safetensors.safe_open(path, framework="pt") as file:
            yield file
    except PermissionError:
        raise InputError(f"{path} may not be read; change its permissions, or give other weights") from None
    except (safetensors.SafetensorError, OSError) as error:
        raise InputError(f"{path} is not a readable safetensors file ({error}); {ADVICE}") from None


def _header(path: Path, metadata: dict[str, str]) -> dict[str, Any]:
    header = parse_json(metadata.get("cmnet", "{}"), f"the header of {path}", ADVICE)
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        found = header.get("format") if isinstance(header, dict) else None
        raise InputError(f"{path} holds no CMNet weights (its format is {found!r}, not {FORMAT!r})")
    return header


def _config(path: Path, header: dict[str, Any]) -> CMNetConfig:
    if not isinstance(header.get("config"), dict):
        raise InputError(f"{path} does not say what network its weights are for; {ADVICE}")
    try:
        return CMNetConfig(**checked(CMNetConfig, header["config"]))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _judgement(path: Path, header: dict[str, Any]) -> Judgement | None:
    stored = header.get("judgement")  # weights that nobody has fitted a table with have none
    return None if stored is None else judgement_from(stored, str(path))


def _check_shapes(path: Path, wanted: dict[str, tuple[int, ...]], found: dict[str, tuple[int, ...]]) -> None:
    """Refuse weights whose names or shapes are not exactly those of the network its config describes."""
    for name in sorted(wanted.keys() | found.keys()):
        if found.get(name) != wanted.get(name):
            raise InputError(
                f"{path} does not fit the network its config describes: {name} has shape {found.get(name)}, "
                f"the network needs {wanted.get(name)}; use the file as `cmnet train` wrote it"
            )


def _check_numbers(path: Path, tensors: dict[str, Tensor]) -> None:
    for name, value in tensors.items():
        if not (value.is_floating_point() and value.isfinite().all()):
            raise InputError(f"{path} is damaged: {name} holds what is no finite number; {ADVICE}")
