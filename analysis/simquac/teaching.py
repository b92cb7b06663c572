"""A teacher's answers beside people's to the same questions: how they overlap, F1 and HEQ, lengths, validity.

"Let the LLMs Talk" (WSDM 2024), Table 3; F1 and HEQ as in QuAC (EMNLP 2018).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Literal, TypeAlias

from ...data.grounding import NO_ANSWER, gives_no_answer, is_refusal
from ...data.identity import digest
from ...data.records import Conversation, Message, Record
from ...data.simquac import DOMAIN
from ...errors import DataError
from ..attempts import AttemptRow, attempt_rows, attempt_table
from ..tables import Cell, Column, Table
from .answers import TeacherScore, score_teacher
from .measuring import exchanges

Relation: TypeAlias = Literal["same", "overlap", "different"]
Parts: TypeAlias = Literal["single", "several", "none"]

QUAC = "quac"
"""Label of an answer of the published teacher topics that holds people's."""


class ByParts(Record):
    """Questions by the number of spans that the teacher answers with."""

    single: int = 0
    several: int = 0
    none: int = 0
    """The teacher refuses; an empty answer is a refusal."""


class Agreement(Record):
    """Questions by how a teacher's answer stands to people's, case and white space ignored (Table 3)."""

    same: ByParts
    """The answers are equal, or both refuse."""
    overlap: ByParts
    """One answer contains the other, or a line of it does."""
    different: ByParts
    """Neither contains the other, or only one of the two refuses."""
    teacher_within: int
    """Of the overlapping ones: the teacher's answer lies within people's. In the others it goes beyond it."""

    def table(self) -> Table:
        """Table 3."""
        kinds: tuple[Parts, ...] = ("single", "several", "none")
        rows: list[tuple[Cell, ...]] = []
        for name in ("same", "overlap", "different"):
            parts: ByParts = getattr(self, name)
            counts = [getattr(parts, kind) for kind in kinds]
            rows.append((name, *counts, sum(counts)))
        return Table(
            title="Teacher's and people's answers",
            columns=(Column(name="answers"), *(Column(name=kind, kind="count") for kind in (*kinds, "all"))),
            rows=tuple(rows),
            notes=(
                "Columns: how many spans the teacher answers with. Same: equal but for case and white space. Overlap: "
                "one contains the other. An empty answer is a refusal.",
            ),
        )


class TeacherStatistics(Record):
    """A teacher on people's questions."""

    teacher: str
    conversations: int
    questions: int
    agreement: Agreement
    score: TeacherScore | None
    """F1, exact match, HEQ; None without a question."""
    words_per_answer: float | None
    """Mean words of the teacher's answers that are no refusals, split on single spaces, lines summed."""
    words_per_answer_people: float | None
    """The same of people's answers."""
    spans_per_answer: float | None
    """Mean lines of the teacher's answers that are no refusals."""
    attempts: tuple[AttemptRow, ...]
    """What the validators said of each attempt; empty where no draft is kept."""
    notes: tuple[str, ...] = ()

    def tables(self) -> list[Table]:
        """Every table: overlap, scores, validity where there are drafts."""
        validity = [attempt_table(self.attempts)] if self.attempts else []
        return [self.agreement.table(), self.table(), *validity]

    def table(self) -> Table:
        """Scores and lengths, a row each."""
        names = [name for name in TeacherScore.model_fields if name not in ("teacher", "questions")]
        rows: list[tuple[Cell, ...]] = [("conversations", self.conversations), ("questions", self.questions)]
        rows += [(name.replace("_", " "), None if self.score is None else getattr(self.score, name)) for name in names]
        rows += [
            (name.replace("_", " "), getattr(self, name))
            for name in ("words_per_answer", "words_per_answer_people", "spans_per_answer")
        ]
        return Table(
            title="Teacher on people's questions",
            columns=(Column(name="measure"), Column(name=self.teacher, kind="number")),
            rows=tuple(rows),
            notes=self.notes,
        )


def relation(answer: str, people: str) -> tuple[Relation, Parts]:
    """How an answer stands to people's, and how many spans it is made of. Refusals are empty texts."""
    mine, theirs = _lines(answer), _lines(people)
    parts: Parts = "none" if not mine else "single" if len(mine) == 1 else "several"
    whole, other = "".join(mine), "".join(theirs)
    if whole == other:
        return "same", parts
    if not mine or not theirs:
        return "different", parts
    pairs = [(whole, other), *((one, other) for one in mine), *((whole, one) for one in theirs)]
    return ("overlap" if any(a in b or b in a for a, b in pairs) else "different"), parts


def teacher_statistics(
    teacher: str, answered: Iterable[Conversation], references: Iterable[Conversation] | None = None
) -> TeacherStatistics:
    """A teacher's answers against people's to the same questions.

    People's answers stand in `references` about the same sections in any order, or, in the published teacher
    topics, beside the teacher's own. ValueError where they are missing or answer other questions.
    """
    given = list(filter(DOMAIN.is_about, answered))
    pairs, missing = _paired(given, None if references is None else list(references))
    notes = [] if pairs else ["there is no question to compare: give conversations about sections."]
    if missing:
        notes.append(
            f"{missing} of people's questions were not put to this teacher, or not answered, and are left out."
        )
    attempts = attempt_rows(given)
    if pairs and not attempts:
        notes.append("no draft is kept here, so validity by attempt is not known.")
    texts = [
        (_said(answer), _said(people))
        for mine, theirs in pairs
        for (_, answer), (_, people) in zip(exchanges(mine), exchanges(theirs), strict=True)
    ]
    grid: dict[Relation, Counter[Parts]] = {"same": Counter(), "overlap": Counter(), "different": Counter()}
    within = 0
    for answer_text, people_text in texts:
        how, parts = relation(answer_text, people_text)
        grid[how][parts] += 1
        within += how == "overlap" and "".join(_lines(answer_text)) in "".join(_lines(people_text))
    own = [text for text, _ in texts if text]
    return TeacherStatistics(
        teacher=teacher,
        conversations=len(pairs),
        questions=len(texts),
        agreement=Agreement(
            same=ByParts.model_validate(grid["same"]),
            overlap=ByParts.model_validate(grid["overlap"]),
            different=ByParts.model_validate(grid["different"]),
            teacher_within=within,
        ),
        score=score_teacher(teacher, [one for one, _ in pairs], [one for _, one in pairs]) if texts else None,
        words_per_answer=_mean([_words(text) for text in own]),
        words_per_answer_people=_mean([_words(text) for _, text in texts if text]),
        spans_per_answer=_mean([len(_lines(text)) for text in own]),
        attempts=tuple(attempts),
        notes=tuple(notes),
    )


def _paired(
    given: Sequence[Conversation], references: Sequence[Conversation] | None
) -> tuple[list[tuple[Conversation, Conversation]], int]:
    """Conversations of a teacher with those of people, both with the questions that the teacher answered.

    And how many of people's questions are left out.
    """
    known = {_key(one): one for one in (references or ())}
    pairs: list[tuple[Conversation, Conversation]] = []
    missing = 0
    for one in given:
        if references is not None and _key(one) not in known:
            raise DataError(
                f"conversation {one.id} is about {one.scenario.get('title')!r}, of which the reference has none: "
                "give the file whose questions were asked"
            )
        people = _of_people(one if references is None else known[_key(one)], labelled=references is None)
        mine, theirs = exchanges(one), exchanges(people)
        if len(mine) > len(theirs):
            raise DataError(
                f"conversation {one.id} asks {len(mine)} questions, its reference {len(theirs)}: compare a replayed run"
            )
        kept = [number for number, (asked, answer) in enumerate(mine) if asked and answer]
        missing += len(theirs) - len(kept)
        if kept:
            pairs.append((_only(one, mine, kept), _only(people, theirs, kept)))
    return pairs, missing


def _key(conversation: Conversation) -> tuple[str, int]:
    return digest(conversation.scenario), conversation.ordinal


def _only(
    conversation: Conversation, parts: Sequence[tuple[list[Message], list[Message]]], kept: Sequence[int]
) -> Conversation:
    messages = tuple(message for number in kept for side in parts[number] for message in side)
    return conversation.model_copy(update={"messages": messages})


def _of_people(conversation: Conversation, *, labelled: bool) -> Conversation:
    """The conversation with people's answers, where they stand in labels; ValueError if they must and do not."""
    messages = []
    for message in conversation.messages:
        text = message.labels.get(QUAC)
        if message.role == "assistant" and isinstance(text, str):
            message = Message(role="assistant", text=NO_ANSWER if is_refusal(text) else text)
        elif message.role == "assistant" and labelled:
            raise DataError(
                f"conversation {conversation.id} holds no answers of people: give the file whose questions were asked "
                "(--reference FILE)"
            )
        messages.append(message)
    return conversation.model_copy(update={"messages": tuple(messages)})


def _said(messages: Sequence[Message]) -> str:
    """What was answered, a span a line; nothing for a refusal."""
    return "" if all(map(gives_no_answer, messages)) else "\n".join(message.text for message in messages)


def _lines(text: str) -> list[str]:
    """The lines that say something, without white space and case."""
    return [line for part in text.split("\n") if (line := "".join(part.split()).casefold())]


def _words(text: str) -> int:
    return sum(len(line.split(" ")) for line in text.split("\n"))


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
