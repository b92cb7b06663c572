"""The validity of simulated users: whether they are good for testing.

This package calls no model. It has two measures that are never
one number. Does a scoring function prefer the conversation of a pair that the person preferred? Does a simulated user
detect bad assistants?
"""

from .meetings import Difference, MeetingResult, Meetings
from .pairs import Above, Concordance, above, concordance
from .rated import RatedConversations
from .report import PeopleReport, TesterRow, ValidityReport, people_report, told_apart

__all__ = [
    "Above",
    "Concordance",
    "Difference",
    "MeetingResult",
    "Meetings",
    "PeopleReport",
    "RatedConversations",
    "TesterRow",
    "ValidityReport",
    "above",
    "concordance",
    "people_report",
    "told_apart",
]
