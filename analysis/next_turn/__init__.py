"""The next-turn benchmark: how near a simulated user comes to the person's next turn.

It calls no model. Needs the extra `stats`, for Chinese `zh`.
"""

from .benchmark import Benchmark
from .characters import chrf
from .files import write
from .judging import JudgedRow, TurnScores
from .report import NextTurnReport, NextTurnRow, UserMean

__all__ = ["Benchmark", "JudgedRow", "NextTurnReport", "NextTurnRow", "TurnScores", "UserMean", "chrf", "write"]
