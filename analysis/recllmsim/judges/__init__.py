"""Judges of satisfaction against people: a benchmark that holds out users, with baselines and intervals over users."""

from ....errors import of_extra

# Before what imports it, so that who lacks it reads which extra brings it.
of_extra("numpy", "stats")

from .judge import Judge, baselines, judge_of_function, judge_of_points  # noqa: E402
from .report import JudgesReport, measure_judges  # noqa: E402
from .turns import JudgedTurn, judged_turns, labelled  # noqa: E402

__all__ = [
    "Judge",
    "JudgedTurn",
    "JudgesReport",
    "baselines",
    "judge_of_function",
    "judge_of_points",
    "judged_turns",
    "labelled",
    "measure_judges",
]
