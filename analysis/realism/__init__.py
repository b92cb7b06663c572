"""Distance of simulated users from people: measures, statistics by user, the human-human baseline, report.

Needs the extra `stats`, for Chinese `zh`.
"""

from ...data.people import part_of
from ...errors import of_extra

# Before what imports them, so that who lacks them reads which extra brings them.
of_extra("numpy", "stats")
of_extra("scipy", "stats")

from .comparing import compare  # noqa: E402
from .measures import MEASURES, Measure  # noqa: E402
from .measures import register as register_measure  # noqa: E402
from .records import RealismRow  # noqa: E402
from .report import RealismReport  # noqa: E402

__all__ = ["MEASURES", "Measure", "RealismReport", "RealismRow", "compare", "part_of", "register_measure"]
