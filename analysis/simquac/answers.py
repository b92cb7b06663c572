"""A teacher's answers against people's: F1 and HEQ as QuAC defines them (EMNLP 2018, section 5.1)."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ...data.grounding import NO_ANSWER, gives_no_answer
from ...data.identity import call_seed
from ...data.records import Conversation, Message, Record
from ...data.simquac import references as people_answers
from ...data.text.sentence_splitting import sentences
from ...errors import DataError

_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_NOT_WORD = re.compile(r"[^\w\s]|_")
_SIGN = re.compile(r"([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])")
"""Han and kana, which are written without spaces."""

Answerer = Callable[[Conversation, int], str]
"""A teacher without a model: the answer to a conversation's question of this number, from 0."""


class TeacherScore(Record):
    """A teacher's answers to people's questions, against people's answers."""

    teacher: str
    questions: int
    f1: float
    """Mean over questions of the word F1 with the best reference, 0 to 1; a refusal equals only a refusal.

    Of several references each is held out once, as for people's own, and the mean of the best F1 is taken.
    """
    exact: float
    """Share of questions whose answer equals a reference after normalisation."""
    heq_q: float
    """Share of questions on which the F1 is at least people's own (HEQ-Q)."""
    heq_d: float
    """Share of conversations on all of whose questions it is (HEQ-D)."""
    several_references: int
    """Questions with more than one reference. People's F1 is known only for these; elsewhere it counts as 1."""
    refused_right: int
    """Refusals of questions that people could not answer either."""
    refused_wrong: int
    """Refusals of questions that people answered."""
    answered_wrong: int
    """Answers to questions that people could not answer."""


@lru_cache(maxsize=65536)
def normalised(text: str) -> tuple[str, ...]:
    """Lower case, without punctuation and English articles, split at white space (as for SQuAD and QuAC).

    Where words are not divided by spaces each sign is a word, as for CMRC 2018 (EMNLP 2019) and MLQA (ACL 2020).
    """
    return tuple(_SIGN.sub(r" \1 ", _ARTICLE.sub(" ", _NOT_WORD.sub("", text.lower()))).split())


class Overlap(NamedTuple):
    """How many words an answer shares with a reference, each 0 to 1."""

    f1: float
    """Harmonic mean of precision and recall."""
    precision: float
    """Share of the answer's words."""
    recall: float
    """Share of the reference's words."""


def overlap(prediction: str, reference: str) -> Overlap:
    """The words that two texts share, as SQuAD counts them; two empty texts are equal."""
    predicted, expected = normalised(prediction), normalised(reference)
    if not predicted or not expected:
        return _all(predicted == expected)
    shared = sum((Counter(predicted) & Counter(expected)).values())
    return Overlap(2 * shared / (len(predicted) + len(expected)), shared / len(predicted), shared / len(expected))


def token_f1(prediction: str, reference: str) -> float:
    """Harmonic mean of the words' precision and recall, 0 to 1; two empty texts are equal."""
    return overlap(prediction, reference).f1


def exact_match(prediction: str, reference: str) -> bool:
    """Whether two texts have the same words in the same order after normalisation."""
    return normalised(prediction) == normalised(reference)


def score_teacher(teacher: str, answered: Iterable[Conversation], references: Iterable[Conversation]) -> TeacherScore:
    """Compare a teacher's conversations with those whose questions it was asked, turn by turn.

    ValueError if the questions are not the same.
    """
    conversations = 0
    scored: list[ScoredQuestion] = []
    for conversation, people in zip(answered, references, strict=True):
        exchanges = zip(conversation.exchanges, people.exchanges, people_answers(people), strict=True)
        for exchange, people_exchange, every_reference in exchanges:
            if _text(exchange.user) != _text(people_exchange.user):
                raise DataError(
                    f"conversation {conversation.id} has other questions than its reference: compare a replayed run"
                )
            answer = _answer(exchange.assistant)
            impossible = _answer(people_exchange.assistant) == NO_ANSWER
            score = score_answer(answer, every_reference)
            scored.append(ScoredQuestion.of(conversations, score, refused=answer == NO_ANSWER, impossible=impossible))
        conversations += 1
    if not scored:
        raise DataError("there is no question to score: give conversations with answers")
    return TeacherScore(teacher=teacher, **counted(scored, range(conversations)))


def answered_by(answerer: Answerer, conversations: Iterable[Conversation]) -> list[Conversation]:
    """The conversations with a simple teacher's answers in place of people's."""
    with_answers = []
    for conversation in conversations:
        messages: list[Message] = []
        for number, exchange in enumerate(conversation.exchanges):
            messages += exchange.user
            messages.append(Message(role="assistant", text=answerer(conversation, number)))
        with_answers.append(conversation.model_copy(update={"messages": tuple(messages)}))
    return with_answers


def first_sentence(conversation: Conversation, number: int) -> str:
    """A teacher that always gives the first sentence of the section."""
    return sentences(str(conversation.scenario["section"]))[0]


def random_sentence(conversation: Conversation, number: int) -> str:
    """A teacher that gives any sentence of the section, each as likely; the same one for the same question."""
    of_section = sentences(str(conversation.scenario["section"]))
    return of_section[call_seed(0, conversation.id, "random_sentence", number, 1) % len(of_section)]


def _text(messages: Sequence[Message]) -> str:
    return "\n".join(message.text for message in messages)


def _answer(messages: Sequence[Message]) -> str:
    return NO_ANSWER if all(map(gives_no_answer, messages)) else _text(messages)


class AnswerScore(NamedTuple):
    """An answer against every reference answer to its question."""

    f1: float
    """Word F1 with the best reference. Of several each is held out once, as for people's own: the mean of the best."""
    precision: float
    """Precision with the references that gave the F1."""
    recall: float
    """Their recall."""
    exact: bool
    """Whether it equals a reference after normalisation."""
    people_f1: float
    """People's own F1: each reference against the others, the mean of the best; 1 where there is only one."""
    references: int
    """The references that count."""


def score_answer(answer: str, references: Sequence[str], *, each_line: bool = False) -> AnswerScore:
    """Score an answer, `NO_ANSWER` for none, as QuAC does (EMNLP 2018, section 5.1).

    Where at least half of the references refuse, a refusal is right and anything else wrong; else the refusals among
    them do not count. `each_line`: a reference of several lines is matched by the best of them; by default by all of
    them together. A program that reads SQuAD's JSON does the former, as the lines are `answers` of one question there.
    """
    expected = scored_references(references)
    best = _held_out(answer, expected, each_line)
    exact = any(
        _alike(answer, line, False).f1 > 0 and exact_match(answer, line)
        for reference in expected
        for line in (reference.split("\n") if each_line else (reference,))
    )
    return AnswerScore(*best, exact, _people_f1(expected, each_line), len(expected))


class ScoredQuestion(NamedTuple):
    """A question, as readers and teachers are scored."""

    conversation: Hashable
    f1: float
    exact: float
    as_people: bool
    """Whether the F1 is at least people's own."""
    several: bool
    """Whether more than one reference counts."""
    refused: bool
    impossible: bool

    @classmethod
    def of(cls, conversation: Hashable, score: AnswerScore, *, refused: bool, impossible: bool) -> "ScoredQuestion":
        """A question by the score of its answer."""
        as_people, several = score.f1 >= score.people_f1, score.references > 1
        return cls(conversation, score.f1, score.exact, as_people, several, refused, impossible)


def counted(scored: Sequence[ScoredQuestion], conversations: Iterable[Hashable]) -> dict[str, Any]:
    """The fields that the score of a teacher and that of a reader have in common."""
    reached = dict.fromkeys(conversations, True)
    for question in scored:
        reached[question.conversation] &= question.as_people
    refusals = Counter((question.refused, question.impossible) for question in scored)
    return {
        "questions": len(scored),
        "f1": sum(question.f1 for question in scored) / len(scored),
        "exact": sum(question.exact for question in scored) / len(scored),
        "heq_q": sum(question.as_people for question in scored) / len(scored),
        "heq_d": sum(reached.values()) / len(reached),
        "several_references": sum(question.several for question in scored),
        "refused_right": refusals[True, True],
        "refused_wrong": refusals[True, False],
        "answered_wrong": refusals[False, True],
    }


def scored_references(references: Sequence[str]) -> Sequence[str]:
    """The references that count: one refusal where at least half of them refuse, else those that do not refuse."""
    spans = [reference for reference in references if reference != NO_ANSWER]
    return spans if 2 * len(spans) > len(references) else [NO_ANSWER]


def _all(alike: bool) -> Overlap:
    return Overlap(*(3 * [float(alike)]))


def _alike(answer: str, reference: str, each_line: bool) -> Overlap:
    """The overlap of two answers; a refusal has no word in common with an answer, though its words may."""
    if NO_ANSWER in (answer, reference):
        return _all(answer == reference)
    if each_line:
        return max(overlap(answer, line) for line in reference.split("\n"))
    return overlap(answer, reference)


def _held_out(answer: str, references: Sequence[str], each_line: bool) -> Overlap:
    """The best overlap with a reference.

    Of several references each is left out once, as for people's own, and the mean is taken.
    """
    values = [_alike(answer, reference, each_line) for reference in references]
    if len(values) < 2:
        return values[0]
    bests = [max(values[:number] + values[number + 1 :]) for number in range(len(values))]
    return Overlap(*(sum(column) / len(bests) for column in zip(*bests, strict=True)))


def _people_f1(references: Sequence[str], each_line: bool) -> float:
    if len(references) < 2:
        return 1.0
    bests = [
        max(_alike(reference, other, each_line).f1 for position, other in enumerate(references) if position != number)
        for number, reference in enumerate(references)
    ]
    return sum(bests) / len(bests)
