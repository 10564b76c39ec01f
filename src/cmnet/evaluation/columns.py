"""The columns of tables, by task."""

from dataclasses import dataclass

from cmnet.evaluation.choices import ASSEMBLY, PAIRS, PAPER
from cmnet.evaluation.predictions import Settings


@dataclass(frozen=True)
class Column:
    """How a figure of a `Row` is shown: header and unit in plain text and in LaTeX, decimals, which way is better."""

    field: str
    head: str
    unit: str
    tex_head: str
    tex_unit: str
    decimals: int
    better: str


_ERRORS = (
    Column("crd", "CRD", "1e-2", "CRD", "$10^{-2}$", 2, "low"),
    Column("cd", "CD", "1e-3", "CD", "$10^{-3}$", 2, "low"),
    Column("rmse_r", "RMSE(R)", "°", "RMSE(R)", r"$^{\circ}$", 2, "low"),
    Column("geodesic_r", "geodesic", "°", "geodesic", r"$^{\circ}$", 2, "low"),
    Column("rmse_t", "RMSE(T)", "1e-2", "RMSE(T)", "$10^{-2}$", 2, "low"),
)
_ACCURACY = (
    Column("pa_crd", "PA_CRD", "%", r"PA$_{\text{CRD}}$", r"\%", 1, "high"),
    Column("pa_cd", "PA_CD", "%", r"PA$_{\text{CD}}$", r"\%", 1, "high"),
)
_TIME = Column("seconds", "time", "s", "time", "s", 2, "low")
COLUMNS = {
    PAIRS: (
        *_ERRORS,
        Column("within_5", "<5°", "%", r"$<5^{\circ}$", r"\%", 1, "high"),
        Column("within_10", "<10°", "%", r"$<10^{\circ}$", r"\%", 1, "high"),
        *_ACCURACY,
        _TIME,
    ),
    ASSEMBLY: (
        *_ERRORS,
        *_ACCURACY,
        Column("in_place", "in place", "%", "in place", r"\%", 1, "high"),
        Column("whole", "whole", "%", "whole", r"\%", 1, "high"),
        Column("placed", "placed", "%", "placed", r"\%", 1, "high"),
        Column("precision", "precision", "%", "precision", r"\%", 1, "high"),
        _TIME,
    ),
}

_CRD_MATING = Column("crd_mating", "CRD mating", "1e-2", r"CRD$_{\text{mating}}$", "$10^{-2}$", 2, "low")
_EARNED = (
    Column("pa_crd_earned", "earned", "%", "earned", r"\%", 1, "high"),
    Column("pa_cd_earned", "earned", "%", "earned", r"\%", 1, "high"),
)
_PA = (_ACCURACY[0], _EARNED[0], _ACCURACY[1], _EARNED[1])
PUBLISHED = {  # in the paper's order
    PAIRS: (_ERRORS[0], _CRD_MATING, _ERRORS[1], _ERRORS[2], _ERRORS[4], *_PA, _TIME),
    ASSEMBLY: (
        _ERRORS[0],
        _CRD_MATING,
        _ERRORS[1],
        Column("rmse_r_all", "RMSE(R)", "°", "RMSE(R)", r"$^{\circ}$", 2, "low"),
        Column("rmse_r", "moved", "°", "moved", r"$^{\circ}$", 2, "low"),
        Column("rmse_t_all", "RMSE(T)", "1e-2", "RMSE(T)", "$10^{-2}$", 2, "low"),
        Column("rmse_t", "moved", "1e-2", "moved", "$10^{-2}$", 2, "low"),
        *_PA,
        _TIME,
    ),
}


def columns_of(settings: Settings) -> tuple[Column, ...]:
    """The columns that the task and the protocol ask for."""
    return (PUBLISHED if settings.protocol == PAPER else COLUMNS)[settings.task]
