"""How far simulated users are from people: measures, statistics by user, the floor, a report and its card.

Needs the extras `stats` and `ml`, for Chinese `zh`.
"""

from ...data.extras import of_extra

of_extra("numpy", "stats")
of_extra("scipy", "stats")

from .comparing import compare
from .measures import MEASURES, Measure
from .report import Report, Row
from .sides import part_of

__all__ = ["MEASURES", "Measure", "Report", "Row", "compare", "part_of"]
