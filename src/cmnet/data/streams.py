"""Random numbers by name."""

import hashlib

import numpy as np


def stream(seed: int, purpose: str, name: str) -> np.random.Generator:
    """Random numbers that depend on the object's name, never on its place in a list."""
    digest = hashlib.sha256(f"{purpose}:{name}".encode()).digest()
    return np.random.default_rng([seed, int.from_bytes(digest[:8], "little")])
