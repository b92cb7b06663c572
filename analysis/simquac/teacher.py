"""A teacher's answers beside people's to the same questions: how they overlap, F1 and HEQ, lengths, validity.

"Let the LLMs Talk" (WSDM 2024), Table 3; F1 and HEQ as in QuAC (EMNLP 2018).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias, get_args

from ...data.grounding import NO_ANSWER, gives_no_answer, is_refusal
from ...data.identity import digest
from ...data.people import text_of
from ...data.records import Conversation, Message, value_of
from ...data.simquac import DOMAIN, released
from ...errors import DataError
from ..tables import Cell, Column, Table, TablesReport
from .answers import score_teacher
from .statistics import exchanges, mean_of

Relation: TypeAlias = Literal["same", "overlap", "different"]
TeacherParts: TypeAlias = Literal["single", "several", "none"]
RelationRule: TypeAlias = Literal["ours", "published"]
"""How answers are compared: ours as a whole and line by line; the published figures come from any line of the answer."""

QUAC = "quac"
"""Label of an answer of the published teacher topics that holds people's."""

_DECLARED = "".join(NO_ANSWER.split()).casefold().rstrip(".")
_RULES: dict[RelationRule, str] = {
    "ours": "Overlap (our rule): one contains the other, or a line of it does. An empty answer is a refusal.",
    "published": "Published rule: each line of the teacher's answer is compared with people's whole answer. Same: a line "
    "equals it. Overlap: a line contains it or lies in it. Refusals: an empty answer, the declared words anywhere in it, "
    "and what the published script takes for one.",
}


def relation(answer: str, people: str, rule: RelationRule = "ours") -> tuple[Relation, TeacherParts]:
    """The relation of an answer to people's, and the number of spans that it is made of.

    Refusals are empty texts. By our rule answers are the same as a whole, and overlap as a whole or by a line. By the
    published rule any line of the answer, against people's whole answer, decides both.
    """
    lines, people_lines = _lines(answer), _lines(people)
    parts: TeacherParts = "none" if not lines else "single" if len(lines) == 1 else "several"
    whole, people_whole = "".join(lines), "".join(people_lines)
    if (people_whole in lines) if rule == "published" and lines else (whole == people_whole):
        return "same", parts
    if not lines or not people_lines:
        return "different", parts
    pairs = [(line, people_whole) for line in lines]
    if rule == "ours":
        pairs += [(whole, people_whole), *((whole, line) for line in people_lines)]
    return ("overlap" if any(a in b or b in a for a, b in pairs) else "different"), parts


def teacher_statistics(
    teacher: str, answered: Iterable[Conversation], references: Iterable[Conversation] | None = None
) -> TablesReport:
    """A teacher's answers against people's to the same questions: Table 3 by our rule and by the published one, and scores.

    Words and spans are the mean of the answers that are not refusals: words split on single spaces, a span a line. People's
    answers stand in `references` about the same sections in any order, or, in the published teacher topics, beside the
    teacher's own. DataError where people's answers are missing or answer other questions.
    """
    conversations = list(filter(DOMAIN.is_about, answered))
    pairs, missing = _paired(conversations, None if references is None else list(references))
    notes = [] if pairs else ["there is no question to compare: give conversations about sections."]
    if missing:
        notes.append(
            f"{missing} of people's questions were not put to this teacher, or not answered, and are left out."
        )
    turns = [
        (answer, people_answer)
        for one, people in pairs
        for (_, answer), (_, people_answer) in zip(exchanges(one), exchanges(people), strict=True)
    ]
    texts = [(_text(answer), _text(people)) for answer, people in turns]
    said, of_people = ([text for text in side if text] for side in zip(*texts, strict=True)) if texts else ([], [])
    numbers: dict[str, Cell] = {
        "conversations": len(pairs),
        "questions": len(turns),
        **(score_teacher(*zip(*pairs, strict=True)) if pairs else {}),
        "words_per_answer": mean_of([_words(text) for text in said]),
        "words_per_answer_people": mean_of([_words(text) for text in of_people]),
        "spans_per_answer": mean_of([len(_lines(text)) for text in said]),
    }
    tables = {
        "overlap": _table_3(turns, "ours"),
        "overlap_published": _table_3(turns, "published"),
        "scores": Table.across("Teacher on people's questions", {teacher: numbers}, notes),
    }
    return TablesReport(by_name=tables)


def _table_3(turns: Iterable[tuple[Sequence[Message], Sequence[Message]]], rule: RelationRule) -> Table:
    """Questions by how the answers stand to each other, and by how many spans the teacher answers with."""
    counts: Counter[tuple[Relation, TeacherParts]] = Counter()
    within = 0
    for answer, people in turns:
        text, people_text = _text(answer, rule), _text(people)
        how, parts = relation(text, people_text, rule)
        counts[how, parts] += 1
        within += how == "overlap" and "".join(_lines(text)) in "".join(_lines(people_text))
    kinds = get_args(TeacherParts)
    rows = tuple(
        (name, *(counts[name, kind] for kind in kinds), sum(counts[name, kind] for kind in kinds))
        for name in get_args(Relation)
    )
    note = f"Columns: how many spans the teacher answers with. {_RULES[rule]}"
    if rule == "ours":
        note += f" Of the overlapping answers {within} lie within people's; the others go beyond."
    columns = (Column(name="answers"), *(Column(name=kind, kind="count") for kind in (*kinds, "all")))
    title = f"Teacher's and people's answers{', by the published rule' if rule == 'published' else ''}"
    return Table(title=title, columns=columns, rows=rows, notes=(note,))


def _paired(
    answered: Sequence[Conversation], references: Sequence[Conversation] | None
) -> tuple[list[tuple[Conversation, Conversation]], int]:
    """Conversations of a teacher with those of people, both with the questions that the teacher answered.

    And how many of people's questions are left out.
    """
    by_topic = {_key(reference): reference for reference in references or ()}
    pairs: list[tuple[Conversation, Conversation]] = []
    missing = 0
    for conversation in answered:
        if references is not None and _key(conversation) not in by_topic:
            raise DataError(
                f"conversation {conversation.id} is about {conversation.scenario.get('title')!r}, "
                "of which the reference has none: give the file whose questions were asked"
            )
        people = _of_people(conversation if references is None else by_topic[_key(conversation)], references is None)
        parts, people_parts = exchanges(conversation), exchanges(people)
        if len(parts) > len(people_parts):
            raise DataError(
                f"conversation {conversation.id} asks {len(parts)} questions, its reference {len(people_parts)}: "
                "compare a replayed run"
            )
        numbers = [number for number, (question, answer) in enumerate(parts) if question and answer]
        missing += len(people_parts) - len(numbers)
        if numbers:
            pairs.append((_only(conversation, numbers), _only(people, numbers)))
    return pairs, missing


def _key(conversation: Conversation) -> tuple[str, int]:
    return digest(conversation.scenario), conversation.ordinal


def _only(conversation: Conversation, numbers: Sequence[int]) -> Conversation:
    parts = exchanges(conversation)
    messages = tuple(message for number in numbers for side in parts[number] for message in side)
    return conversation.model_copy(update={"messages": messages})


def _of_people(conversation: Conversation, labelled: bool) -> Conversation:
    """The conversation with people's answers, where they stand in labels; DataError if they must and do not."""
    messages = []
    for message in conversation.messages:
        text = value_of(message.labels, QUAC)
        if message.role == "assistant" and isinstance(text, str):
            message = Message(role="assistant", text=NO_ANSWER if is_refusal(text) else text)
        elif message.role == "assistant" and labelled:
            raise DataError(
                f"conversation {conversation.id} holds no answers of people: give the file whose questions were asked "
                "(a second SRC)"
            )
        messages.append(message)
    return conversation.model_copy(update={"messages": tuple(messages)})


def _text(messages: Sequence[Message], rule: RelationRule = "ours") -> str:
    """The text of an answer, a span a line; empty for a refusal."""
    text = text_of(messages)
    if all(map(gives_no_answer, messages)):
        return ""
    if rule == "published" and (_DECLARED in "".join(_lines(text)) or released.refuses(text)):
        return ""
    return text


def _lines(text: str) -> list[str]:
    """The lines that are not empty, without white space and case."""
    return [line for part in text.split("\n") if (line := "".join(part.split()).casefold())]


def _words(text: str) -> int:
    return sum(len(line.split(" ")) for line in text.split("\n"))
