from itertools import combinations

import numpy as np
import trimesh

from cmnet.geometry.pose import Pose
from cmnet.geometry.sampling import sample_faces
from cmnet.report.viewer_layout import lay_out
from cmnet.solving.assembly import Assembly


def test_groups_and_loose_parts_stand_apart_on_one_floor():
    rng = np.random.default_rng(0)
    boxes = [trimesh.creation.box(rng.uniform(0.3, 2.0, 3)).triangles for _ in range(9)]
    points, normals = zip(*(sample_faces(box, 500, rng) for box in boxes), strict=True)
    poses = np.stack([Pose.random(rng, 4.0).matrix() for _ in boxes])
    assembly = Assembly(poses, [[0, 1], [2, 3]], [4, 5, 6, 7, 8], [])
    T_view = lay_out(assembly, points, normals)
    for group in assembly.groups:  # parts of a group keep their places to each other
        a, b = group
        before = Pose.from_matrix(poses[a]).inverse() @ Pose.from_matrix(poses[b])
        assert np.allclose((T_view[a].inverse() @ T_view[b]).matrix(), before.matrix())
    blocks = [[0, 1], [2, 3], *([k] for k in assembly.unplaced)]
    clouds = [np.concatenate([T_view[k].apply(points[k]) for k in block]) for block in blocks]
    floors = [cloud[:, 1].min() for cloud in clouds]
    assert np.ptp(floors) < 1e-9
    for a, b in combinations(clouds, 2):
        apart = np.maximum(a.min(axis=0) - b.max(axis=0), b.min(axis=0) - a.max(axis=0))
        assert apart[[0, 2]].max() > 0
    everything = np.concatenate(clouds)
    assert np.allclose(everything.min(axis=0), -everything.max(axis=0))
