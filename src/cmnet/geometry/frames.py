"""Frames whose relative poses are known, as these become known one after the other."""

from __future__ import annotations

from cmnet.geometry.pose import Pose


class Frames:
    """Sets of frames that are connected by relative poses."""

    def __init__(self) -> None:
        self._set_of: dict[int, dict[int, Pose]] = {}  # frame → its set; in a set: frame → T_set_frame

    def connect(self, i: int, j: int, T_i_j: Pose) -> Pose:
        """Take over a relative pose, unless i and j are connected already. Returns the pose T_i_j that holds now."""
        a, b = (self._set_of.setdefault(k, {k: Pose.identity()}) for k in (i, j))
        if a is b:
            return a[i].inverse() @ a[j]
        T_a_b = a[i] @ T_i_j @ b[j].inverse()
        a.update({k: T_a_b @ T for k, T in b.items()})
        self._set_of.update(dict.fromkeys(b, a))
        return T_i_j

    def sets(self) -> list[dict[int, Pose]]:
        """All connected sets, each in the coordinates of its first frame."""
        distinct = {id(poses): poses for poses in self._set_of.values()}.values()
        return [{k: poses[min(poses)].inverse() @ T for k, T in sorted(poses.items())} for poses in distinct]
