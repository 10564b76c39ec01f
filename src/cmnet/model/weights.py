"""Weights on disk: safetensors only, the config in the same file, nothing that could run code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cmnet.errors import InputError
from cmnet.files import replacing
from cmnet.model.config import CMNetConfig, checked

if TYPE_CHECKING:
    from cmnet.model.network import CMNet

FORMAT = "cmnet.weights/1"
DEFAULT = "cmnet-base"  # the shipped ones
NO_WEIGHTS = "none"  # geometry alone
SHIPPED = Path(__file__).parent.parent / "assets"


def save_network(net: CMNet, path: str | Path, notes: dict[str, Any], half: bool = False) -> None:
    """Write `net` to `path`, atomically; `half` precision takes half the room and is read back as single."""
    from safetensors.torch import save_file

    tensors = {name: value.detach().cpu().contiguous() for name, value in net.state_dict().items()}
    if half:
        tensors = {name: value.half() for name, value in tensors.items()}
    # One entry: safetensors writes several in no fixed order, and equal weights should be equal files.
    header = json.dumps({"format": FORMAT, "config": net.config.to_dict(), "notes": notes})
    with replacing(Path(path)) as temporary:
        save_file(tensors, temporary, metadata={"cmnet": header})


def shipped() -> dict[str, Path]:
    """The weights inside the package, by name."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*.safetensors"))}


def find_weights(name_or_path: str | Path) -> Path:
    """The file of weights given by a path, or by the name of shipped ones."""
    path = Path(name_or_path)
    if path.is_file():
        return path
    if str(name_or_path) in shipped():
        return shipped()[str(name_or_path)]
    if path.suffix or len(path.parts) > 1:
        raise InputError(f"no weights at {path}; give the path of a .safetensors file written by `cmnet train`")
    known = ", ".join(shipped())
    raise InputError(f"no weights are called {str(name_or_path)!r}; shipped: {known}; or give a .safetensors file")


def load_network(name_or_path: str | Path) -> CMNet:
    """The network in a file or of that name, in evaluation mode; an InputError where it is not one of ours."""
    from safetensors import SafetensorError, safe_open

    from cmnet.model.network import CMNet

    path = find_weights(name_or_path)
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    except PermissionError:
        raise InputError(f"{path} may not be read; change its permissions, or give other weights") from None
    except (SafetensorError, OSError) as error:
        raise InputError(f"{path} is not a readable safetensors file ({error}); train or download it again") from None
    net = CMNet(_config(path, metadata))
    _check_shapes(path, {name: tuple(value.shape) for name, value in net.state_dict().items()}, tensors)
    net.load_state_dict(tensors)
    return net.eval()


def _config(path: Path, metadata: dict[str, str]) -> CMNetConfig:
    try:
        header = json.loads(metadata.get("cmnet", "{}"))
    except json.JSONDecodeError as error:
        raise InputError(f"{path} has a damaged header ({error}); train or download it again") from None
    if header.get("format") != FORMAT:
        raise InputError(f"{path} holds no CMNet weights (its format is {header.get('format')!r}, not {FORMAT!r})")
    return CMNetConfig(**checked(CMNetConfig, header["config"]))


def _check_shapes(path: Path, wanted: dict[str, tuple[int, ...]], found: dict[str, Any]) -> None:
    """Refuse weights whose names or shapes are not exactly those of the network its config describes."""
    for name in sorted(wanted.keys() | found.keys()):
        have = tuple(found[name].shape) if name in found else None
        if have != wanted.get(name):
            raise InputError(
                f"{path} does not fit the network its config describes: {name} has shape {have}, "
                f"the network needs {wanted.get(name)}; use the file as `cmnet train` wrote it"
            )
