"""Reliability of labels: agreement of two labels or of votes, and calibrated rates.

Needs the extra `stats`.
"""

from ....errors import of_extra

of_extra("numpy", "stats")
of_extra("scipy.stats", "stats")

from ...over_users.chance import AgreementWeights  # noqa: E402
from ...over_users.estimate import UserScore as AgreementEstimate  # noqa: E402
from .calibration import calibrated_mean  # noqa: E402
from .coefficients import accuracy, cohen_kappa, fleiss_kappa, gwet_ac, krippendorff_alpha  # noqa: E402
from .judged_rates import CalibratedRates, worth  # noqa: E402
from .reading import matched  # noqa: E402
from .report import Agreement, Confusion, ConfusionRow, agreement, confusion  # noqa: E402
from .rows import AgreementRow  # noqa: E402

__all__ = [
    "Agreement",
    "AgreementEstimate",
    "AgreementRow",
    "AgreementWeights",
    "CalibratedRates",
    "Confusion",
    "ConfusionRow",
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
