"""The choices behind the figures, in words: the field's figures mean nothing without them."""

from cmnet.evaluation.judged_joins import SHIFT, TURN

PA_CRD = 0.1  # a part counts as placed below this CRD ...
PA_CD = 0.01  # ... and below this Chamfer distance, both unscaled
PAIRS, ASSEMBLY = "pairs", "assembly"
STRICT, PAPER = "strict", "paper"  # protocols: ours, and the field's as published
MATING = 0.018  # a point is on a mating surface so near to a point of another part, as a share of the object's side

_EULER = "RMSE(R) is the field's Euler number (chance 86°), not the angle between the rotations (chance 126°)."
_LENGTHS = "in the object's given unit (size 1)."

# Printed with every number, by task.
CHOICES = {
    PAIRS: (
        "Every fracture is judged by the two parts that touch most; the larger in area is the anchor and stays put.",
        "Parts enter centred on their own mean and turned at random, seeded by the object's name.",
        f"CRD and CD are means over the points of both parts, the anchor's included, {_LENGTHS}",
        f"PA is the share of both parts, the anchor included (so 50 % is the floor), with CRD < {PA_CRD} or "
        f"CD < {PA_CD}.",
        f"RMSE(R), geodesic and RMSE(T) are of the moved part. {_EULER}",
        "A part without an answer is judged where it entered: unturned, its mean on the anchor's mean.",
    ),
    ASSEMBLY: (
        "All parts of a fracture are to be placed; the one of largest area is the anchor and stays put.",
        "Parts enter in random order, turned and moved at random, seeded by the object's name.",
        f"CRD and CD are means over the points of all parts, the anchor's included, {_LENGTHS}",
        f"PA is the share of all parts, the anchor included, with CRD < {PA_CRD} or CD < {PA_CD}.",
        f"in place is the share of all parts, the anchor included, off by less than {TURN:g}° and {SHIFT:g} of the "
        "object's largest side at their centres, in the anchor's frame.",
        f"RMSE(R), geodesic and RMSE(T) are means over all parts but the anchor, poses in its frame. {_EULER}",
        "A part outside the anchor's group is judged unturned, its mean on the mean of that group.",
        "placed is the share of parts in the anchor's group; whole is the share of fractures with every part within "
        "the CRD of PA.",
        f"precision is the share of the joins used that are right: off by less than {TURN:g}° and {SHIFT:g} of the "
        "object's largest side at the smaller part's centre. A join with a part of another object is wrong; such a "
        "part counts in no other figure.",
    ),
}

_PUBLISHED = (
    "Parts get their share of the points by area, but at least 256 each, and enter centred on their own mean and "
    "turned at random.",
    f"CRD is a mean over all points, CRD mating over those within {MATING} of the object's largest side of another "
    "part, the anchor's included in both.",
    "identity leaves every part unturned, its mean on the anchor's; oracle puts true matches through the weighted SVD "
    "and the pose graph of the published solver, which is as far as that can come.",
)
PUBLISHED_CHOICES = {
    PAIRS: (
        "The two parts that touch most; the published figures are of fractures of two pieces.",
        *_PUBLISHED,
        "PA is the share of both parts, the anchor included (so 50 % is the floor); earned is that of the moved part.",
        f"RMSE(R) and RMSE(T) are of the moved part, {_LENGTHS} {_EULER}",
    ),
    ASSEMBLY: (
        "All parts of a fracture are to be placed; the one of largest area is the anchor and is given.",
        *_PUBLISHED,
        "PA is the share of all parts, the anchor included; earned is the share of all parts but the anchor.",
        "RMSE(R) and RMSE(T) are means over all parts of T_part_anchor, the anchor's zeros included, as published; "
        f"moved are means over all parts but the anchor of T_anchor_part. {_EULER}",
        "A part outside the anchor's group is judged unturned, its mean on the mean of that group.",
    ),
}
INTERVALS = "Intervals are of 95 %, from resampling the objects (all fractures of one together)."
