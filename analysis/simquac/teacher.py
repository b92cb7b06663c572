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
from ...data.simquac import DOMAIN, released
from ...errors import DataError
from ..attempts import AttemptRow, attempt_rows, attempt_table
from ..tables import Cell, Column, Table
from .answers import TeacherScore, score_teacher
from .samples import exchanges

Relation: TypeAlias = Literal["same", "overlap", "different"]
Parts: TypeAlias = Literal["single", "several", "none"]
Rule: TypeAlias = Literal["ours", "published"]
"""How answers are compared: ours also line by line; the published figures come from answers as a whole."""

QUAC = "quac"
"""Label of an answer of the published teacher topics that holds people's."""

_DECLARED = "".join(NO_ANSWER.split()).casefold().rstrip(".")

_RULES: dict[Rule, str] = {
    "ours": "Overlap (our rule): one contains the other, or a line of it does. An empty answer is a refusal.",
    "published": "Overlap (published rule): one contains the other, each taken as a whole, its lines joined. Refusals: "
    "an empty answer, the declared words anywhere in it, and what the published script takes for one.",
}


class ByParts(Record):
    """Questions by the number of spans that the teacher answers with."""

    single: int = 0
    several: int = 0
    none: int = 0
    """The teacher refuses; an empty answer is a refusal."""


class Agreement(Record):
    """Questions by how a teacher's answer stands to people's, case and white space ignored (Table 3).

    By our rule; by the published one no line stands alone: `relation`.
    """

    same: ByParts
    """The answers are equal, or both refuse."""
    overlap: ByParts
    """One answer contains the other, or a line of it does."""
    different: ByParts
    """Neither contains the other, or only one of the two refuses."""
    teacher_within: int
    """Of the overlapping ones: the teacher's answer lies within people's. In the others it goes beyond it."""

    def table(self, rule: Rule = "ours") -> Table:
        """Table 3, with a note on the rule that the answers were compared by."""
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
                "Columns: how many spans the teacher answers with. Same: equal but for case and white space. "
                + _RULES[rule],
            ),
        )


class TeacherStatistics(Record):
    """A teacher on people's questions."""

    teacher: str
    conversations: int
    questions: int
    agreement: Agreement
    rule: Rule = "ours"
    """The rule of `agreement`; nothing else depends on it."""
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
        return [self.agreement.table(self.rule), self.table(), *validity]

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


def relation(answer: str, people: str, rule: Rule = "ours") -> tuple[Relation, Parts]:
    """How an answer stands to people's, and how many spans it is made of. Refusals are empty texts.

    Answers of which only a line stands in the other overlap by our rule and differ by the published one.
    """
    lines, people_lines = _lines(answer), _lines(people)
    parts: Parts = "none" if not lines else "single" if len(lines) == 1 else "several"
    whole, people_whole = "".join(lines), "".join(people_lines)
    if whole == people_whole:
        return "same", parts
    if not lines or not people_lines:
        return "different", parts
    pairs = [(whole, people_whole)]
    if rule == "ours":
        pairs += [*((line, people_whole) for line in lines), *((whole, line) for line in people_lines)]
    return ("overlap" if any(a in b or b in a for a, b in pairs) else "different"), parts


def teacher_statistics(
    teacher: str,
    answered: Iterable[Conversation],
    references: Iterable[Conversation] | None = None,
    rule: Rule = "ours",
) -> TeacherStatistics:
    """A teacher's answers against people's to the same questions.

    People's answers stand in `references` about the same sections in any order, or, in the published teacher
    topics, beside the teacher's own. `rule` is that of Table 3. ValueError where people's answers are missing
    or answer other questions.
    """
    every = list(answered)
    conversations = list(filter(DOMAIN.is_about, every))
    pairs, missing = _paired(conversations, None if references is None else list(references))
    notes = [] if pairs else ["there is no question to compare: give conversations about sections."]
    if other := len(every) - len(conversations):
        notes.append(f"{other} conversations are about no section and left out.")
    if missing:
        notes.append(
            f"{missing} of people's questions were not put to this teacher, or not answered, and are left out."
        )
    attempts = attempt_rows(conversations)
    if pairs and not attempts:
        notes.append("no draft is kept here, so validity by attempt is not known.")
    answers = [
        (answer, people_answer)
        for asked, reference in pairs
        for (_, answer), (_, people_answer) in zip(exchanges(asked), exchanges(reference), strict=True)
    ]
    texts = [(_text(answer), _text(people_answer)) for answer, people_answer in answers]
    spoken = [text for text, _ in texts if text]
    return TeacherStatistics(
        teacher=teacher,
        conversations=len(pairs),
        questions=len(texts),
        agreement=_agreement([(_text(answer, rule), _text(people_answer)) for answer, people_answer in answers], rule),
        rule=rule,
        score=score_teacher(teacher, *zip(*pairs, strict=True)) if texts else None,
        words_per_answer=_mean([_words(text) for text in spoken]),
        words_per_answer_people=_mean([_words(text) for _, text in texts if text]),
        spans_per_answer=_mean([len(_lines(text)) for text in spoken]),
        attempts=tuple(attempts),
        notes=tuple(notes),
    )


def _agreement(texts: Iterable[tuple[str, str]], rule: Rule) -> Agreement:
    """Answers beside people's, counted; refusals are empty texts."""
    grid: dict[Relation, Counter[Parts]] = {"same": Counter(), "overlap": Counter(), "different": Counter()}
    within = 0
    for answer, people in texts:
        how, parts = relation(answer, people, rule)
        grid[how][parts] += 1
        within += how == "overlap" and "".join(_lines(answer)) in "".join(_lines(people))
    return Agreement(
        same=ByParts.model_validate(grid["same"]),
        overlap=ByParts.model_validate(grid["overlap"]),
        different=ByParts.model_validate(grid["different"]),
        teacher_within=within,
    )


def _paired(
    answered: Sequence[Conversation], references: Sequence[Conversation] | None
) -> tuple[list[tuple[Conversation, Conversation]], int]:
    """Conversations of a teacher with those of people, both with the questions that the teacher answered.

    And how many of people's questions are left out.
    """
    by_topic = {_key(reference): reference for reference in (references or ())}
    pairs: list[tuple[Conversation, Conversation]] = []
    missing = 0
    for conversation in answered:
        if references is not None and _key(conversation) not in by_topic:
            raise DataError(
                f"conversation {conversation.id} is about {conversation.scenario.get('title')!r}, "
                "of which the reference has none: give the file whose questions were asked"
            )
        source = conversation if references is None else by_topic[_key(conversation)]
        people = _of_people(source, labelled=references is None)
        parts, people_parts = exchanges(conversation), exchanges(people)
        if len(parts) > len(people_parts):
            raise DataError(
                f"conversation {conversation.id} asks {len(parts)} questions, its reference {len(people_parts)}: "
                "compare a replayed run"
            )
        kept = [number for number, (asked, answer) in enumerate(parts) if asked and answer]
        missing += len(people_parts) - len(kept)
        if kept:
            pairs.append((_only(conversation, parts, kept), _only(people, people_parts, kept)))
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


def _text(messages: Sequence[Message], rule: Rule = "ours") -> str:
    """What was answered, a span a line; nothing for a refusal."""
    text = "\n".join(message.text for message in messages)
    if all(map(gives_no_answer, messages)):
        return ""
    if rule == "published" and (_DECLARED in "".join(_lines(text)) or released.refuses(text)):
        return ""
    return text


def _lines(text: str) -> list[str]:
    """The lines that say something, without white space and case."""
    return [line for part in text.split("\n") if (line := "".join(part.split()).casefold())]


def _words(text: str) -> int:
    return sum(len(line.split(" ")) for line in text.split("\n"))


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
