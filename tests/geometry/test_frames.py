"""Relative poses that become known one after the other."""

import numpy as np

from cmnet.geometry.frames import Frames
from worlds import error, world


def test_sets_grow_together_and_what_is_known_stays():
    T, frames = world(5), Frames()
    for i, j in ((3, 1), (4, 2), (1, 2)):
        frames.connect(i, j, T[i].inverse() @ T[j])
    (poses,) = frames.sets()
    assert list(poses) == [1, 2, 3, 4]
    assert np.allclose(poses[1].matrix(), np.eye(4))
    assert error(poses, T) < 1e-12
    implied = frames.connect(3, 4, T[0])
    assert np.allclose(implied.matrix(), (T[3].inverse() @ T[4]).matrix())
    frames.connect(0, 5, T[0])
    assert [list(poses) for poses in frames.sets()] == [[1, 2, 3, 4], [0, 5]]
