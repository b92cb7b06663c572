"""One teacher-student conversation in numbers: its questions, its answers, and the places of the answers.

The quantities of "Let the LLMs Talk" (WSDM 2024): Table 5 (answers), Figure 2a (coverage), Figure 2b (flow).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from ...data.grounding import gives_no_answer
from ...data.records import Conversation, Message, Record
from ...data.simquac import DOMAIN
from ...data.summaries import coverage, covered
from ...errors import of_extra


class ConversationNumbers(Record):
    """The numbers of one conversation. A message that was sent and is not stored (a goodbye) does not count."""

    conversation: str
    questions: int
    refused: int
    """Questions whose answer is a no-answer or empty."""
    ungrounded: int
    """Questions whose answer has no span and is not a refusal: not measured below."""
    unanswered: int
    """Questions without an answer, since the conversation ended there."""
    words: tuple[int, ...]
    """For each answered question the words of its answer, split on single spaces, summed over its spans."""
    spans: tuple[int, ...]
    """For each answered question the number of its spans."""
    coverage: float | None
    """Share of the section's characters in the union of the answers' spans, 0 to 1; None without a section."""
    coverage_by_question: tuple[float, ...]
    """The same after each question and its answer, in order; empty without a section."""
    flow: float | None
    """Kendall's tau-b of turn and first span's start, -1 to 1; None where `flow_left_out` says why."""
    flow_left_out: Literal["few", "tied"] | None
    """`few`: fewer than two answers; `tied`: all answers begin at one place."""


class Sample(Record):
    """Conversations of one source, measured one by one."""

    source: str
    conversations: tuple[ConversationNumbers, ...]
    other: int = 0
    """Conversations of the source that are about something else than a section, and left out."""

    @property
    def coverages(self) -> list[float]:
        """Coverage of each conversation that has one."""
        return [conversation.coverage for conversation in self.conversations if conversation.coverage is not None]

    @property
    def flows(self) -> list[float]:
        """Flow of each conversation that has one."""
        return [conversation.flow for conversation in self.conversations if conversation.flow is not None]


def measured(conversation: Conversation) -> ConversationNumbers:
    """The numbers of a teacher-student conversation. Needs the extra `stats`."""
    questions = refused = ungrounded = unanswered = 0
    words: list[int] = []
    spans: list[int] = []
    starts: list[tuple[int, int]] = []
    for turn, (question, answer) in enumerate(exchanges(conversation)):
        if not question:
            continue
        questions += 1
        answer_spans = [span for message in answer for span in message.spans]
        if answer_spans:
            words.append(sum(len(span.text.split(" ")) for span in answer_spans))
            spans.append(len(answer_spans))
            starts.append((turn, answer_spans[0].start))
        elif not answer:
            unanswered += 1
        elif all(map(gives_no_answer, answer)):
            refused += 1
        else:
            ungrounded += 1
    tau, left_out = flow(starts)
    return ConversationNumbers(
        conversation=conversation.id,
        questions=questions,
        refused=refused,
        ungrounded=ungrounded,
        unanswered=unanswered,
        words=tuple(words),
        spans=tuple(spans),
        coverage=coverage(conversation) if conversation.scenario.get("section") else None,
        coverage_by_question=coverage_by_question(conversation),
        flow=tau,
        flow_left_out=left_out,
    )


def measure(source: str, conversations: Iterable[Conversation]) -> Sample:
    """The conversations of a source that are about a section, measured. Needs the extra `stats`."""
    numbers: list[ConversationNumbers] = []
    other = 0
    for conversation in conversations:
        if DOMAIN.is_about(conversation):
            numbers.append(measured(conversation))
        else:
            other += 1
    return Sample(source=source, conversations=tuple(numbers), other=other)


@dataclass(frozen=True)
class SectionConversations:
    """The conversations of a source that are about a section, each time read anew."""

    source: Sequence[Conversation]

    def __iter__(self) -> Iterator[Conversation]:
        return filter(DOMAIN.is_about, self.source)

    def outlines(self) -> list[Conversation]:
        """The conversations without their messages, and each section's text once: what pairs them."""
        first: dict[object, object] = {}
        return [
            conversation.model_copy(
                update={
                    "messages": (),
                    "provenance": None,
                    "scenario": {
                        key: first.setdefault(value, value) if isinstance(value, str) else value
                        for key, value in conversation.scenario.items()
                    },
                }
            )
            for conversation in self
        ]


def exchanges(conversation: Conversation) -> list[tuple[list[Message], list[Message]]]:
    """Question and answer of each turn, as far as they belong to the published history."""
    return [
        ([m for m in exchange.user if m.stored], [m for m in exchange.assistant if m.stored])
        for exchange in conversation.exchanges
    ]


def mean_of(values: Sequence[float]) -> float | None:
    """The mean; None of nothing."""
    return fmean(values) if values else None


def coverage_by_question(conversation: Conversation) -> tuple[float, ...]:
    """Coverage after each question and its answer, 0 to 1, in order; empty without a section.

    A question that is refused or not answered covers nothing more, and has its place all the same.
    """
    section = conversation.scenario.get("section")
    length = len(section) if isinstance(section, str) else 0
    places: set[int] = set()
    shares: list[float] = []
    for question, answer in exchanges(conversation) if length else ():
        places |= covered(answer, length)
        if question:
            shares.append(len(places) / length)
    return tuple(shares)


def flow(starts: Sequence[tuple[int, int]]) -> tuple[float | None, Literal["few", "tied"] | None]:
    """Kendall's tau-b between the turns of answers and the starts of their first spans, or why it is missing."""
    if len(starts) < 2:
        return None, "few"
    if len({start for _, start in starts}) == 1:
        return None, "tied"
    turns, begins = zip(*starts, strict=True)
    return float(of_extra("scipy.stats", "stats").kendalltau(turns, begins, variant="b").statistic), None
