import numpy as np
import pytest

from breaking import broken, prepared, solid_bar, solid_egg, thin_bowl
from cmnet.geometry.pose import Pose


@pytest.fixture(scope="session")
def bar_parts():
    return broken(solid_bar(), np.random.default_rng(1))


@pytest.fixture(scope="session")
def bowl_parts():
    return broken(thin_bowl(), np.random.default_rng(2), (0.0, 0.0, 0.1))


@pytest.fixture(scope="session")
def bar(bar_parts):
    """Surfaces of the two halves of a solid bar, in their assembled places."""
    return prepared(bar_parts)


@pytest.fixture(scope="session")
def egg():
    """Surfaces of the two halves of a solid egg, in their assembled places."""
    return prepared(broken(solid_egg(), np.random.default_rng(1)))


@pytest.fixture(scope="session")
def bowl(bowl_parts):
    """Surfaces of the two pieces of a thin bowl, in their assembled places."""
    return prepared(bowl_parts)


@pytest.fixture
def motion():
    return Pose.random(np.random.default_rng(3), 1.0)
