"""The versions of other packages."""

from importlib import metadata

COMPUTING = ("numpy", "scipy", "torch", "numba", "gtsam", "trimesh")  # another version may give another result


def version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "missing"
