"""A side-by-side study: two answers to the same questions, and which of them people prefer.

The set-up is that of "Let the LLMs Talk" (WSDM 2024), section 4 and table 4. It asks for correctness, naturalness and
completeness of each answer, and for one preference for the conversation with the reason. Where one side refuses, only
correctness is asked; identical answers are shown and not asked about. A quiz about the task admits to it; its questions
and its sample annotations are ours, as those of the paper are not published.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, StringConstraints, ValidationError, model_validator

from ...errors import DataError, first_invalid
from .. import domains
from ..files.json import from_yaml, read_text
from ..identity import digest
from ..people import paired
from ..records import Conversation, Message, Record, value_of
from ..rules.guards import plain_words
from .definition import LabelDefinition

Aspect: TypeAlias = Literal["correctness", "naturalness", "completeness"]

ASPECTS: tuple[Aspect, ...] = ("correctness", "naturalness", "completeness")
CHOICES = ("A", "B", "both", "neither")
"""The possible answers about an aspect."""
PREFERENCES = ("A", "B", "tie")
STUDY = "side_by_side"
"""Name of the label under which answers are kept."""
QUIZ = "quiz"
"""The same of those to the entry test."""
PASS = 0.75
"""Share of the quiz that a person must get right, unless the study sets another."""

LocalText: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class SideSource(Record):
    """Where one side's answers come from: a source, or a label of the other side's answers, such as QuAC's own."""

    name: LocalText
    source: Annotated[Path, AfterValidator(lambda path, info: (info.context or Path()) / path)] | None = None
    """A path in a study's file is relative to it."""
    label: LocalText | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.source is None) == (self.label is None):
            raise ValueError("needs 'source' or 'label', one of them")
        return self


class Study(Record):
    """A task file: who is compared, who labels how much."""

    first: SideSource
    second: SideSource
    labellers: int = Field(default=3, ge=1)
    """People for each conversation."""
    batch_size: int = Field(default=5, ge=1)
    pass_mark: float = Field(default=PASS, ge=0, le=1)
    """Share of the quiz that a person must get right; 0 leaves the quiz out."""
    seed: int = 0

    @model_validator(mode="after")
    def _first_has_a_source(self) -> Self:
        if self.first.source is None:
            raise ValueError("first has no source: a label is that of the first side's answers, for the second")
        return self

    @classmethod
    def of(cls, path: Path) -> Self:
        """The study of a YAML file; DataError names a problem in one line."""
        try:
            return cls.model_validate(from_yaml(read_text(path), str(path)), context=path.parent)
        except ValidationError as error:
            first = first_invalid(error)
            raise DataError(f"{path}: {first.path or 'the file'}: {first.reason}: mend it") from None


@dataclass(frozen=True)
class StudyQuestion:
    """A question that both sides answer."""

    number: int
    """From 1."""
    text: str
    first: Message
    second: Message
    aspects: tuple[Aspect, ...]
    """What is asked about it; nothing where both answers are the same."""


@dataclass(frozen=True)
class ReplyPair:
    """Two conversations about one topic with the same questions."""

    first: Conversation
    second: Conversation
    questions: tuple[StudyQuestion, ...]

    @property
    def id(self) -> str:
        """Id of the first side's conversation."""
        return self.first.id

    @property
    def seen(self) -> str:
        """Digest of the questions and of both answers to each."""
        texts = [(question.text, question.first.text, question.second.text) for question in self.questions]
        return digest("seen", texts)[:16]

    def definition(self) -> LabelDefinition:
        """What is asked, as a label: each aspect of each question, then the preference and the reason."""
        parts: dict[str, Any] = {
            f"{question.number} {aspect}": {"values": list(CHOICES)}
            for question in self.questions
            for aspect in question.aspects
        }
        parts |= {"preference": {"values": list(PREFERENCES)}, "why": {"text": True}}
        return LabelDefinition.of(
            STUDY, {"title": "Which answers are better?", "unit": "conversation", "parts": parts}, GUIDE, STUDY
        )

    def switched(self, seed: int) -> bool:
        """Whether people see the second side as A."""
        return int(digest("sides", seed, self.id)[:8], 16) % 2 == 1


GUIDE = """
**correctness**: the answer is right and answers the question, in the context of the conversation. **naturalness**: it is
fluent, in whole sentences, as a person would write it. **completeness**: it is comprehensive; a correct answer may be
incomplete. Choose *both* or *neither* where the two do not differ.

**preference**: which conversation would you rather have had? **why**: a sentence.

Where one side finds no answer, only correctness is asked: it is right to find none where the text has none. Two answers
that are the same are shown without a question.
"""


class Quiz(Record):
    """The entry test: questions about the task, with sample annotations to look at."""

    text: str
    """What the samples are about."""
    questions: tuple[tuple[str, Literal["yes", "no"]], ...]
    """Each with its right answer."""
    samples: tuple[tuple[str, str, str, str], ...]
    """A question, the answers of A and B, and how they are labelled."""

    @property
    def seen(self) -> str:
        """Digest of what is asked and shown."""
        return digest("seen", self.model_dump(mode="json"))[:16]

    def definition(self) -> LabelDefinition:
        """What is asked, as a label: each question by its number."""
        asked = {str(number): text for number, (text, _) in enumerate(self.questions, start=1)}
        parts = {name: {"values": ["yes", "no"]} for name in asked}
        meaning = "\n\n".join([GUIDE.strip(), *(f"**{name}**: {text}" for name, text in asked.items())])
        return LabelDefinition.of(
            QUIZ, {"title": "What is asked of you?", "unit": "conversation", "parts": parts}, meaning, QUIZ
        )

    def share(self, value: Mapping[str, Any]) -> float:
        """Share of the questions that these answers get right."""
        right = [number for number, (_, answer) in enumerate(self.questions, 1) if value.get(str(number)) == answer]
        return len(right) / len(self.questions)


@cache
def quiz() -> Quiz:
    """The quiz of every study."""
    return Quiz.model_validate_json((files(__package__) / "quiz.json").read_text(encoding="utf-8"))


def comparisons(first: Sequence[Conversation], second: Sequence[Conversation]) -> tuple[list[ReplyPair], list[str]]:
    """The pairs of conversations about one topic with their common questions, and a line for each omission."""
    pairing = paired(first, second)
    pairs = [ReplyPair(one, other, tuple(_questions(one, other))) for one, other in pairing.pairs]
    compared = [pair for pair in pairs if pair.questions]
    left_out = {
        "conversations have no counterpart about the same topic": len(pairing.only_first) + len(pairing.only_second),
        "pairs have no question in common": len(pairs) - len(compared),
    }
    return compared, [f"{count} {what}: left out" for what, count in left_out.items() if count]


def by_label(conversations: Sequence[Conversation], label: str) -> list[Conversation]:
    """The same conversations with the answers that a label holds, such as QuAC's in SimQuAC's teacher topics.

    DataError if no answer has it.
    """
    relabelled = []
    for one in conversations:
        texts = [value_of(message.labels, label) for message in one.messages]
        messages = [
            Message(role=message.role, text=text) if isinstance(text, str) else message
            for message, text in zip(one.messages, texts, strict=True)
        ]
        if any(isinstance(text, str) for text in texts):
            relabelled.append(one.model_copy(update={"messages": tuple(messages)}))
    if not relabelled:
        raise DataError(f"second: no answer of the first side has the label {label!r}: name another, or a source")
    return relabelled


def _questions(first: Conversation, second: Conversation) -> Iterator[StudyQuestion]:
    # What is asked again has the answer of its own time: the second one is compared with the second one.
    answers: dict[str, deque[Message]] = defaultdict(deque)
    for question, answer in _exchanges(second):
        answers[_question_words(question)].append(answer)
    domain = domains.of(first)
    number = 0
    for question, answer in _exchanges(first):
        if not (others := answers[_question_words(question)]):
            continue
        other = others.popleft()
        number += 1
        aspects: tuple[Aspect, ...] = ASPECTS
        silent = [domain.refuses(reply) or not reply.text.strip() for reply in (answer, other)]
        if all(silent) or _bare(answer.text) == _bare(other.text):
            aspects = ()
        elif any(silent):
            aspects = ("correctness",)
        yield StudyQuestion(number, question.text, answer, other, aspects)


def _question_words(question: Message) -> str:
    """What makes two questions the same one: their words, or their signs where there are no words."""
    return plain_words(question.text) or _bare(question.text)


def _bare(text: str) -> str:
    """A text without breaks, capitals and a final full stop, which do not make two answers differ.

    5 and -5, C++ and C# stay different.
    """
    return " ".join(text.split()).casefold().rstrip(".。")


def _exchanges(conversation: Conversation) -> Iterator[tuple[Message, Message]]:
    for question, answer in zip(conversation.messages, conversation.messages[1:], strict=False):
        if (question.role, answer.role) == ("user", "assistant"):
            yield question, answer


def is_asked(name: str) -> bool:
    """Whether a study asks for this part of an answer; other parts are labels of its reason."""
    return name in ("preference", "why") or name.rpartition(" ")[2] in ASPECTS


def unswitched(value: Mapping[str, Any], *, switched: bool) -> dict[str, Any]:
    """The answers about A and B as answers about the first and the second side."""
    names = {"A": "second", "B": "first"} if switched else {"A": "first", "B": "second"}
    return {name: choice if name == "why" else names.get(choice, choice) for name, choice in value.items()}


def batches_of(study: Study, compared: Sequence[ReplyPair]) -> list[list[str]]:
    """Ids of the conversations of each batch of `batch_size`, in an order by digest."""
    ids = sorted({pair.id for pair in compared}, key=lambda name: digest("batch", study.seed, name))
    return [ids[start : start + study.batch_size] for start in range(0, len(ids), study.batch_size)]
