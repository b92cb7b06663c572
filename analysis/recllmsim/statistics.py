"""Every table of task-oriented conversations at once."""

from ...data.text.languages import Language
from ..tables import Sections
from .behaviour import (
    LabelDistributions,
    LabelFrequency,
    RatingByLabel,
    label_distributions,
    label_frequency,
    rating_by_label,
)
from .counts import BasicCounts, LengthMeasure, TaskLengthTable, basic_counts, lengths
from .judgements import Hallucination, hallucination
from .profiles import ProfileStatistics, ProfileValues, profile_statistics, profile_values
from .quality import (
    QualityByQuestionnaire,
    QualityByRating,
    QualityByTurns,
    quality_by_questionnaire,
    quality_by_rating,
    quality_by_turns,
)
from .talks import Conversations, Talks
from .turn_satisfaction import (
    SatisfactionByAssistant,
    SatisfactionByTurn,
    satisfaction_by_assistant,
    satisfaction_by_turn,
)


class RecllmsimStatistics(Sections):
    """The tables of task-oriented conversations; the key of each is its name in JSON."""

    counts: BasicCounts
    lengths: TaskLengthTable
    quality_by_turns: QualityByTurns
    quality_by_questionnaire: QualityByQuestionnaire
    quality_by_rating: QualityByRating
    hallucination: Hallucination
    satisfaction_by_turn: SatisfactionByTurn
    satisfaction_by_assistant: SatisfactionByAssistant
    profiles: ProfileStatistics
    profile_values: ProfileValues
    labels: LabelDistributions
    rating_by_label: RatingByLabel
    label_frequency: LabelFrequency


def recllmsim_statistics(
    conversations: Conversations,
    *,
    length: LengthMeasure = len,
    unit: str = "characters",
    language: Language | None = None,
) -> RecllmsimStatistics:
    """All tables of the task-oriented ones of some conversations.

    Needs the extra `stats`. `length` gives a text's length or its tokens, `unit` names its unit. With `language`
    lengths are of the texts in that language (a translation beside the message, or the message itself).
    """
    talks = Talks.of(conversations)
    return RecllmsimStatistics(
        counts=basic_counts(talks),
        lengths=lengths(talks, length, unit, language),
        quality_by_turns=quality_by_turns(talks),
        quality_by_questionnaire=quality_by_questionnaire(talks),
        quality_by_rating=quality_by_rating(talks),
        hallucination=hallucination(talks),
        satisfaction_by_turn=satisfaction_by_turn(talks),
        satisfaction_by_assistant=satisfaction_by_assistant(talks),
        profiles=profile_statistics(talks),
        profile_values=profile_values(talks),
        labels=label_distributions(talks),
        rating_by_label=rating_by_label(talks),
        label_frequency=label_frequency(talks),
    )
