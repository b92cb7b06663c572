"""How far labels can be trusted: agreement of two labels or of votes, what a judged number is worth, what to leave out.

Needs the extra `stats`.
"""

from ...errors import of_extra

of_extra("numpy", "stats")
of_extra("scipy.stats", "stats")

from .abstaining import Abstention, abstention  # noqa: E402
from .calibration import calibrated_mean  # noqa: E402
from .coefficients import (  # noqa: E402
    Weights,
    accuracy,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
)
from .intervals import Estimate  # noqa: E402
from .judged_rates import Worth, worth  # noqa: E402
from .reading import matched  # noqa: E402
from .report import Agreement, Confusion, ConfusionRow, agreement, confusion  # noqa: E402
from .rows import AgreementRow  # noqa: E402

__all__ = [
    "Abstention",
    "Agreement",
    "AgreementRow",
    "Confusion",
    "ConfusionRow",
    "Estimate",
    "Weights",
    "Worth",
    "abstention",
    "accuracy",
    "agreement",
    "calibrated_mean",
    "cohen_kappa",
    "confusion",
    "fleiss_kappa",
    "gwet_ac",
    "krippendorff_alpha",
    "matched",
    "worth",
]
