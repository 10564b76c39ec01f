import numpy as np
import pytest

from breaking import broken_twice, prepared
from cmnet.geometry.pose import Pose


@pytest.fixture(scope="session")
def egg():
    """The surfaces of four parts of an egg, each moved at random, and T_moved_true of each."""
    rng = np.random.default_rng(8)
    T = [Pose.random(rng, 1.0) for _ in range(4)]
    return prepared([part.moved(T_k) for part, T_k in zip(broken_twice(np.random.default_rng(4)), T)]), T
