"""How far simulated users are from people. Needs the extra `stats`, for Chinese `zh`."""

from ...errors import of_extra

# Before what imports them, so that who lacks them reads which extra brings them.
of_extra("scipy", "stats")
of_extra("sklearn", "stats")

from .measures import MEASURES, Measure  # noqa: E402
from .report import RealismReport, RealismRow, compare  # noqa: E402

__all__ = ["MEASURES", "Measure", "RealismReport", "RealismRow", "compare"]
