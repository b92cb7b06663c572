"""Every table of task-oriented conversations at once."""

from collections.abc import Mapping
from typing import Any

from ...data.records import Record
from ...data.text.languages import Language
from ..tables import Rows, Table
from .behaviour import (
    LabelDistributions,
    LabelFrequency,
    RatingByLabel,
    label_distributions,
    label_frequency,
    rating_by_label,
)
from .counts import Counts, Lengths, Measure, basic_counts, lengths
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
from .satisfaction import SatisfactionByAssistant, SatisfactionByTurn, satisfaction_by_assistant, satisfaction_by_turn
from .talks import Conversations, Talks


class RecllmsimStatistics(Record):
    """The tables of task-oriented conversations; the key of each is its name in JSON."""

    counts: Counts
    lengths: Lengths
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

    def by_name(self) -> Mapping[str, Rows[Any]]:
        """Each table's rows and notes under its key."""
        return {name: getattr(self, name) for name in type(self).model_fields}

    def tables(self) -> list[Table]:
        """Every table, as people read it."""
        return [rows.table() for rows in self.by_name().values()]

    def to_json(self) -> dict[str, Any]:
        """A list of rows for each table under its key, and under `notes` what a reader must know of each."""
        by_name = self.by_name()
        return {name: rows.to_json() for name, rows in by_name.items()} | {
            "notes": {name: list(rows.notes) for name, rows in by_name.items()}
        }


def recllmsim_statistics(
    conversations: Conversations, *, length: Measure = len, unit: str = "characters", language: Language | None = None
) -> RecllmsimStatistics:
    """All tables of the task-oriented ones of some conversations. Needs the extra `stats`.

    `length` gives a text's length or its tokens, `unit` says of what; with `language` lengths are of the texts in
    that language (a translation beside the message, or the message itself).
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
