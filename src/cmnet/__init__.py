"""Puts broken objects back together: fragments in, poses out, with a statement of how sure it is.

The public names are loaded on first use, so `import cmnet` is instant and never imports torch by itself.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

_WHERE = {
    "Part": "cmnet.parts.part",
    "load_parts": "cmnet.parts.load",
    "Pose": "cmnet.geometry.pose",
    "CMNet": "cmnet.model.network",
    "Assembler": "cmnet.assembler",
    "Assembly": "cmnet.solving.assembly",
    "assemble": "cmnet.assembler",
    "Session": "cmnet.session",
}

__all__ = ["Assembler", "Assembly", "CMNet", "Part", "Pose", "Session", "__version__", "assemble", "load_parts"]

if TYPE_CHECKING:
    from cmnet.assembler import Assembler, assemble
    from cmnet.geometry.pose import Pose
    from cmnet.model.network import CMNet
    from cmnet.parts.load import load_parts
    from cmnet.parts.part import Part
    from cmnet.session import Session
    from cmnet.solving.assembly import Assembly


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'cmnet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
