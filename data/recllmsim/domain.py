"""The domain of task-oriented conversations: a task, its context, and the user's profile."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...errors import DataError
from ..domain import Dataset, Domain, LabelNotes, Material, TypicalConversation, labelled
from ..formats.detection import Contents, Format
from ..records import Conversation
from ..text.languages import Language
from .checks import RULES
from .dataset import cluster, holds_conversations, oddities, read_folder, user_folder, variant, write
from .situations import KIND, Situation, lines_of

_SHOWN_FIRST = ("task", "task_context", "preference", "profile")

_OF_PEOPLES_MESSAGES = frozenset({"satisfaction", "reason", "hallucination", "intent"})
"""Labels of messages that are taken for people's own; on simulated ones the notes are evidently by hand."""
_SAME_LABELS = {
    "satisfaction.detail": "rating.Detail Level",
    "satisfaction.utility": "rating.Practical Usefulness",
    "satisfaction.diversity": "rating.Diversity",
}
"""A model's self-report as the simulated user, and the annotators' rating that is nearest to it, both 0 to 2."""


def _contents(path: Path) -> Contents:
    """The conversations of a file or a tree of files; notes give the number of each variant and of oddities."""
    reading = read_folder(path)
    counts = [f"{count} {name.replace('_', ' ')}" for name, count in sorted(reading.counts.items())]
    notes = [f"conversations: {', '.join(counts)}"]
    notes += [f"{oddity}: {len(paths)}" for oddity, paths in oddities(reading.conversations).items()]
    without_folder = sum(variant(one) != "simulated" and not user_folder(one) for one in reading.conversations)
    if without_folder:
        notes.append(
            f"{without_folder} conversations of people stand in no folder User_k: users, and so the development and "
            "test split, are taken from their profiles"
        )
    if reading.others:
        more = ", ..." if len(reading.others) > 3 else ""
        notes.append(f"passed over, no conversation: {', '.join(reading.others[:3])}{more}")
    return Contents(reading.conversations, tuple(notes), reading.broken)


def _situation(scenario: Mapping[str, Any]) -> Situation | None:
    """The situation of a scenario, which may have further keys; None for an invalid one."""
    try:
        return Situation.of({key: scenario[key] for key in Situation.model_fields if key in scenario})
    except ValueError:
        return None


class RecLLMSim(Domain):
    """A user with a profile plans something with an assistant (RecLLMSim, SIGIR-AP 2025)."""

    kind = KIND
    formats = (
        Format(
            "recllmsim",
            "RecLLMSim JSON",
            holds_conversations,
            _contents,
            sign="`history` with `task_context`, `task_type`, `preference` or `profile`",
        ),
    )
    dataset = Dataset("", "a conversation a file, in RecLLMSim's format", write, "TASK/FILE.json")
    rules = RULES
    marks = ("task", "profile")
    label_notes = LabelNotes(
        facts=frozenset({"chat_model"}),
        beside={"memo": "hallucination", "reason": "satisfaction", "intent_zh": "intent"},
        others=frozenset(
            {"profile_mapped", "questionnaire", "preference_summary", "preference_summary_old", "conflict"}
        ),
        same=_SAME_LABELS,
    )

    typical = TypicalConversation(
        4,
        {"user": (56, 132, 275), "assistant": (67, 349, 707)},
        "as in the published simulated conversations of RecLLMSim",
    )
    """Measured in the open part of the published data: 233 conversations."""

    def person(self, scenario: Mapping[str, Any]) -> object:
        situation = _situation(scenario)
        if situation is None:
            return scenario.get("preference") or scenario.get("profile")
        return situation.profile_text  # a structured profile and its text are one person's

    def material(self, scenario: Mapping[str, Any]) -> tuple[Material, ...]:
        others = (key for key, value in scenario.items() if isinstance(value, (str, dict)))
        keys = dict.fromkeys((*_SHOWN_FIRST, *others))
        return labelled(scenario, [key for key in keys if key not in ("kind", "digest")])

    def profile_text(self, scenario: Mapping[str, Any]) -> str:
        try:
            return Situation.of(scenario).profile_text or ""
        except DataError:  # an invalid scenario
            return super().profile_text(scenario)

    def facts(self, scenario: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        situation = _situation(scenario)  # an invalid scenario is shown without facts
        return () if situation is None else tuple(dict.fromkeys(situation.facts))

    def validate(self, conversation: Conversation) -> None:
        Situation.of(conversation)

    def language(self, conversation: Conversation) -> Language | None:
        return Situation.of(conversation).language

    def facts_in(self, conversation: Conversation, language: Language) -> list[tuple[str, str]]:
        translated = conversation.extra.get(f"preference_{language}")
        if isinstance(translated, str):
            return [(attribute, value) for attribute, values in lines_of(translated) for value in values]
        situation = Situation.of(conversation)
        return situation.facts if situation.language == language else []

    def user(self, conversation: Conversation) -> str:
        return cluster(conversation)

    def labelled_by_people(self, conversation: Conversation, *, of_messages: bool) -> frozenset[str]:
        if conversation.provenance is not None:  # of a run, whose labels somebody added
            return frozenset()
        simulated = self.simulated(conversation)
        if of_messages:
            return frozenset({"hallucination"}) if simulated else _OF_PEOPLES_MESSAGES
        return frozenset({"rating"} if simulated else {"questionnaire"})

    def simulated(self, conversation: Conversation) -> bool | None:
        try:
            return variant(conversation) == "simulated"
        except DataError:  # a scenario of one's own under this kind
            return None


DOMAIN = RecLLMSim()
