"""Are simulated users good for testing? Knows no model. Needs the extras `stats` and `ml`, for Chinese `zh`.

Two measures that are never one number: whether a tester prefers the conversation of a pair that the person preferred, and
whether a user tells bad assistants from a good one.
"""

from .learnt import by_nearest_replies
from .meetings import Difference, Meetings, Told
from .pairs import Above, Concordance, above, concordance
from .rated import Rated
from .report import PeopleReport, Report, TesterRow, people_report, told_apart

__all__ = [
    "Above",
    "Concordance",
    "Difference",
    "Meetings",
    "PeopleReport",
    "Rated",
    "Report",
    "TesterRow",
    "Told",
    "above",
    "by_nearest_replies",
    "concordance",
    "people_report",
    "told_apart",
]
