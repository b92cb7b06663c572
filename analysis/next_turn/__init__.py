"""The next-turn benchmark: how near a simulated user comes to what the person said next. Knows no model.

Needs the extra `stats`, for Chinese `zh`.
"""

from .benchmark import Benchmark
from .characters import chrf
from .files import write
from .judging import JudgedRow, TurnScores
from .report import Estimate, Report, Row

__all__ = ["Benchmark", "Estimate", "JudgedRow", "Report", "Row", "TurnScores", "chrf", "write"]
