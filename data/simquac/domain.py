"""The domain of teacher-student conversations about a section of a document."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..domain import Dataset, Domain, LabelNotes, Material, TypicalConversation, labelled, worded
from ..formats.detection import Format
from ..grounding import gives_no_answer
from ..records import Conversation, Message
from . import dataset, rows, topics
from .checks import RULES
from .topics import FIELDS, KIND, Topic


class SimQuAC(Domain):
    """A student asks about a section that only the teacher sees ("Let the LLMs Talk", WSDM 2024)."""

    kind = KIND
    formats = (
        Format(
            "teacher",
            "teacher topics",
            topics.is_topic_file,
            topics.read_topic_file,
            sign="lines such as <Topic: ---> between blocks of four lines",
        ),
        Format("simquac", "SimQuAC or QuAC JSON", dataset.is_dataset, dataset.read, sign="`data` of `paragraphs`"),
        *rows.FORMATS,
        Format(
            "topics",
            "JSON lines of topics",
            topics.are_topics,
            topics.no_conversations,
            sign=f"two of {', '.join(topics.FIELDS)}, and no turns",
        ),
    )
    dataset = Dataset("simquac.json", "the conversations in SimQuAC's format (SQuAD-style JSON)", dataset.write)
    rules = RULES
    marks = FIELDS
    label_notes = LabelNotes(facts=frozenset({"topic_id", "quac"}))
    attribution = (
        "Where the topics are QuAC's or SimQuAC's: their sections come from Wikipedia by way of QuAC (CC BY-SA 4.0)."
    )

    typical = TypicalConversation(
        None,
        {"user": (10, 20, 32), "assistant": (6, 28, 103)},
        "as in the published simulated conversations of SimQuAC",
    )
    """Measured in the open part of the published data: 77 conversations."""

    def subtitle(self, scenario: Mapping[str, Any]) -> str:
        header = scenario.get("header")
        return header if isinstance(header, str) else ""

    def topic_key(self, scenario: Mapping[str, Any]) -> str | None:
        return worded("section", scenario) or super().topic_key(scenario)

    def material(self, scenario: Mapping[str, Any]) -> tuple[Material, ...]:
        section, background = scenario.get("section"), scenario.get("background")
        pieces = []
        if isinstance(section, str):
            pieces.append(Material("Section", section, source=True))
        if isinstance(background, str) and background:
            pieces.append(Material("Background", background, folded=True))
        return (*pieces, *labelled(scenario, [key for key in scenario if key not in ("kind", "digest", *FIELDS)]))

    def refuses(self, message: Message) -> bool:
        return gives_no_answer(message)

    def validate(self, conversation: Conversation) -> None:
        Topic.of(conversation)

    def notes(self, conversations: Sequence[Conversation]) -> list[str]:
        count = len(dataset.misplaced(conversations))
        differ = "span differs" if count == 1 else "spans differ"
        return [f"{count} {differ} from the text at the offset (kept as read)"] if count else []


DOMAIN = SimQuAC()
