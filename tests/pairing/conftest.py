from dataclasses import replace

import numpy as np
import pytest

from breaking import broken, fitted, prepared, solid_bar, solid_egg, thin_bowl
from cmnet.geometry.pose import Pose
from cmnet.pairing.surface.frames import pose_of_surfaces
from cmnet.settings import COARSE


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


def told(surface, T):
    """The surface as a perfect break head sees it; T brings it into place, where it was cut near z = 0."""
    z, up = T.apply(surface.points)[:, 2], T.rotate(surface.normals)[:, 2]
    return replace(
        surface, broken=((np.abs(z) < 0.3) & (np.abs(up) > 0.3)).astype(np.float64), scale=COARSE, judgement=fitted()
    )


@pytest.fixture(scope="session")
def halves(bar):
    """The two halves of a bar that know where they are broken."""
    assembled = [Pose(s.T_part_surface.R, s.T_part_surface.t / s.unit) for s in bar]
    return [told(surface, T) for surface, T in zip(bar, assembled)]


@pytest.fixture(scope="session")
def truth(halves):
    return pose_of_surfaces(*halves, Pose.identity())


@pytest.fixture
def motion():
    return Pose.random(np.random.default_rng(3), 1.0)
