"""What counts as touching, facing, closing, broken, and as the same pose."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tolerances:
    """Of one scale. Lengths are in its units, cosines are dot products of unit normals."""

    # What touches
    touch: float = 0.008  # touching samples are nearer than this, or than one spacing if that is more
    lift: float = 0.003  # and off the other's plane by at most this
    nearby: float = 2.5  # touching distances: facing samples so near should touch
    facing: float = -0.6  # normals of what touches have a smaller cosine
    facing_loosely: float = -0.5  # those of what covers each other, or whose reliefs are compared
    covered: float = 0.012  # samples of a group are covered by what faces them so near
    apart: float = 0.02  # reliefs are compared of surfaces that lie no farther apart: they are noisy, and worn
    # What lies inside
    sunk: float = 0.004  # depth that counts as penetration
    deep: float = 0.01  # depth from which a probe counts as sunk
    unseen: float = 0.03  # samples deeper inside than this are not looked at closely
    # Edges that close on each other
    crease_near: float = 0.02  # creases so near each other agree
    crease_closed: float = 0.012  # the same where a whole pose is scored, and where a group has closed them
    rim_closed: float = 0.01  # the same where a pose is examined
    agree_sought: float = 0.88  # least cosine of equal skins and opposed breaks where poses are sought,
    agree_aligned: float = 0.85  # where they are refined,
    agree_examined: float = 0.8  # where they are examined,
    agree_group: float = 0.75  # and where a group has closed them
    angle_sum: float = 15.0  # degrees by which the angles of two creases may miss 180
    # What is broken, as probabilities
    broken_edge: float = 0.2  # of a crease worth trying first: one left out costs more than one tried in vain
    broken: float = 0.4  # of samples on a break
    broken_skin: float = 0.5  # of samples of the skin, at most
    # Walls
    wall_reach: float = 3.0  # walls: poses are refined by what lies no farther away,
    least_reach: float = 0.008  # or no farther than this, if that is more
    wall_behind: float = 0.5  # walls: nor farther behind the other surface,
    least_behind: float = 0.003  # or than this, if that is more
    # What settles together
    settling_behind: float = 0.006  # what touches lies no farther behind the other surface
    skin_smooth: float = 0.95  # least cosine around a sample of smooth skin
    skin_alike: float = 0.9  # least cosine of the skin on either side of a crack
    skin_lift: float = 0.01  # by which that may be off, or by twice what breaks may be, if that is more
    # One pose or two
    same_turn: float = 4.0  # degrees: poses nearer to each other than this,
    same_shift: float = 0.02  # and than this, are one
    same_swing: float = 0.012  # of small parts those, too, whose turn moves them by no more
    widest_turn: float = 12.0  # degrees: but not if they are turned by more
    repeated: float = 0.25  # of that: so near, it is not even worth looking which of the two is better
    same_entries: float = 0.1  # of rotations: poses that are only suggested are one if these differ by less, too
    cell_turn: float = 0.25  # of entries of rotations, of thousands of poses: those in one cell are one
    cell_shift: float = 0.04  # the same of translations
    # A pose that a look settles, and one that slips off
    settled_turn: float = 5.0  # degrees by which a look may settle a pose that another one has found
    settled_shift: float = 0.05  # and how far
    slipped_turn: float = 20.0  # degrees from which two parts have slipped off each other where the skin goes on
    slipped_shift: float = 0.1  # or how far
    apart_turn: float = 10.0  # degrees by which settling moves no two parts that are joined,
    apart_shift: float = 0.05  # and length
    # What is known around a part
    known: float = 0.05  # how far from the surface distances are known, to about a voxel
    crease_known: float = 0.04  # the same of creases
    finest: float = 0.004  # smallest voxel
    local: float = 0.12  # creases around a seed lie no farther from it
    beside: float = 1.6  # spacings: samples nearer than this lie next to each other
    # Creases of a part
    crease_scatter: float = 0.12  # mean 1 − cosine of the normals of a face, at most
    crease_angles: tuple[float, float] = (20.0, 145.0)  # degrees between the two normals
    crease_offset: float = 0.8  # reaches of the fit: a crease lies no farther from the sample that found it
    other_side: float = -0.85  # normals with a smaller cosine are of the other side of a wall
    sideways: float = 0.8  # those with a cosine nearer to 0 are of a third face: an edge is near
    thin_wall: float = 0.3  # reaches of the fit: thinner walls need a finer level, about one spacing
