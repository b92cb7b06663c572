"""Task-oriented conversations in numbers: quality, counts, hallucination, behaviour, profiles, satisfaction."""

from ..tables import TypedRows
from .behaviour import label_distributions, label_frequency, rating_by_label
from .counts import basic_counts, lengths
from .judgements import hallucination
from .profiles import profile_statistics, profile_values
from .quality import quality_by_questionnaire, quality_by_rating, quality_by_turns
from .statistics import RecllmsimStatistics, recllmsim_statistics
from .talks import Talks, TaskConversation
from .turn_satisfaction import satisfaction_by_assistant, satisfaction_by_turn

__all__ = [
    "RecllmsimStatistics",
    "Talks",
    "TaskConversation",
    "TypedRows",
    "basic_counts",
    "hallucination",
    "label_distributions",
    "label_frequency",
    "lengths",
    "profile_statistics",
    "profile_values",
    "quality_by_questionnaire",
    "quality_by_rating",
    "quality_by_turns",
    "rating_by_label",
    "recllmsim_statistics",
    "satisfaction_by_assistant",
    "satisfaction_by_turn",
]
