"""A teacher's answers beside people's to the same questions: how they overlap, F1 and HEQ, lengths, validity.

"Let the LLMs Talk" (WSDM 2024), Table 3; F1 and HEQ as in QuAC (EMNLP 2018).
"""

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias, get_args

from typing_extensions import override

from ...data.grounding import NO_ANSWER, gives_no_answer, is_refusal
from ...data.identity import digest
from ...data.records import Conversation, Message
from ...data.simquac import DOMAIN, released
from ...errors import DataError
from ..attempts import AttemptRow, attempt_rows, attempt_table
from ..tables import Cell, Column, Table, TabledReport
from .answers import QuacScore, score_teacher
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


class TeacherStatistics(TabledReport):
    """A teacher on people's questions."""

    teacher: str
    conversations: int
    questions: int
    agreement: dict[Relation, dict[TeacherParts, int]]
    """Table 3: questions by how the answers stand to each other, and by how many spans the teacher answers with."""
    teacher_within: int
    """Of the overlapping answers: the teacher's lies within people's. In the others it goes beyond it."""
    rule: RelationRule = "ours"
    """The rule of `agreement`; nothing else depends on it."""
    score: QuacScore | None
    """None without a question."""
    words_per_answer: float | None
    """Mean words of the teacher's answers that are not refusals, split on single spaces, lines summed."""
    words_per_answer_people: float | None
    spans_per_answer: float | None
    """Mean lines of the teacher's answers that are not refusals."""
    attempts: tuple[AttemptRow, ...]
    """What the validators said of each attempt; empty where no draft is kept."""
    notes: tuple[str, ...] = ()

    @override
    def tables(self) -> list[Table]:
        kinds = get_args(TeacherParts)
        overlap = Table(
            title="Teacher's and people's answers",
            columns=(Column(name="answers"), *(Column(name=kind, kind="count") for kind in (*kinds, "all"))),
            rows=tuple(
                (name, *(counts[kind] for kind in kinds), sum(counts.values()))
                for name, counts in self.agreement.items()
            ),
            notes=(f"Columns: how many spans the teacher answers with. {_RULES[self.rule]}",),
        )
        validity = [attempt_table(self.attempts)] if self.attempts else []
        return [overlap, self.table(), *validity]

    def table(self) -> Table:
        """Scores and lengths, a row each."""
        lengths = ("words_per_answer", "words_per_answer_people", "spans_per_answer")
        numbers: dict[str, Cell] = {"conversations": self.conversations, "questions": self.questions}
        numbers |= {name: getattr(self.score, name, None) for name in QuacScore.model_fields if name != "questions"}
        numbers |= {name: getattr(self, name) for name in lengths}
        return Table(
            title="Teacher on people's questions",
            columns=(Column(name="measure"), Column(name=self.teacher, kind="number")),
            rows=tuple((name.replace("_", " "), number) for name, number in numbers.items()),
            notes=self.notes,
        )


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
    teacher: str,
    answered: Iterable[Conversation],
    references: Iterable[Conversation] | None = None,
    rule: RelationRule = "ours",
) -> TeacherStatistics:
    """A teacher's answers against people's to the same questions.

    People's answers stand in `references` about the same sections in any order, or, in the published teacher
    topics, beside the teacher's own. `rule` is that of Table 3. DataError where people's answers are missing
    or answer other questions.
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
    agreement: dict[Relation, dict[TeacherParts, int]] = {
        name: dict.fromkeys(get_args(TeacherParts), 0) for name in get_args(Relation)
    }
    within = 0
    for answer, people in turns:
        text, people_text = _text(answer, rule), _text(people)
        how, parts = relation(text, people_text, rule)
        agreement[how][parts] += 1
        within += how == "overlap" and "".join(_lines(text)) in "".join(_lines(people_text))
    return TeacherStatistics(
        teacher=teacher,
        conversations=len(pairs),
        questions=len(turns),
        agreement=agreement,
        teacher_within=within,
        rule=rule,
        score=score_teacher(*zip(*pairs, strict=True)) if pairs else None,
        words_per_answer=mean_of([_words(text) for text, _ in texts if text]),
        words_per_answer_people=mean_of([_words(text) for _, text in texts if text]),
        spans_per_answer=mean_of([len(_lines(text)) for text, _ in texts if text]),
        attempts=tuple(attempt_rows(conversations)),
        notes=tuple(notes),
    )


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
        text = message.labels.get(QUAC)
        if message.role == "assistant" and isinstance(text, str):
            message = Message(role="assistant", text=NO_ANSWER if is_refusal(text) else text)
        elif message.role == "assistant" and labelled:
            raise DataError(
                f"conversation {conversation.id} holds no answers of people: give the file whose questions were asked "
                "(--people FILE)"
            )
        messages.append(message)
    return conversation.model_copy(update={"messages": tuple(messages)})


def _text(messages: Sequence[Message], rule: RelationRule = "ours") -> str:
    """The text of an answer, a span a line; empty for a refusal."""
    text = "\n".join(message.text for message in messages)
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
