"""Reading comprehension: the questions of conversations about a section, with every answer that a data set has for them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from sys import intern
from typing import Any

from ...errors import DataError
from ..grounding import MARKER, NO_ANSWER, gives_no_answer
from ..records import Conversation, Message, Record, as_object
from .dataset import spoken
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

    `unanswerable`: most unanswerable questions of a conversation, of which the first stay; None: all. `history`: how many
    turns before the question a reader sees, also such as are left out as questions. A turn without a question or without
    an answer is neither asked nor seen. A conversation whose id an earlier one has gets a number behind it. DataError if
    there is no question.
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
        for number, exchange in enumerate(conversation.exchanges):
            user_messages, replies = spoken(exchange.user), spoken(exchange.assistant)
            if not user_messages or not replies:
                continue
            question = ReadingQuestion(
                id=f"{name}/{number}",
                conversation=name,
                **fields,
                text="\n".join(message.text for message in user_messages),
                earlier=tuple(earlier[len(earlier) - history :]) if history else (),
                references=references_of(exchange.assistant),
            )
            refused += question.impossible
            if not question.impossible or unanswerable is None or refused <= unanswerable:
                questions.append(question)
            earlier.append((question.text, _answer(replies)))
    if not questions:
        raise DataError("there is no question about a section: give QuAC or SimQuAC JSON, or a run of the simquac cast")
    return questions


def references(conversation: Conversation) -> tuple[tuple[str, ...], ...]:
    """Every answer of a data set to the question of each turn, as `references_of`."""
    return tuple(references_of(exchange.assistant) for exchange in conversation.exchanges)


def references_of(messages: Sequence[Message]) -> tuple[str, ...]:
    """Every answer of a data set to a question, from the messages that answer it.

    These are the answer of the conversation and the further references of QuAC's own layout (`orig_answer`), in the
    file's order. The conversation's answer comes first if it is not among the references. A refusal, or no message,
    gives `NO_ANSWER`.
    """
    answer = _answer(messages)
    further: list[str] = []
    for values in map(_values, messages):
        answers = values.get("answers")
        if "orig_answer" in values and isinstance(answers, list):  # else they are the spans of this answer itself
            texts = (str(one.get("text", "")) for one in answers if isinstance(one, dict))
            further += [NO_ANSWER if text == MARKER else text for text in texts]
    return tuple(further if answer in further else [answer, *further])


def _answer(messages: Sequence[Message]) -> str:
    refused = all(map(gives_no_answer, messages))
    return NO_ANSWER if refused else "\n".join(message.text for message in messages)


def by_people(conversation: Conversation) -> bool:
    """Whether the file's layout shows that people answered.

    The signs are QuAC's own layout (`orig_answer`) and numbers as ids of questions; simulated data sets have neither.
    """
    return any(
        "orig_answer" in values or type(values.get("id")) is int for values in map(_values, conversation.messages)
    )


def _values(message: Message) -> Mapping[str, Any]:
    """The file's values of a question or an answer that differ from what we would write."""
    return as_object(as_object(message.extra.get("qa")).get("values"))
