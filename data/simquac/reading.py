"""Reading comprehension: the questions of teacher-student conversations, each with what a reader is given."""

from collections import Counter
from collections.abc import Iterable
from sys import intern
from typing import Any

from ...errors import DataError
from ..grounding import NO_ANSWER, gives_no_answer
from ..records import Conversation, Record
from .dataset import spoken
from .reference_answers import references
from .topics import FIELDS, KIND, Topic

UNANSWERABLE = 3
"""Most unanswerable questions of a conversation, as for Table 7 of "Let the LLMs Talk" (WSDM 2024)."""


class ReadingQuestion(Record):
    """A question about a section, the turns before it, and its reference answers."""

    id: str
    """The conversation's id and the number of the turn in it, from 0: `4f1e.../3`."""
    conversation: str
    """Id of its conversation: HEQ-D is over conversations."""
    title: str
    header: str
    background: str
    section: str
    text: str
    earlier: tuple[tuple[str, str], ...] = ()
    """The turns before it that a reader sees, each a question and an answer, the nearest last."""
    references: tuple[str, ...]
    """Every reference answer; one of several spans has a line for each. A refusal is `data.grounding.NO_ANSWER`."""

    @property
    def impossible(self) -> bool:
        """Whether it has no answer: at least half of its references refuse (QuAC, EMNLP 2018, section 5.1)."""
        return 2 * sum(reference == NO_ANSWER for reference in self.references) >= len(self.references)

    def scenario(self) -> dict[str, Any]:
        """The topic as the scenario of a cast."""
        return Topic(**{field: getattr(self, field) for field in FIELDS}).scenario()


def questions_of(
    conversations: Iterable[Conversation], *, unanswerable: int | None = UNANSWERABLE, history: int = 0
) -> list[ReadingQuestion]:
    """The questions of all conversations about a section, in their order.

    `unanswerable`: maximum number of unanswerable questions of a conversation; the first ones stay, later ones are left
    out. None: all.

    `history`: how many turns before the question a reader sees. They are those of the conversation as it was, so one
    that is left out as a question may still be seen. A turn without a question or without an answer is neither asked
    nor seen. A conversation whose id an earlier one has gets a number behind it. DataError if there is no question.
    """
    questions: list[ReadingQuestion] = []
    names: Counter[str] = Counter()
    for conversation in conversations:
        if conversation.scenario.get("kind") != KIND:
            continue
        topic = Topic.of(conversation)
        fields = {field: intern(getattr(topic, field)) for field in FIELDS}  # many questions are about one section
        names[conversation.id] += 1
        name = conversation.id if names[conversation.id] == 1 else f"{conversation.id}~{names[conversation.id]}"
        earlier: list[tuple[str, str]] = []
        refused = 0
        for number, (exchange, answers) in enumerate(
            zip(conversation.exchanges, references(conversation), strict=True)
        ):
            user_messages, replies = spoken(exchange.user), spoken(exchange.assistant)
            if not user_messages or not replies:
                continue
            question = ReadingQuestion(
                id=f"{name}/{number}",
                conversation=name,
                **fields,
                text="\n".join(message.text for message in user_messages),
                earlier=tuple(earlier[len(earlier) - history :]) if history else (),
                references=answers,
            )
            refused += question.impossible
            if not question.impossible or unanswerable is None or refused <= unanswerable:
                questions.append(question)
            refusal = all(map(gives_no_answer, replies))
            earlier.append((question.text, NO_ANSWER if refusal else "\n".join(reply.text for reply in replies)))
    if not questions:
        raise DataError("there is no question about a section: give QuAC or SimQuAC JSON, or a run of the simquac cast")
    return questions
