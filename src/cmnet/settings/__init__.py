"""What can be set: how closely parts are looked at, and what is believed. One place each, with its default."""

from cmnet.settings.budget import Budget, Faces, Holes, Refinement, Rounds, Settling, Sieve
from cmnet.settings.changes import to_dict, with_changes
from cmnet.settings.settings import COARSE, FINE, FIRST, Acceptance, Matching, Scale, Settings
from cmnet.settings.tolerances import Tolerances

__all__ = [
    "COARSE",
    "FINE",
    "FIRST",
    "Acceptance",
    "Budget",
    "Faces",
    "Holes",
    "Matching",
    "Refinement",
    "Rounds",
    "Scale",
    "Settings",
    "Settling",
    "Sieve",
    "Tolerances",
    "to_dict",
    "with_changes",
]
