"""Prediction of satisfaction, its reasons and preferences from the words of a conversation."""

from ....errors import of_extra

# Before what imports it, so that who lacks it reads which extra brings it.
of_extra("numpy", "stats")

from .report import SatisfactionReport, measure_satisfaction  # noqa: E402
from .turns import ToldTurn, told_turns  # noqa: E402

__all__ = ["SatisfactionReport", "ToldTurn", "measure_satisfaction", "told_turns"]
